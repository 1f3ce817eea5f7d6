internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import DownloadURLSession
internal import ObjectStore

/// A command that changes what the user wants of downloads, whether or not an engine is running.
protocol SelectionCommand: AsyncParsableCommand {
  var location: StoreLocation { get }
  var targets: RecordTargets { get }
  /// The change to apply to each record.
  var command: DownloadCommand { get }
  /// The word printed for a download that was changed, such as `paused`.
  var verb: String { get }
}

extension SelectionCommand {
  func run() async throws {
    let store = try RecordStore(at: location.resolved(), access: .readWrite)
    let outcomes = try store.apply(command, to: targets.selection)
    try reportKeptFiles(outcomes, in: store)
    try await carryOut(outcomes, in: store)
    let report = CommandReport(verb: verb, outcomes: outcomes, engineRuns: store.hasEngine)
    try Output.current.report(report.text)
    for problem in report.problems { Output.current.say(problem) }
    if outcomes.isEmpty {
      guard let tag = targets.tag else { return }
      Output.current.say("no download with the tag '\(TerminalText.safe(tag))' needs a change")
      let tagged = try store.records(DownloadRecord.where { $0.tags.contains(tag) }.limit(1))
      if tagged.isEmpty { throw CommandFailure(.failed) }
    }
    if !report.problems.isEmpty { throw CommandFailure(.failed) }
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
        guard files.final.isForeign, !files.isReplaced else { continue }
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
  /// Waits for up to two seconds.
  private func carryOut(_ outcomes: [CommandOutcome], in store: RecordStore) async throws {
    let urls = outcomes.compactMap(\.record).filter(\.isToBeDeleted).map(\.url)
    let deadline = ContinuousClock.now.advanced(by: .seconds(2))
    var options = EngineOptions()
    options.scope = Set(urls)
    options.lockPatience = .zero
    while try store.hasToDelete(urls), ContinuousClock.now < deadline {
      do {
        // The transport is only asked for its remaining tasks.
        let engine = try DownloadEngine(
          store: store,
          transport: URLSessionTransport(),
          options: options
        )
        for found in try await engine.reconcileRecords() {
          if let message = PurgeReportText.leftover(found) { Output.current.say(message) }
        }
        return
      } catch let error as EngineError where error.code == .alreadyRunning {
        // The engine that holds the lock, in a run or in a command like this one, has been
        // notified.
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }
}

extension RecordStore {
  /// Whether the files of one of the downloads are still to be deleted.
  fileprivate func hasToDelete(_ urls: [String]) throws -> Bool {
    try objects.read { tx in
      try urls.contains { try tx.find(DownloadRecord.self, key: $0)?.isToBeDeleted == true }
    }
  }
}
