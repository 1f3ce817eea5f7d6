internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

/// The parts of a command that runs an engine: its options and transport, what it shows, its hooks, and
/// the signals that stop it.
struct EngineSetup {
  /// How a run ended.
  struct End {
    /// The signal that stopped the run; `nil` if none did.
    var signal: StopSignal?
    /// The number of hooks that failed too often.
    var failedHooks = 0
  }

  let options: EngineOptions
  let transport: any RateLimitedTransport
  let display: ProgressDisplay
  private let counts: QueueCounts
  /// The work beside the engine.
  let leading: LeaderWork
  private let hooks: HookRunner?
  private let supplier: URLSupplier?
  private let rateFollower: RateFollower?
  /// Yields once when this process has the engine lock, and ends with the run.
  private let leads: AsyncStream<Void>
  private let lead: AsyncStream<Void>.Continuation

  /// Creates the parts from the options of a command.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - limits: The options of the engine.
  ///   - display: What is printed.
  ///   - hooks: The commands that run after ends.
  ///   - scope: The URLs of the downloads to run, each once; `nil` for all. The engine also runs
  ///     those for which other processes wait, which are not shown.
  ///   - isAwaited: Whether a user waits for the downloads, so that a server that cannot be reached is
  ///     soon given up.
  ///   - isPiped: Whether the bytes are written to standard output while they arrive.
  ///   - missingCredentials: Says which of the files that the user gave have no credentials for a URL.
  ///   - advice: Says what the user can do about a failure; `nil` for the commands of `dlstore`.
  /// - Throws: ``CommandFailure`` if a certificate or a key cannot be read.
  init(
    store: RecordStore,
    limits: EngineLimits,
    display: DisplayOptions,
    hooks: HookOptions? = nil,
    scope: [String]? = nil,
    isAwaited: Bool = false,
    isPiped: Bool = false,
    missingCredentials: @escaping @Sendable (String) -> String? = { _ in nil },
    advice: @escaping @Sendable (DownloadFailure) -> String? = { _ in nil }
  ) throws {
    let actions = try hooks?.actions(limits.client)
    var options = limits.engineOptions
    if isAwaited {
      options.retry.firstContactAttempts = limits.firstContactAttempts
      options.retry.longestAwaitedServerWait = limits.longestAwaitedServerWait
    }
    options.scope = scope.map { URLSet($0) }
    // The command that waits for downloads has requested theirs.
    options.refreshesScope = !isAwaited
    options.checksEqualFiles = isPiped
    options.hooks = actions?.hooks ?? []
    options.sharesDownloads = !limits.client.isOwn
    supplier = hooks?.urlSource.map { URLSupplier(command: $0, store: store) }
    if let supplier {
      options.requestInterceptors = [supplier]
      options.interceptorDeadline = URLSupplier.timeLimit + .seconds(10)
      options.retry.maximumRefusals = URLSupplier.maximumRefusals
    }
    self.options = options
    if !display.quiet, let notice = limits.connectionNotice { Output.current.say(notice) }
    transport = try limits.makeTransport()
    rateFollower = limits.rateFollower
    let counts = QueueCounts(store: store, scope: scope)
    self.counts = counts
    self.display = ProgressDisplay(
      options: display,
      scope: scope,
      counts: counts,
      lines: EventLine(
        of: store,
        retry: options.retry,
        isRepeatable: isAwaited,
        missingCredentials: missingCredentials,
        advice: advice
      )
    )
    let runner = actions.map { HookRunner(store: store, actions: $0, scope: scope) }
    self.hooks = runner
    let (leads, lead) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    (self.leads, self.lead) = (leads, lead)
    var leading = LeaderWork()
    // A hook may add or restart downloads.
    if let runner { leading.finish = { runner.ask($0) } }
    leading.prepare = { engine in
      if let runner {
        let ends = engine.events(keeping: 1)
        Task { await Self.wake(runner, after: ends) }
      }
      lead.yield()
      if let worker = Worker.current {
        worker.tellReady(commit: try store.objects.commitNumber())
      }
    }
    self.leading = leading
  }

  /// Runs downloads until they have ended or a signal arrives, and then until no hook is left to run.
  ///
  /// - Parameters:
  ///   - stop: Stops the downloads.
  ///   - begin: Does what comes first, once signals are handled.
  ///   - work: Runs the downloads.
  /// - Returns: How the run ended, and the result of the work.
  /// - Throws: The errors of the beginning and of the work; ``ClosedPipe``.
  func run<Value: Sendable>(
    stop: @escaping @Sendable () -> Void,
    begin: () async throws -> Void = {},
    _ work: () async throws -> Value
  ) async throws -> (end: End, value: Value) {
    let hooks = hooks
    let onLast: @Sendable () -> Void = {
      // A command that outlives this process would run beside its own repetition.
      UserCommand.killAll()
      ProgressDisplay.restoreTerminal()
    }
    let signals = StopSignals(onLast: onLast) { _ in
      #if os(Linux)
        ServiceManager.current?.notify(.stopping)
      #endif
      stop()
      hooks?.stop()
    }
    try await begin()
    #if os(Linux)
      ServiceManager.current?.notify(.ready)
    #endif
    async let failedHooks = runHooks()
    let following = rateFollower.map { [transport] follower in
      Task { await follower.follow(transport) }
    }
    defer { following?.cancel() }
    let result: Result<Value, any Error>
    do {
      result = .success(try await work())
    } catch {
      result = .failure(error)
    }
    lead.finish()
    hooks?.finish()
    let failed = await failedHooks
    await supplier?.end()
    let value = try value(of: result)
    if let failure = await display.failure { throw failure }
    return (End(signal: signals.first, failedHooks: failed), value)
  }

  /// Returns the result of a run.
  ///
  /// - Throws: The error of the run; for a full disk with the number of bytes that are missing.
  private func value<Value>(of result: Result<Value, any Error>) throws -> Value {
    do {
      return try result.get()
    } catch let error as EngineError where error.code == .diskFull {
      guard let left = counts.unfinished(), let bytes = left.bytes, bytes > 0 else { throw error }
      // With --preallocate full the disk may have some free space, so that less is to be freed.
      let downloads =
        left.count == 1 ? "1 unfinished download has" : "\(left.count) unfinished downloads have"
      throw EngineError(
        .diskFull,
        "\(error.message); \(downloads) \(ByteAmount.text(bytes)) left to download"
      )
    }
  }

  /// Runs hooks while this process has the engine lock, and returns how many failed too often.
  private func runHooks() async -> Int {
    for await _ in leads { return await hooks?.run() ?? 0 }
    return 0
  }

  /// Wakes the hooks after each end, and after ends that were missed.
  private static func wake(_ hooks: HookRunner, after events: DownloadEvents) async {
    for await event in events {
      switch event {
      // A refresh may return to a completion whose command is still to be run.
      case .completed, .unchanged, .failed, .missed: hooks.wake()
      default: break
      }
    }
  }
}
