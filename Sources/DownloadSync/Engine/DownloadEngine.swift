public import DownloadStore
public import Foundation
public import Logging
internal import ObjectStore

/// Runs the downloads of a store.
///
/// The store is the source of truth. The engine compares each record with its task and its files,
/// and acts until they agree. A restart is one more comparison. At most one engine runs the
/// transfers of a store: it holds an advisory lock that ends with its process. Readers and writers
/// of the store do not need the engine.
///
/// Pure values make all decisions (`Reconciler`, `Scheduler`, ``RetryPolicy``,
/// `ResponseVerdict`). The engine owns the clock, the files and the transport. It handles its
/// inputs in batches, so that many small files share a commit.
///
/// ```swift
/// let engine = try DownloadEngine(store: store, transport: transport)
/// try await store.add([DownloadRequest(url: "https://example.com/archive.zip")])
/// let summary = try await engine.run(until: .idle)
/// ```
public actor DownloadEngine {
  // Set once.
  /// The store whose downloads the engine runs.
  ///
  /// Its methods give the commands of the user, before, during and after a run:
  /// `engine.store.pause(.all)`.
  public nonisolated let store: RecordStore
  let transport: any Transport
  let options: EngineOptions
  let inbox = EngineInbox()
  let hub = EventHub()
  let logger: Logger?
  let now: @Sendable () -> Date
  let environment: EngineEnvironment
  let placement: FilePlacement
  let finalizer: Finalizer
  /// Excludes the writes of the engine from the changes that ``StoreFollower`` returns.
  let ownWrites: Set<ObserverID>

  // Each value owns one part of the state; see the table in docs/architecture.md.
  var active = ActiveTransfers()
  var completion = Completion()
  /// Transfers that no longer belong to their records, until ``settleReplaced()``.
  var replaced: [ReplacedTransfer] = []
  var queue: StartQueue
  var follower: StoreFollower
  var dispatcher: EventDispatcher
  var locations: Locations
  var deletions = PendingDeletions()
  /// The downloads for which other processes wait, if the engine does not run all downloads anyway.
  var joined = JoinedDownloads()
  /// The downloads whose ends are the goal of the run; `nil` for any other goal.
  private var finish: FinishGoal?
  var checks = PartialChecks()
  /// The rate limit of the store, which the transport follows.
  var rateLimit: Int64?
  var checkpoints: CheckpointSchedule
  var refreshes = RefreshSchedule()
  var summary = RunSummary()
  /// Which downloads may get ranges from several servers.
  var trust = ServerTrust()
  var equalFiles = EqualStarts()
  /// How the previous process crashed; `none` once the records that it left are reconciled.
  var crash = CrashScope.none

  // The state of the run.
  /// Held from the creation of the engine to the end of its run.
  private var lock: EngineLock?
  /// Whether ``run(until:)`` or ``reconcile()`` was called.
  private var hasStarted = false
  /// Whether the run has ended.
  private(set) var hasEnded = false
  var isStopping = false
  /// Whether the end of the work beside the engine is awaited.
  var isAwaitingWork = false
  /// Whether the work beside the engine was finished when the last input was handled.
  var isWorkFinished = false
  /// The error that ends the run.
  ///
  /// The engine stops cleanly before it throws this.
  private var fatal: (any Error)?

  /// Creates the engine of a store, and takes the store's engine lock.
  ///
  /// Downloads start when ``run(until:)`` is called.
  ///
  /// - Parameters:
  ///   - store: The store that contains the download records.
  ///   - transport: Transfers the bytes.
  ///   - options: The limits and policies of the engine.
  ///   - logger: Receives a message for each step, at the debug level.
  ///   - now: Returns the current date, for dates in records.
  /// - Throws: ``EngineError`` with `alreadyRunning` if another engine holds the lock, or with
  ///   `cannotLock` if the lock file cannot be opened or locked; `StoreError`.
  public init(
    store: RecordStore,
    transport: any Transport,
    options: EngineOptions = EngineOptions(),
    logger: Logger? = nil,
    now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    try self.init(
      store: store,
      transport: transport,
      options: options,
      logger: logger,
      now: now,
      environment: .live
    )
  }

  /// Creates an engine with an injected environment.
  ///
  /// - Throws: The errors of the public initializer.
  package init(
    store: RecordStore,
    transport: any Transport,
    options: EngineOptions,
    logger: Logger? = nil,
    now: @escaping @Sendable () -> Date,
    environment: EngineEnvironment
  ) throws {
    self.store = store
    self.transport = transport.authorized(as: options)
    self.options = options
    self.logger = logger
    self.now = now
    self.environment = environment
    placement = FilePlacement(faultInjector: environment.faultInjector)
    finalizer = Finalizer(placement)
    lock = try EngineLock(
      storePath: store.path,
      patience: options.lockPatience,
      runsAll: options.scope == nil
    )
    locations = Locations(try store.roots())
    follower = try StoreFollower(store.objects)
    rateLimit = try store.rateLimit()
    transport.follow(rateLimit: rateLimit)
    ownWrites = [follower.observer]
    queue = StartQueue(
      limits: options.limits,
      bounds: options.scope == nil ? options.queueBounds : .unlimited
    )
    checkpoints = CheckpointSchedule(
      interval: options.checkpointInterval,
      last: environment.instant()
    )
    dispatcher = EventDispatcher(
      hub: hub,
      interceptors: InterceptorChain(
        requests: options.requestInterceptors,
        responses: options.responseInterceptors,
        deadline: options.interceptorDeadline
      ),
      inbox: inbox
    )
  }

  // MARK: Running

  /// Runs downloads until the goal is reached or ``stop()`` is called.
  ///
  /// An engine can be run once. Cancelling the task that runs it has the same effect as ``stop()``.
  ///
  /// If a disk is full, the downloads to it wait for free space and then continue. If the goal is not
  /// ``RunGoal/stopped`` and only such downloads are left, the run ends with an error.
  ///
  /// If the run ends with an error, all transfers are stopped, and the downloads keep the bytes
  /// that are synced.
  ///
  /// - Parameter goal: The condition that ends the run.
  /// - Returns: The number of downloads that were completed or failed permanently.
  /// - Throws: ``EngineError`` with `diskFull`, or with `stopped` or `alreadyRunning` if the engine
  ///   was used before; `RecordStoreError` with `missingRoot`, or with `ambiguousID` if
  ///   a name in the goal is not unique; `StoreError`.
  public func run(until goal: RunGoal) async throws -> RunSummary {
    try await run(until: goal, finishing: nil)
  }

  /// Work beside the engine that may add or restart downloads, such as hooks.
  ///
  /// Called when nothing else is left to do. Calls `reply` once no work is left that earlier commits
  /// of the engine require.
  package typealias WorkBeside = @Sendable (_ reply: @escaping @Sendable () -> Void) -> Void

  /// Runs downloads, and finishes work beside the engine before the run ends.
  ///
  /// With ``RunGoal/idle``, the downloads that the work adds or restarts are run, too. Otherwise as
  /// ``run(until:)``.
  package func run(until goal: RunGoal, finishing work: WorkBeside?) async throws -> RunSummary {
    try noteStart()
    defer {
      hasEnded = true
      hub.end()
      lock = nil
    }
    if case .finished(let selection) = goal {
      finish = FinishGoal(try store.urls(of: selection, allowsMissing: true))
    }
    // An adopted task runs in a process of the system, and makes its record `running`.
    let crash = try await crashScope()
    try await adoptTasks()
    self.crash = crash
    try await reconcileInterrupted()
    self.crash = .none
    try await deleteLeftFiles()
    try await join()
    refreshes.begin(goal, at: now())
    try await requestDueRefreshes()
    let endWaking = environment.wake(store.objects) { [inbox] signal in
      switch signal {
      case .ticked: inbox.post(.ticked)
      case .storeChanged: inbox.post(.storeChanged)
      case .observationFailed(let error): inbox.post(.observationFailed(error))
      }
    }
    defer { endWaking() }
    await withTaskCancellationHandler {
      await handleInputs(until: goal, finishing: work)
    } onCancel: {
      stop()
    }
    if let fatal { throw fatal }
    return summary
  }

  /// Prevents a second run, which would not hold the lock of the store.
  private func noteStart() throws(EngineError) {
    guard hasStarted else {
      hasStarted = true
      return
    }
    throw hasEnded
      ? EngineError(.stopped, "an engine runs once: create another one to run again")
      : EngineError(.alreadyRunning, "this engine is already running")
  }

  /// Handles inputs until the goal is reached or the engine is to stop, and then ends all
  /// transfers.
  private func handleInputs(until goal: RunGoal, finishing work: WorkBeside?) async {
    do {
      try await startEligible()
      var asked = summary
      while !isStopping {
        if dispatcher.pendingCount == 0, try isReached(goal) {
          guard let work, !isWorkFinished else { break }
          if !isAwaitingWork {
            isAwaitingWork = true
            asked = summary
            work { [inbox] in inbox.post(.workFinished) }
          }
        }
        isWorkFinished = false
        try await handle(await inbox.next())
        // A download that has ended since the question may require more work.
        if summary != asked { isWorkFinished = false }
      }
      if !isStopping, try !haveFinished() { fatal = diskFullError }
      try await stopAll()
    } catch {
      fatal = fatal ?? error
      try? await stopAll()
    }
  }

  /// Whether the run may end.
  private func isReached(_ goal: RunGoal) throws -> Bool {
    switch goal {
    case .stopped: false
    case .idle: try isIdle && !hasUnreadChanges()
    case .finished: try (isIdle && !hasUnreadChanges()) || haveFinished()
    }
  }

  /// Whether another writer has committed what the engine has not read; the next turn reads it.
  ///
  /// On a busy machine, the signal for a commit comes later than the end of the last download, and the
  /// commit may be a command that has to be carried out. Blocks for a short read transaction.
  private func hasUnreadChanges() throws -> Bool {
    guard try !follower.isCurrent() else { return false }
    inbox.post(.storeChanged)
    return true
  }

  /// Whether the downloads whose ends are the goal of the run have ended.
  ///
  /// Blocks for a short read transaction, unless one of them has a transfer.
  private func haveFinished() throws -> Bool {
    guard var finish, !active.urls.contains(where: finish.contains), try !hasUnreadChanges()
    else { return false }
    defer { self.finish = finish }
    return try store.objects.read { tx in
      try finish.isReached { url in try tx.find(DownloadRecord.self, key: url) }
    }
  }

  /// Whether nothing is left to do, or nothing before a full disk has free space.
  private var isIdle: Bool {
    active.isEmpty && checks.isEmpty && !refreshes.hasMore
      && (queue.isEmpty || queue.fullFolder != nil)
      && !deletions.delayEnd(atMost: options.retry.maximumAttempts)
  }

  /// The error of an idle run that leaves downloads waiting for disk space.
  private var diskFullError: EngineError? {
    queue.fullFolder.map { folder in
      EngineError(
        .diskFull,
        "the disk with \(folder) is full; the downloaded bytes are kept: free some space and run "
          + "again"
      )
    }
  }

  /// Reconciles all active records as at launch, without network access and without starting
  /// downloads.
  ///
  /// Repeats renames that were interrupted, deletes leftover files, truncates partial files to the
  /// bytes that can be continued, and corrects the records. Commands that other processes give in the
  /// meantime are carried out, too. An engine either reconciles or runs, once.
  ///
  /// ```swift
  /// let engine = try DownloadEngine(store: store, transport: transport)
  /// print("examined", try await engine.reconcile(), "downloads")
  /// ```
  ///
  /// - Returns: The number of active records that were examined.
  /// - Throws: ``EngineError`` with `diskFull`, or with `stopped` or `alreadyRunning` if the engine
  ///   was used before; `RecordStoreError` with `missingRoot`; `StoreError`.
  /// - Complexity: O(active) records; finished records cost nothing.
  @discardableResult
  public func reconcile() async throws -> Int {
    try await reconcileRecords().count
  }

  /// Reconciles as ``reconcile()`` does.
  ///
  /// - Returns: The state and the decision of each record, in the order in which they were handled.
  /// - Throws: As ``reconcile()``.
  package func reconcileRecords() async throws -> [Reconciliation] {
    try noteStart()
    defer {
      hasEnded = true
      hub.end()
      lock = nil
    }
    var left: Set<String> = []
    if takesResumeData {
      // Only a run can continue the tasks of a background transport.
      left = Set(await transport.liveTasks().map(\.recordID))
    } else {
      try await adoptTasks()
    }
    crash = try await crashScope()
    let found = try await reconcileAtLaunch(leavingOut: left, checksPieces: true)
    crash = .none
    try await deleteLeftFiles()
    // A process that finds the lock taken leaves its commands to this engine. Only a run can end the
    // tasks of a background transport.
    while try !takesResumeData && follower.hasChanges() {
      try await applyStoreChanges()
      try await completeFiles()
    }
    await awaitNotifications()
    if let fatal { throw fatal }
    return found
  }

  /// Ends the run cleanly.
  ///
  /// The bytes received so far are synced and committed; the next run continues from them. Returns
  /// immediately. May be called from any thread, more than once.
  ///
  /// ```swift
  /// let run = Task { try await engine.run(until: .stopped) }
  /// // When the application quits:
  /// engine.stop()
  /// let summary = try await run.value
  /// ```
  public nonisolated func stop() {
    inbox.post(.stopRequested)
  }

  /// Waits until the interceptors have returned from all notifications.
  ///
  /// Discards all other inputs, so it is called only outside a run.
  private func awaitNotifications() async {
    while dispatcher.pendingCount > 0 {
      for case .endNotified in await inbox.next() { dispatcher.noteReturn() }
    }
  }
}
