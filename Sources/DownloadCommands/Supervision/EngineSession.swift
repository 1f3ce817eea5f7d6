internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// Runs an engine in the foreground: shows progress, runs hooks, and handles the signals that stop it.
struct EngineSession {
  /// How the run ended.
  struct End {
    var summary: RunSummary
    /// The signal that stopped the run; `nil` if none did.
    var signal: StopSignal?
    /// The number of hooks that failed too often.
    var failedHooks = 0
  }

  let engine: DownloadEngine
  private let display: ProgressDisplay
  private let hooks: HookRunner?
  private let supplier: URLSupplier?
  private let transport: any RateLimitedTransport
  private let rateFollower: RateFollower?

  /// Takes the store's engine lock.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - limits: The options of the engine.
  ///   - display: What is printed.
  ///   - hooks: The commands that run after ends.
  ///   - scope: The URLs of the downloads to run; `nil` for all. The engine also runs those for which
  ///     other processes wait, which are not shown.
  ///   - isAwaited: Whether a user waits for the downloads, so that a server that cannot be reached is
  ///     soon given up.
  /// - Throws: ``EngineError`` with `alreadyRunning` or `cannotLock`; ``StoreError``.
  init(
    store: RecordStore,
    limits: EngineLimits,
    display: DisplayOptions,
    hooks: HookOptions? = nil,
    scope: Set<String>? = nil,
    isAwaited: Bool = false
  ) throws {
    let commands = hooks?.commands ?? [:]
    var options = limits.engineOptions
    if isAwaited { options.retry.firstContactAttempts = limits.firstContactAttempts }
    options.scope = scope
    options.hooks = Set(commands.keys)
    supplier = hooks?.urlSource.map { URLSupplier(command: $0, store: store) }
    if let supplier {
      options.requestInterceptors = [supplier]
      options.interceptorDeadline = URLSupplier.timeLimit + .seconds(10)
      options.retry.maximumRefusals = URLSupplier.maximumRefusals
    }
    if !display.quiet, let notice = limits.connectionNotice { Output.current.say(notice) }
    transport = try limits.makeTransport()
    rateFollower = limits.rateFollower
    self.display = ProgressDisplay(
      options: display,
      scope: scope,
      counts: QueueCounts(store: store, scope: scope),
      lines: EventLine(retry: options.retry, isRepeatable: isAwaited) { record in
        let entry = (try? store.roots()).map { DownloadEntry(record, $0) }
        return entry?.localPath ?? record.filename
      }
    )
    engine = try DownloadEngine(
      store: store,
      transport: transport,
      options: options,
      logger: self.display.logger
    )
    self.hooks =
      commands.isEmpty ? nil : HookRunner(store: store, commands: commands, scope: scope)
    if let worker = Worker.current { worker.tellReady(commit: try store.objects.commitNumber()) }
  }

  /// Runs until the goal is reached or a signal arrives, and then until no hook is left to run.
  ///
  /// - Throws: ``EngineError`` with `diskFull`; ``StoreError``; ``ClosedPipe``.
  func run(until goal: RunGoal) async throws -> End {
    let (engine, hooks) = (engine, hooks)
    let onLast: @Sendable () -> Void = {
      // A command that outlives this process would run beside its own repetition.
      UserCommand.killAll()
      ProgressDisplay.restoreTerminal()
    }
    let signals = StopSignals(onLast: onLast) { _ in
      #if os(Linux)
        ServiceManager.current?.notify(.stopping)
      #endif
      engine.stop()
      hooks?.stop()
    }
    #if os(Linux)
      ServiceManager.current?.notify(.ready)
    #endif
    let display = display
    let events = engine.events()
    let ends = engine.events(keeping: 1)
    async let shown: Void = display.follow(engine, events)
    async let woken: Void = Self.wake(hooks, after: ends)
    async let failedHooks = hooks?.run() ?? 0
    let following = rateFollower.map { [transport] follower in
      Task { await follower.follow(transport) }
    }
    defer { following?.cancel() }
    let result: Result<RunSummary, any Error>
    do {
      // A hook may add or restart downloads.
      var work: DownloadEngine.WorkBeside?
      if let hooks { work = { hooks.ask($0) } }
      result = .success(try await engine.run(until: goal, finishing: work))
    } catch {
      result = .failure(error)
    }
    await shown
    await woken
    hooks?.finish()
    let failed = await failedHooks
    await supplier?.end()
    let summary = try result.get()
    if let failure = await display.failure { throw failure }
    if signals.first != nil, !display.options.quiet {
      Output.current.say("stopped; the bytes on disk are kept, and the same command continues")
    }
    return End(summary: summary, signal: signals.first, failedHooks: failed)
  }

  /// Wakes the hooks after each end, and after ends that were missed.
  private static func wake(_ hooks: HookRunner?, after events: DownloadEvents) async {
    for await event in events {
      switch event {
      case .completed, .failed, .missed: hooks?.wake()
      default: break
      }
    }
  }
}
