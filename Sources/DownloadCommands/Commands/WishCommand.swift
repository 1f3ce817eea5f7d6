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
    try Output.current.write(report.text)
    for problem in report.problems { Output.current.say(problem) }
    if outcomes.isEmpty {
      guard let tag = targets.tag else { return }
      Output.current.say("there is nothing to do for the tag '\(TerminalText.safe(tag))'")
      let tagged = try store.records(DownloadRecord.where { $0.tags.contains(tag) }.limit(1))
      if tagged.isEmpty { throw CommandFailure(.failed) }
    }
    if !report.problems.isEmpty { throw CommandFailure(.failed) }
  }

  /// Deletes what is to be deleted, if no engine runs that does it.
  private func carryOut(_ outcomes: [WishOutcome], in store: DownloadStore) async throws {
    let urls = outcomes.compactMap(\.record)
      .filter { $0.intent == .keep || $0.intent == .discard }
      .map(\.url)
    guard !urls.isEmpty else { return }
    var options = EngineOptions()
    options.scope = Set(urls)
    do {
      // The transport is asked for tasks that are left, and for nothing else.
      let engine = try DownloadEngine(
        store: store,
        transport: URLSessionTransport(),
        options: options
      )
      _ = try await engine.reconcile()
    } catch let error as EngineError where error.code == .alreadyRunning {
      // It has heard of it.
    }
  }
}
