internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
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
      They are removed in batches: Ctrl-C stops between two of them with exit code 130, and \
      repeating the command removes the rest. Records that change during the prompt and files that another process is using are kept and \
      reported, and the exit code is 1.

      EXAMPLES:
        dlstore purge --state completed --older-than 30d --dry-run
        dlstore purge --tag temporary --with-files --yes
        dlstore purge --orphans
      """
  )

  @OptionGroup var location: StoreLocation
  @OptionGroup var selection: SelectionOptions

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

  @Flag(
    name: [.customLong("with-files"), .customLong("with-file")],
    help: "Also delete the finished files."
  )
  var withFiles = false

  @OptionGroup var confirmation: ConfirmationOptions
  @OptionGroup var messages: QuietOption

  private var dryRun: Bool { confirmation.dryRun }
  private var yes: Bool { confirmation.yes }
  /// Whether the plan is printed: a preview and a question are useless without it.
  private var printsPlan: Bool { !messages.quiet || dryRun || !yes }

  /// Whether a name or an option selects records.
  private var namesRecords: Bool { !selection.isEmpty || olderThan != nil }

  func validate() throws {
    guard namesRecords || orphans else {
      throw ValidationError(
        "Say what to remove: URLs, ids or file names, --state, --tag, --type, --match, --host, "
          + "--older-than or --orphans; --match '*' for all."
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
    let path = location.resolved()
    guard let outcome = try purge(storeAt: path) else { return }
    if let signal = outcome.signal {
      throw CommandFailure(signal.status, "stopped: repeat the command to remove the rest")
    }
    BulkChange(objectCount: outcome.removed.recordCount)
      .compact(storeAt: path, command: SuggestedCommand.text("compact"))
    if outcome.isIncomplete { throw CommandFailure(.failed) }
  }

  /// Prints the plan, asks, removes, and closes the store; returns nil if there is nothing to remove.
  private func purge(storeAt path: String) throws -> Outcome? {
    let store = try RecordStore(at: path, access: dryRun ? .readOnly : .readWrite)
    let (list, orphans) = try printPlan(of: store)
    if list.count == 0, list.unreachableCount == 0, selection.isFiltered {
      let isKnown = try selection.isKnown(in: store, includesRemoved: true)
      // No failure: a purge is repeated, also when nothing is left.
      messages.say("\(selection.none) \(isKnown ? "is old enough" : "exists")")
    }
    guard !dryRun, list.count > 0 || !orphans.files.isEmpty else {
      if list.unreachableCount > 0, !dryRun { throw CommandFailure(.failed) }
      return nil
    }
    guard yes || ConfirmationOptions.asks("Remove them?") else {
      throw CommandFailure(.failed, "nothing was removed")
    }
    return try remove(list, orphans, from: store)
  }

  // MARK: The plan

  /// Prints the plan: a line for each record, followed by one for each of its files, then the
  /// orphans and the total.
  private func printPlan(of store: RecordStore) throws -> (PurgeList, orphans: PurgePlan) {
    let printsPlan = printsPlan
    var lines = BufferedLines()
    let latest = olderThan.map { Date().addingTimeInterval(-Double($0)) }
    func isOldEnough(_ record: DownloadRecord) -> Bool {
      latest.map { (record.completedAt ?? record.updatedAt) < $0 } ?? true
    }
    let engineRuns = store.hasEngine
    // Also the downloads whose removal was stopped, or waits for their folder.
    let found = try selection.found(in: store, engineRuns: engineRuns, includesRemoved: true)
    // A mistyped name removes nothing.
    try found.report()
    let roots = try store.roots()
    let list = try store.purgeList(
      namesRecords ? Query(found.condition) : Query(.none),
      where: isOldEnough,
      withFiles: withFiles
    ) { plan in
      for record in plan.records where printsPlan {
        let word = record.state.word(engineRuns: engineRuns)
        try lines.append("record  \(record.id)  \(word)  \(Redaction.url(record.url))")
      }
      for file in plan.files where printsPlan { try lines.append(PurgeReportText.line(file)) }
      for record in plan.unreachableRecords {
        Output.current.say(PurgeReportText.unreachable(record, roots))
      }
      for path in plan.foreignPaths { Output.current.say(PurgeReportText.foreign(path)) }
    }
    let orphans =
      orphans ? try store.orphanPlan() : try store.purgePlan([], withFiles: false)
    for file in orphans.files where printsPlan { try lines.append(PurgeReportText.line(file)) }
    try lines.flush()
    var total = RemovedAmount(recordCount: list.count, fileCount: list.fileCount)
    total.byteCount = Int128(list.byteCount)
    total.add(orphans.files)
    if printsPlan { try Output.current.line("to remove: \(total.text)") }
    return (list, orphans)
  }

  // MARK: The removal

  private struct Outcome {
    var removed = RemovedAmount()
    /// Whether records or files of the plan were kept.
    var isIncomplete = false
    /// The signal that stopped the removal.
    var signal: StopSignal?
  }

  /// Removes the records in bounded transactions, each with its files, then the orphans.
  ///
  /// Ctrl-C and SIGTERM stop it between two transactions.
  private func remove(
    _ list: PurgeList,
    _ orphans: PurgePlan,
    from store: RecordStore
  ) throws -> Outcome {
    let signals = StopSignals { _ in }
    var outcome = Outcome()
    outcome.isIncomplete = list.unreachableCount > 0
    func note(_ text: PurgeReportText) {
      outcome.removed.recordCount += text.report.records.count
      outcome.removed.add(text.report.files)
      for message in text.messages { Output.current.say(message) }
      outcome.isIncomplete = outcome.isIncomplete || text.isIncomplete
    }
    for batch in list.batches where signals.first == nil {
      note(PurgeReportText(try store.purge(batch)))
    }
    if signals.first == nil { note(PurgeReportText(report: try store.purge(orphans))) }
    try messages.report("removed: \(outcome.removed.text)\n")
    outcome.signal = signals.first
    return outcome
  }
}
