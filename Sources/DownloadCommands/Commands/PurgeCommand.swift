internal import ArgumentParser
internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// `dlstore purge`: removes records and what belongs to them.
struct PurgeCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "purge",
    abstract: "Removes records, their partial files and their resume data.",
    discussion: """
      Prints what is removed and what that frees. Several filters must all be met; --orphans is \
      apart from the others. Finished files stay, unless --with-files is given and the file is \
      provably the one that was downloaded. Without --yes it asks; where nobody can be asked it \
      refuses. A record that changes while it asks stays, as does a file that another process is \
      using; both are reported, and the exit status is 1.
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var filter: RecordFilter

  @Option(
    help: ArgumentHelp(
      "Only those completed, or else last changed, longer ago than that: 7d 12h 30m 45s.",
      valueName: "time"
    ),
    transform: { text in
      guard let seconds = TimeSpan.parse(text) else {
        throw ValidationError("'\(text)' is no span of time: write 7d, 12h, 30m or 45s.")
      }
      return seconds
    }
  )
  var olderThan: Int64?

  @Flag(help: "Remove partial files of ours that no record owns.")
  var orphans = false

  @Flag(help: "Remove the finished files too.")
  var withFiles = false

  @Flag(help: "Only print what would be removed.")
  var dryRun = false

  @Flag(name: .shortAndLong, help: "Do not ask.")
  var yes = false

  /// Whether records are to be removed, and not only files without one.
  private var namesRecords: Bool { !filter.isEmpty || olderThan != nil }

  func validate() throws {
    guard namesRecords || orphans else {
      throw ValidationError(
        "A purge needs a filter: --state, --tag, --older-than or --orphans."
      )
    }
  }

  func run() async throws {
    guard dryRun || yes || Terminal.input.isTerminal else {
      throw CommandFailure(
        .usage,
        "nobody can be asked whether to remove: give --yes, or --dry-run to look first"
      )
    }
    let store = try DownloadStore(
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

  private func plan(in store: DownloadStore) throws -> PurgePlan {
    var plan = try store.purgePlan([], withFiles: false)
    if namesRecords {
      let latest = olderThan.map { Date().addingTimeInterval(-Double($0)) }
      let records = try store.records(Query(filter.predicate)).filter { record in
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

  /// The plan as text: a line a record, a line a file, and the sum.
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
