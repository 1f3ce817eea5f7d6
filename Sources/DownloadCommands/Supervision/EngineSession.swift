internal import DownloadStore
internal import DownloadSync

/// Runs an engine in the foreground: shows progress and handles SIGINT and SIGTERM.
struct EngineSession {
  /// How the run ended.
  struct End {
    var summary: RunSummary
    /// The signal that stopped the run; `nil` if none did.
    var signal: StopSignal?
  }

  let engine: DownloadEngine
  private let display: ProgressDisplay

  /// Takes the store's engine lock.
  ///
  /// - Throws: ``EngineError`` with `alreadyRunning` or `cannotLock`; ``StoreError``.
  init(
    store: RecordStore,
    limits: EngineLimits,
    display: DisplayOptions,
    scope: Set<String>? = nil
  ) throws {
    var options = limits.engineOptions
    options.scope = scope
    self.display = ProgressDisplay(
      options: display,
      counts: QueueCounts(store: store, scope: scope)
    )
    engine = try DownloadEngine(
      store: store,
      transport: limits.makeTransport(),
      options: options,
      logger: self.display.logger
    )
    Worker.current?.tell(.ready)
  }

  /// Runs until the goal is reached or a signal arrives.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; ``StoreError``; ``ClosedPipe``.
  func run(until goal: RunGoal) async throws -> End {
    let engine = engine
    let signals = StopSignals(onLast: ProgressDisplay.restoreTerminal) { _ in
      #if os(Linux)
        ServiceManager.current?.notify(.stopping)
      #endif
      engine.stop()
    }
    #if os(Linux)
      ServiceManager.current?.notify(.ready)
    #endif
    let display = display
    let events = engine.events()
    async let shown: Void = display.follow(engine, events)
    let result: Result<RunSummary, any Error>
    do {
      result = .success(try await engine.run(until: goal))
    } catch {
      result = .failure(error)
    }
    await shown
    let summary = try result.get()
    if let failure = await display.failure { throw failure }
    if signals.first != nil, !display.options.quiet {
      Output.current.say("stopped; the bytes on disk are kept")
    }
    return End(summary: summary, signal: signals.first)
  }
}
