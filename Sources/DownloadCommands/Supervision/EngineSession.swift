internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync

/// Runs an engine in the foreground, for `run`.
struct EngineSession {
  private let setup: EngineSetup
  private let engine: DownloadEngine

  /// Takes the store's engine lock.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - setup: The parts of the command.
  /// - Throws: ``EngineError`` with `alreadyRunning` or `cannotLock`; `StoreError`.
  init(store: RecordStore, setup: EngineSetup) throws {
    self.setup = setup
    engine = try DownloadEngine(
      store: store,
      transport: setup.transport,
      options: setup.options,
      logger: setup.display.logger
    )
    try setup.leading.prepare(engine)
  }

  /// Runs until the goal is reached or a signal arrives, and then until no hook is left to run.
  ///
  /// - Parameters:
  ///   - goal: The goal.
  ///   - begin: Does what comes before the run, once signals are handled.
  /// - Returns: How the run ended, and its results.
  /// - Throws: ``EngineError`` with `diskFull`; `StoreError`; ``ClosedPipe``; the errors of `begin`.
  func run(
    until goal: RunGoal,
    begin: () async throws -> Void = {}
  ) async throws -> (end: EngineSetup.End, value: RunSummary) {
    let events = engine.events()
    let run = try await setup.run(stop: engine.stop, begin: begin) {
      async let shown: Void = setup.display.follow(engine, events)
      let result: Result<RunSummary, any Error>
      do {
        result = .success(try await engine.run(until: goal, finishing: setup.leading.finish))
      } catch {
        result = .failure(error)
      }
      await shown
      return try result.get()
    }
    if run.end.signal != nil, !setup.display.options.quiet { Output.current.say(Self.stopped) }
    return run
  }

  /// The message after a signal.
  static let stopped = "stopped; the bytes on disk are kept, and the same command continues"
}
