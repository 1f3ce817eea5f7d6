public import DownloadStore
public import Foundation
public import Logging
internal import ObjectStore

/// Carries out the downloads of a store: the one place where records, files and live tasks meet.
///
/// The store is the source of truth. The engine compares what it says with what runs and what lies
/// on disk, and acts until they agree; a restart is one more comparison. At most one engine at a time
/// works on a store: it holds an advisory lock that ends with its process.
///
/// All decisions are made by pure values (``Reconciler``, ``Scheduler``, ``RetryPolicy``,
/// ``ResponseVerdict``); the engine owns the clock, the files and the transport. Its inputs are
/// handled in batches, so that many small files share a commit.
public actor DownloadEngine {
  /// A download whose task is live, or whose bytes are being checked.
  struct ActiveTransfer {
    var record: DownloadRecord
    var layout: FileLayout
    var transfer: Transfer
    var task: TaskID?
    /// Makes the request, while interceptors see it.
    var preparation: Task<Void, Never>?
    var meter = SpeedMeter()
    var candidate: Scheduler.Candidate
    /// When it started, in the same count as the orders of candidates.
    var started: Int
    var startedAt: ContinuousClock.Instant
    /// The bytes that the store knows of.
    var committed: Int64
    /// Whether its task goes on from resume data.
    var usesResumeData = false
    var isEnding = false

    /// The bytes that are still to come; `nil` when the size is not known.
    var missingBytes: Int64? {
      transfer.entity.total.map { max(0, $0 - transfer.file.position) }
    }
  }

  let store: DownloadStore
  let transport: any Transport
  let options: EngineOptions
  let inbox = EngineInbox()
  let hub = EventHub()
  let interceptors: InterceptorChain
  let logger: Logger?
  let now: @Sendable () -> Date
  let environment: EngineEnvironment
  let placement: FilePlacement
  /// Held from the making of the engine to the end of its run.
  private var lock: EngineLock?

  var active = URLTable<ActiveTransfer>()
  var queue = ReadyQueue()
  /// How many may run; may change at any time.
  var limits: ConcurrencyLimits
  var diskSpace = DiskSpaceMonitor()
  /// Delays and limits starts while the machine is short of descriptors or memory.
  var shortage = ResourceShortage()
  /// The deletions that wait for a sync of their folder.
  var deletions = PendingDeletions()
  /// The volumes of folders, as long as nothing is known to have been moved or mounted.
  var volumes: [String: UInt64] = [:]
  var summary = RunSummary()
  /// Counts arrivals in the queue and starts.
  var order = 0
  /// The ends that interceptors are being told of.
  var pendingNotifications = 0
  /// The tasks that have ended and whose ends are not committed yet.
  var unacknowledged: [TaskID: TransferKey] = [:]
  var roots: Roots
  var externalChanges: ExternalChanges
  /// Up to where the commits of others are followed.
  var followed: HistoryToken
  /// Whether the run is over.
  private(set) var hasEnded = false
  /// Why the engine cannot go on; it stops cleanly and then throws this.
  var fatal: (any Error)?
  private var isStopping = false
  private var lastCheckpoint: ContinuousClock.Instant

  /// Makes the engine of a store.
  ///
  /// - Parameters:
  ///   - store: The records.
  ///   - transport: What moves the bytes.
  ///   - options: How to work.
  ///   - logger: Hears of each step, at the debug level.
  ///   - now: The time of day, for dates in records.
  /// - Throws: ``EngineError`` with `alreadyRunning` when another engine works on the store;
  ///   `StoreError`.
  public init(
    store: DownloadStore,
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

  /// Makes the engine of a store in a world of its own.
  ///
  /// - Throws: As the public initialiser.
  package init(
    store: DownloadStore,
    transport: any Transport,
    options: EngineOptions,
    logger: Logger? = nil,
    now: @escaping @Sendable () -> Date,
    environment: EngineEnvironment
  ) throws {
    self.environment = environment
    placement = FilePlacement(faultInjector: environment.faultInjector)
    lastCheckpoint = environment.instant()
    self.store = store
    self.transport = transport
    self.options = options
    limits = options.limits
    self.logger = logger
    self.now = now
    lock = try EngineLock(storePath: store.path, patience: options.lockPatience)
    roots = try store.roots()
    followed = try store.objects.historyToken()
    externalChanges = ExternalChanges(seen: try store.objects.changeCount())
    interceptors = InterceptorChain(
      requests: options.requestInterceptors,
      responses: options.responseInterceptors,
      deadline: options.interceptorDeadline
    )
  }

  // MARK: Running

  /// Works until the goal is reached or ``stop()`` is called.
  ///
  /// An engine runs once. Cancelling the task that runs it has the same effect as ``stop()``.
  ///
  /// - Returns: What this run has done.
  /// A disk that is full holds the downloads that go to it until there is room again; where the
  /// goal is ``RunGoal/idle`` and nothing else is left to do, the run ends.
  ///
  /// - Throws: ``EngineError`` with `diskFull`, or `StoreError`; all downloads are stopped then
  ///   and keep the bytes that are synced.
  public func run(until goal: RunGoal) async throws -> RunSummary {
    defer {
      hasEnded = true
      hub.end()
      lock = nil
    }
    try await adoptTasks()
    _ = try await reconcileAtLaunch()
    let endWaking = environment.wake(store.objects) { [inbox] signal in
      switch signal {
      case .ticked: inbox.post(.ticked)
      case .storeChanged: inbox.post(.storeChanged)
      case .observationFailed(let error): inbox.post(.observationFailed(error))
      }
    }
    defer { endWaking() }
    await withTaskCancellationHandler {
      await work(until: goal)
    } onCancel: {
      stop()
    }
    if let fatal { throw fatal }
    return summary
  }

  /// Handles inputs until the goal is reached or the engine is to stop, then ends all transfers.
  private func work(until goal: RunGoal) async {
    do {
      try await startEligible()
      while !(goal == .idle && isIdle && pendingNotifications == 0), !isStopping {
        try await handle(await inbox.next())
      }
      if !isStopping { fatal = diskFullError }
      try await stopAll()
    } catch {
      fatal = fatal ?? error
      try? await stopAll()
    }
  }

  /// Whether nothing is left to do, or nothing before there is room on a disk.
  private var isIdle: Bool {
    active.isEmpty && (queue.isEmpty || queue.waitsOnlyForDiskSpace)
      && !deletions.delayEnd(atMost: options.retry.maximumAttempts)
  }

  /// Why a run that is idle has left something undone.
  private var diskFullError: EngineError? {
    guard let candidate = queue.urls.first.flatMap({ queue[$0] }) else { return nil }
    return EngineError(
      .diskFull,
      "the disk is full that \(diskSpace.folder(toCheckOn: candidate.volume) ?? "the file") lies on; "
        + "what is downloaded is kept"
    )
  }

  /// Does the part of a launch that needs no network, and starts nothing.
  ///
  /// Repeats logged renames, deletes leftover files, truncates partial files to the bytes that can be
  /// resumed, and updates the records. An engine either reconciles or runs, once.
  ///
  /// - Returns: The number of active downloads that were examined.
  /// - Throws: ``EngineError`` with `diskFull`; `DownloadStoreError` with `missingRoot`;
  ///   `StoreError`.
  /// - Complexity: O(active) records.
  @discardableResult
  public func reconcile() async throws -> Int {
    try await reconcileRecords().count
  }

  /// Reconciles as ``reconcile()`` does.
  ///
  /// - Returns: The decisions, in the order in which they were carried out.
  /// - Throws: As ``reconcile()``.
  package func reconcileRecords() async throws -> [Reconciliation] {
    defer {
      hasEnded = true
      hub.end()
      lock = nil
    }
    var left: Set<String> = []
    if takesResumeData {
      // What they bring is for a run.
      left = Set(await transport.liveTasks().map(\.recordID))
    } else {
      try await adoptTasks()
    }
    let found = try await reconcileAtLaunch(leavingOut: left)
    await awaitNotifications()
    if let fatal { throw fatal }
    return found
  }

  /// Has the run end cleanly: what has arrived is synced and committed, and goes on with the next
  /// run.
  ///
  /// May be called from anywhere, more than once.
  public nonisolated func stop() {
    inbox.post(.stopRequested)
  }

  // MARK: Inputs

  private func handle(_ batch: [EngineInput]) async throws {
    var ended: [(String, TransferResult)] = []
    var hasStoreChanged = false
    var hasTicked = false
    var isCheckpointDue =
      lastCheckpoint.duration(to: environment.instant()) >= options.checkpointInterval
    for input in batch {
      switch input {
      case .progressed(let key):
        guard let download = transfer(key) else { continue }
        // A suspect is cleared by its first bytes, and others wait for that.
        if download.candidate.isSuspect { isCheckpointDue = true }
        shortage.noteProgress(limit: limits.maximumRunning)
      case .renamed(let record):
        guard transfer(TransferKey(record)) != nil else { continue }
        active[record.url]?.record.filename = record.filename
        active[record.url]?.record.destination = record.destination
        active[record.url]?.layout = try roots.layout(of: record)
      case .checkpointDue:
        isCheckpointDue = true
      case .taskEnded(let key, let result):
        guard let download = transfer(key) else { continue }
        if let task = download.task { unacknowledged[task] = key }
        active[key.url]?.task = nil
        ended.append((key.url, result))
      case .requestMade(let key, let result):
        guard transfer(key) != nil else { continue }
        if let end = resume(key.url, with: result) { ended.append((key.url, end)) }
      case .endNotified:
        pendingNotifications -= 1
      case .digestComputed(let key, let digest):
        guard transfer(key) != nil else { continue }
        try await finishChecked(key.url, digest)
      case .storeChanged:
        hasStoreChanged = true
      case .observationFailed(let error):
        logger?.warning("observing the store failed, and is tried again: \(error)")
      case .ticked:
        hasTicked = true
        measure()
        endProbation()
        checkDiskSpace()
      case .stopRequested:
        isStopping = true
      }
    }
    try await completeTransfers(ended)
    acknowledgeEnds()
    if isCheckpointDue {
      try await checkpoint()
      lastCheckpoint = environment.instant()
    }
    if hasStoreChanged { try await applyStoreChanges() }
    guard !isStopping else { return }
    if hasTicked { try await retryDeletions() }
    try await startEligible()
  }

  /// The live download whose transfer that is; `nil` when it is over, or another one by now.
  func transfer(_ key: TransferKey) -> ActiveTransfer? {
    active[key.url].flatMap { key.isOf($0.record) ? $0 : nil }
  }

  /// Cancels every task, waits for the ends, and commits what has arrived.
  private func stopAll() async throws {
    for url in active.urls {
      guard let download = active[url] else { continue }
      download.preparation?.cancel()
      if let task = download.task { transport.cancel(task) }
    }
    let deadline = environment.instant().advanced(by: .seconds(10))
    while active.values.contains(where: { $0.task != nil }) || pendingNotifications > 0,
      environment.instant() < deadline
    {
      for input in await inbox.next() {
        switch input {
        case .taskEnded(let key, let result):
          guard let download = transfer(key) else { continue }
          if let task = download.task { unacknowledged[task] = key }
          active[key.url]?.task = nil
          // What somebody held before keeps what its task has left; of others `requeueAll` does.
          let leaves = download.isEnding && download.transfer.resumeData != nil
          if result == .complete || leaves { try await completeTransfers([(key.url, result)]) }
        case .endNotified:
          pendingNotifications -= 1
        default:
          break
        }
      }
    }
    acknowledgeEnds()
    try await requeueAll()
  }

  // MARK: Telling

  /// Tells what happened, to a record that the event itself may not have.
  func emit(_ event: DownloadEvent, of recordID: String? = nil) {
    hub.emit(event, of: recordID)
  }

  /// Commits, and remembers that the commit was ours.
  ///
  /// It is a commit of its own: one that is shared with others would have their changes too.
  @discardableResult
  func commit<R: Sendable>(
    _ body: @escaping @Sendable (inout StoreTransaction) throws -> R
  ) async throws -> R {
    let objects = store.objects
    let faultInjector = environment.faultInjector
    do {
      let (result, number) = try await environment.blocking {
        try faultInjector?.checkCommit()
        return try objects.write { tx in (try body(&tx), tx.hasChanges ? tx.changeCount : nil) }
      }
      if let number { externalChanges.noteOwnCommit(number) }
      return result
    } catch let error as StoreError where error.code == .diskFull {
      throw EngineError(
        .diskFull,
        "the disk that holds the store is full; nothing is lost: \(error.message)"
      )
    }
  }
}
