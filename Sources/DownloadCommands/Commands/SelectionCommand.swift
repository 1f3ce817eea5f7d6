internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// A command that changes what the user wants of downloads, whether or not an engine is running.
protocol SelectionCommand: AsyncParsableCommand, ReportingCommand {
  var location: StoreLocation { get }
  var targets: RecordTargets { get }
  /// The change to apply to each record.
  var command: DownloadCommand { get }
  /// The word printed for a download that was changed, such as `paused`.
  var verb: String { get }
  /// The states in which a download may be changed; `nil` for all.
  var states: [DownloadState]? { get }
  /// The options of a command that asks before it changes several downloads; `nil` if it never asks.
  var confirmation: ConfirmationOptions? { get }
  /// What is printed.
  var messages: QuietOption { get }
}

extension SelectionCommand {
  var states: [DownloadState]? { nil }
  var confirmation: ConfirmationOptions? { nil }

  func validate() throws { try targets.requireAny() }

  func run() async throws {
    let isPreview = confirmation?.dryRun == true
    let store = try RecordStore(
      at: location.resolved(),
      access: isPreview ? .readOnly : .readWrite
    )
    let engineRuns = store.hasEngine
    var targets = targets.targets(engineRuns: engineRuns)
    guard !isPreview else {
      let outcomes = try store.preview(command, of: targets, among: states)
      return try report(outcomes, store, engineRuns, files: files(of: outcomes, in: store))
    }
    if let confirmation, !confirmation.yes { targets = try confirmed(targets, in: store) }
    let outcomes = try store.apply(command, to: targets, among: states)
    try reportKeptFiles(outcomes, in: store)
    let kept = try await carryOut(outcomes, in: store)
    try report(
      outcomes.filter { !kept.contains($0.record?.id ?? "") },
      store,
      engineRuns,
      hasNone: outcomes.isEmpty
    )
    // Each has its own message.
    if !kept.isEmpty { throw CommandFailure(.failed) }
  }

  /// Returns the lines of the files that the command would delete, as those of `purge`; names the
  /// files that it would keep.
  private func files(of outcomes: [CommandOutcome], in store: RecordStore) throws -> String {
    let urls = outcomes.filter(\.isDone).compactMap(\.record?.url)
    guard let plan = try deletions(of: urls, in: store) else { return "" }
    for path in plan.foreignPaths { Output.current.say(PurgeReportText.foreign(path)) }
    let lines = plan.files.map { PurgeReportText.line($0) + "\n" }.joined()
    return "\(lines)to delete: \(RemovedAmount(plan.files).fileText)\n"
  }

  /// Returns the files of downloads that the command would delete; `nil` if it deletes none.
  private func deletions(of urls: [String], in store: RecordStore) throws -> PurgePlan? {
    let withFiles: Bool
    switch command {
    case .cancel: withFiles = false
    case .remove(let withFile): withFiles = withFile
    case .pause, .resume, .restart, .refresh: return nil
    }
    guard !urls.isEmpty else { return nil }
    let records = try store.objects.read { tx in
      try tx.find(DownloadRecord.self, keys: urls).compactMap { $0 }
    }
    return try store.purgePlan(records, withFiles: withFiles)
  }

  /// Prints the outcomes, then the lines about files.
  ///
  /// An empty list of outcomes means that nothing was selected, unless `hasNone` is `false`.
  ///
  /// - Throws: ``CommandFailure`` with `failed` if a name or the selection stands for no download.
  private func report(
    _ outcomes: [CommandOutcome],
    _ store: RecordStore,
    _ engineRuns: Bool,
    files: String = "",
    hasNone: Bool = true
  ) throws {
    let word = confirmation?.dryRun == true ? "would be \(verb)" : verb
    let report = CommandReport(verb: word, outcomes: outcomes, engineRuns: engineRuns)
    // A preview prints what it was asked for.
    if confirmation?.dryRun == true {
      try Output.current.report(report.text + files)
    } else {
      try messages.report(report.text)
      if command.starts, let notice = report.notice { messages.say(notice) }
    }
    if case .resume = command {
      for advice in report.restartAdvice { Output.current.say(advice) }
    }
    for problem in report.problems { Output.current.say(problem) }
    if !report.problems.isEmpty { throw CommandFailure(.failed) }
    guard outcomes.isEmpty, hasNone else { return }
    let selection = targets.selection
    guard !selection.isEmpty else {
      return messages.say(states == nil ? "no download needs a change" : "no download has failed")
    }
    try selection.requireKnown(in: store)
    messages.say("\(selection.none) needs a change")
  }

