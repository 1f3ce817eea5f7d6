internal import ArgumentParser
internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// `dlstore purge`: removes records in bulk, with their partial files.
struct PurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge",
    abstract: "Removes records, their partial files and their resume data.",
    discussion: """
      Prints the records and files to remove and their size, and asks before removing them. \
      Records must match all filters; --orphans is independent of the filters. Finished files are \
      kept unless --with-files is given and the file is provably the one that was downloaded. \
      Records that change during the prompt and files that another process is using are kept and \
      reported, and the exit code is 1.

      EXAMPLES:
        dlstore purge --state completed --older-than 30d --dry-run
        dlstore purge --tag temporary --with-files --yes
        dlstore purge --orphans
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var filter: RecordFilter

  @Option(
    help: ArgumentHelp(
      "Remove records completed, or else last changed, longer ago than this: 7d 12h 30m 45s.",
      valueName: "time"
    ),
    transform: { text in
      guard let seconds = TimeSpan.parse(text) else {
        throw ValidationError("'\(text)' is not a duration: write 7d, 12h, 30m or 45s.")
      }
      return seconds
    }
  )
  var olderThan: Int64?

  @Flag(help: "Remove this store's partial files that have no record.")
  var orphans = false

  @Flag(help: "Also delete the finished files.")
  var withFiles = false

  @Flag(help: "Print what would be removed, and remove nothing.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not prompt.")
  var yes = false

  /// Whether a filter selects records.
  private var namesRecords: Bool { !filter.isEmpty || olderThan != nil }

  func validate() throws {
    guard namesRecords || orphans else {
      throw ValidationError(
        "Say what to remove: --state, --tag, --older-than or --orphans."
      )
    }
  }

  func run() async throws {
    guard dryRun || yes || Terminal.input.isTerminal else {
      throw CommandFailure(
        .usage,
        "standard input is not a terminal: pass --yes to remove, or --dry-run to preview"
      )
    }
    let store = try RecordStore(
      at: location.resolved(),
      access: dryRun ? .readOnly : .readWrite
    )
    let plan = try plan(in: store)
    try Output.current.write(Self.text(of: plan))
    for path in plan.unattributedPaths {
      Output.current.say(PurgeReportText.unattributed(path))
    }
    guard !dryRun, !plan.records.isEmpty || !plan.files.isEmpty else { return }
    guard yes || Self.asks() else { throw CommandFailure(.failed, "nothing was removed") }
    let report = try store.purge(plan)
    try Output.current.report(
      Self.summary("removed", report.records.count, report.files.count, report.freedBytes)
    )
    let text = PurgeReportText(report: report)
    for message in text.messages { Output.current.say(message) }
    if text.isIncomplete { throw CommandFailure(.failed) }
  }

  private func plan(in store: RecordStore) throws -> PurgePlan {
    var plan = try store.purgePlan([], withFiles: false)
    if namesRecords {
      let latest = olderThan.map { Date().addingTimeInterval(-Double($0)) }
      let records = try store.records(Query(filter.condition)).filter { record in
        latest.map { (record.completedAt ?? record.updatedAt) < $0 } ?? true
      }
      plan = try store.purgePlan(records, withFiles: withFiles)
    }
    if orphans {
      let orphanPlan = try store.orphanPlan()
      plan.files += orphanPlan.files
      plan.unattributedPaths = orphanPlan.unattributedPaths
    }
    return plan
  }

  /// The plan as text: one line per record, one per file, and the total.
  static func text(of plan: PurgePlan) -> String {
    let records = plan.records.map { record in
      "record  \(record.id)  \(record.state.word)  \(Redaction.url(record.url))"
    }
    let files = plan.files.map { "file  \($0.size)  \($0.path)" }
    return (records + files).map { TerminalText.safe($0) + "\n" }.joined()
      + summary("to remove", plan.records.count, plan.files.count, plan.freedBytes)
  }

  private static func summary(
    _ verb: String,
    _ recordCount: Int,
    _ fileCount: Int,
    _ byteCount: Int64
  ) -> String {
    func count(_ number: Int, _ noun: String) -> String {
      "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
    return "\(verb): \(count(recordCount, "record")), \(count(fileCount, "file")), "
      + "\(byteCount) bytes\n"
  }

  private static func asks() -> Bool {
    Output.current.draw("Remove them? [y/N] ")
    let answer = readLine()?.lowercased() ?? ""
    return answer == "y" || answer == "yes"
  }
}
