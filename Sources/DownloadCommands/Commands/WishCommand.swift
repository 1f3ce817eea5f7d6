internal import ArgumentParser
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore
internal import URLSessionTransport

/// A command that writes a wish into records, whether an engine runs or not.
protocol WishCommand: AsyncParsableCommand {
  var location: StoreLocation { get }
  var targets: RecordTargets { get }
  /// What is wanted.
  var wish: Wish { get }
  /// What is said of a download for which it had an effect.
  var verb: String { get }
}

extension WishCommand {
  func run() async throws {
    let store = try DownloadStore(at: location.resolved(), access: .readWrite)
    let outcomes = try store.grant(wish, to: targets.selection)
    try await carryOut(outcomes, in: store)
    let report = WishReport(verb: verb, outcomes: outcomes)
    try Output.current.report(report.text)
    for problem in report.problems { Output.current.say(problem) }
    if outcomes.isEmpty {
      guard let tag = targets.tag else { return }
      Output.current.say("there is nothing to do for the tag '\(TerminalText.safe(tag))'")
      let tagged = try store.records(DownloadRecord.where { $0.tags.contains(tag) }.limit(1))
      if tagged.isEmpty { throw CommandFailure(.failed) }
    }
    if !report.problems.isEmpty { throw CommandFailure(.failed) }
  }

  /// Sees to it that what is to be deleted is, by the engine that runs or in its place.
  ///
  /// An engine whose transfers take long to end is not waited for.
  private func carryOut(_ outcomes: [WishOutcome], in store: DownloadStore) async throws {
    let urls = outcomes.compactMap(\.record).filter(\.isToBeDeleted).map(\.url)
    let deadline = ContinuousClock.now.advanced(by: .seconds(2))
    var options = EngineOptions()
    options.scope = Set(urls)
    options.lockPatience = .zero
    while try store.hasToDelete(urls), ContinuousClock.now < deadline {
      do {
        // The transport is asked for tasks that are left, and for nothing else.
        let engine = try DownloadEngine(
          store: store,
          transport: URLSessionTransport(),
          options: options
        )
        for found in try await engine.reconcile() where found.isPartialInUse {
          Output.current.say(PurgeReportText.partialInUse(found))
        }
        return
      } catch let error as EngineError where error.code == .alreadyRunning {
        // Another one has heard of it, be it a run or a command like this one.
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }
}

extension DownloadRecord {
  /// Whether a wish to delete what there is of it is not carried out yet.
  fileprivate var isToBeDeleted: Bool {
    intent == .discard || (intent == .keep && state != .cancelled)
  }
}

extension DownloadStore {
  /// Whether what there is of one of the downloads is still to be deleted.
  fileprivate func hasToDelete(_ urls: [String]) throws -> Bool {
    try objects.read { tx in
      try urls.contains { try tx.get(DownloadRecord.self, $0)?.isToBeDeleted == true }
    }
  }
}