  /// Asks if the command changes several downloads, and returns those that the user has agreed to.
  ///
  /// A download that matches only after the question is not changed, and one that does not match
  /// any more neither.
  ///
  /// - Throws: ``CommandFailure`` with `usage` without a terminal, with `failed` if the user does
  ///   not agree; `StoreError`.
  private func confirmed(_ targets: CommandTargets, in store: RecordStore) throws -> CommandTargets
  {
    let changed = try store.preview(command, of: targets, among: states).filter(\.isDone)
      .compactMap(\.record)
    let urls = Set(changed.map { StoredText($0.url) })
    let name = Self.configuration.commandName ?? ""
    if urls.count > 1 {
      guard Terminal.input.isTerminal else {
        throw CommandFailure(
          .usage,
          "this would \(name) \(urls.count) downloads, and standard input is not a terminal: pass "
            + "--yes to \(name) them, or --dry-run to preview"
        )
      }
      let shown = changed.prefix(10).map { "  \($0.id)  \(TerminalText.safe($0.filename))\n" }
      let more = changed.count > shown.count ? "  … and \(changed.count - shown.count) more\n" : ""
      Output.current.draw(shown.joined() + more)
      let files = try deletions(of: changed.map(\.url), in: store)?.files ?? []
      let loss = files.isEmpty ? "" : ", and delete \(RemovedAmount(files).fileText)"
      let question = "\(name.capitalized) these \(urls.count) downloads\(loss)?"
      guard ConfirmationOptions.asks(question) else {
        throw CommandFailure(.failed, "nothing was changed")
      }
    }
    guard case .matching(let condition) = targets else { return targets }
    return .matching(DownloadRecord.columns.url.isIn(urls.map(\.text)) && condition)
  }

  /// Reports the files that the command would delete or replace if they were the downloaded ones.
  private func reportKeptFiles(_ outcomes: [CommandOutcome], in store: RecordStore) throws {
    guard command == .restart || command == .remove(withFile: true) else { return }
    let roots = try store.roots()
    for outcome in outcomes {
      guard case .done(let record) = outcome.effect else { continue }
      let layout = try roots.layout(of: record)
      guard layout.isBelowRoot else { continue }
      if command == .restart {
        let files = FileInspection(of: record, in: layout)
        guard files.final.isForeign, !files.isFinalUnknown, !files.isReplaced else { continue }
        let path = TerminalText.safe(layout.finalPath)
        Output.current.say(
          "kept \(path): it is not the downloaded file, so the download gets another name"
        )
      } else if let path = record.keptFilePath(in: layout) {
        Output.current.say(PurgeReportText.foreign(path))
      }
    }
  }

  /// Deletes the files of cancelled and removed downloads, or waits for the running engine to do
  /// it.
  ///
  /// Waits for up to two seconds, and says which files are not deleted yet.
  ///
  /// - Returns: The ids of the downloads that are kept, because their files cannot be deleted.
  private func carryOut(
    _ outcomes: [CommandOutcome],
    in store: RecordStore
  ) async throws -> Set<String> {
    let urls = outcomes.compactMap(\.record).filter(\.isToBeDeleted).map(\.url)
    let deletion = try await store.deleteFiles(of: urls)
    var kept: Set<String> = []
    for (id, problem) in try store.unreachable(deletion.left) {
      Output.current.say(PurgeReportText.awaitsFolder(id, problem))
      kept.insert(id)
    }
    for record in deletion.left where !kept.contains(record.id) {
      Output.current.say(PurgeReportText.leftToEngine(record))
    }
    for found in deletion.found {
      guard let message = PurgeReportText.leftover(found) else { continue }
      Output.current.say(message)
      kept.insert(found.record.id)
    }
    return kept
  }
}

extension DownloadCommand {
  /// Whether an engine is to download something after the command.
  fileprivate var starts: Bool {
    switch self {
    case .resume, .restart, .refresh: true
    default: false
    }
  }
}

extension RecordStore {
  /// The removed ones of some downloads whose files cannot be deleted, and why.
  fileprivate func unreachable(
    _ records: [DownloadRecord]
  ) throws -> [(id: String, problem: String)] {
    let roots = try roots()
    return records.filter { $0.state == .removed }.compactMap { record in
      record.removalProblem(in: roots.possibleLayout(of: record)).map { (record.id, $0) }
    }
  }
}
