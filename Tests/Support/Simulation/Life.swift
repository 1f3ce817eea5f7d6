internal import DownloadSimulation
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import SystemInterface

/// A simulated process with an engine: its connections to the disk, the store and the network, all
/// of which are cut when it dies.
///
/// The engine of a dead process finds every effect refused, and ends without any further change.
@dynamicMemberLookup
final class Life: FaultInjector, Transport {
  typealias Post = @Sendable (EngineEnvironment.Signal) -> Void

  /// What changes during a life; its properties are those of the life, too.
  struct State: Sendable {
    var isDead = false
    /// The result of the engine's run, once it has ended.
    var outcome: Result<Void, any Error>?
    /// Whether the engine ends when it is idle.
    var endsWhenIdle = false
    /// Whether the engine is notified of most commits late.
    var hasLateSignals = false
    /// Whether the engine was asked to stop.
    var isAskedToStop = false
    /// Whether a deletion, or the sync of a folder after one, was refused.
    var hasRefusedDeletion = false
    /// The records when the engine decided to end; `nil` before.
    var recordsAtEnd: [DownloadRecord]?
    /// The tasks that the process has started or adopted.
    var known: Set<TaskID> = []
    /// The tasks that the process has started.
    var started: Set<TaskID> = []
    /// The number of its effects.
    var effectCount = 0
    /// The number of effects before the process dies; `nil` if it is not to die.
    fileprivate var effectsLeft: Int?
    fileprivate var post: Post?
    /// The number of clock reads since the death.
    fileprivate var clockReadCount = 0
    fileprivate var locks: [any ProcessLock] = []
  }

  let disk: SimulatedDisk
  let network: SimulatedNetwork
  let clock: VirtualClock
  let chance: Chance
  let trace: Trace
  let faults: DiskFaults
  let defects: Set<Defect>
  // Used only by the simulation's thread.
  private let state = Mutex(State())

  init(
    disk: SimulatedDisk,
    network: SimulatedNetwork,
    clock: VirtualClock,
    chance: Chance,
    trace: Trace,
    faults: DiskFaults,
    defects: Set<Defect>
  ) {
    self.disk = disk
    self.network = network
    self.clock = clock
    self.chance = chance
    self.trace = trace
    self.faults = faults
    self.defects = defects
  }

  subscript<Value: Sendable>(
    dynamicMember path: any WritableKeyPath<State, Value> & Sendable
  ) -> Value {
    get { state.withLock { $0[keyPath: path] } }
    set { state.withLock { $0[keyPath: path] = newValue } }
  }

  /// Kills the process now.
  func die() {
    state.withLock { $0.isDead = true }
  }

  /// Releases the locks that the process holds, as the system does when a process ends.
  func releaseLocks() {
    let locks = state.withLock { state in
      defer { state.locks = [] }
      return state.locks
    }
    for lock in locks { lock.unlock() }
  }

  /// Kills the process after the given number of effects.
  func die(afterEffects count: Int) {
    state.withLock { $0.effectsLeft = count }
  }

  /// Sends a signal to the engine.
  func post(_ signal: EngineEnvironment.Signal) -> Bool {
    guard let post = state.withLock({ $0.post }) else { return false }
    post(signal)
    return true
  }

  /// The monotonic time.
  ///
  /// After the death each read advances it by an hour, so that no wait of the dead engine lasts.
  var instant: ContinuousClock.Instant {
    let clockReadCount = state.withLock { state in
      state.clockReadCount += state.isDead ? 1 : 0
      return state.clockReadCount
    }
    return clock.instant.advanced(by: .seconds(3_600 * clockReadCount))
  }

  /// Returns the environment of this process's engine.
  func environment(_ executor: StepExecutor) -> EngineEnvironment {
    EngineEnvironment(
      instant: { self.instant },
      random: { [chance] in chance.fraction() },
      startWork: { executor.addWork($0) },
      startLongWork: { executor.addWork($0) },
      wake: { [weak self] store, post in
        self?.state.withLock { $0.post = post }
        return { self?.noteEnd(in: store) }
      },
      availableBytes: { [faults] _ in faults.isFull ? 0 : 1 << 40 },
      lacksDescriptors: { false },
      faultInjector: self
    )
  }

  /// Notes that the engine is about to end.
  ///
  /// Called by the job in which it has decided that, so no command comes in between.
  private func noteEnd(in store: Store) {
    let records = try? store.read { tx in try tx.fetch(DownloadRecord.all) }
    state.withLock { ($0.post, $0.recordsAtEnd) = (nil, records) }
  }

  // MARK: FaultInjector

  func refusal(of effect: Effect) -> Int32? {
    let isDead = state.withLock { state in
      if state.effectsLeft == 0 { state.isDead = true }
      state.effectsLeft? -= 1
      state.effectCount += 1
      return state.isDead
    }
    guard !isDead else { return EIO }
    if let code = failure(of: effect) {
      if case .synchronizeFolder = effect { state.withLock { $0.hasRefusedDeletion = true } }
      trace.note("refuse", "\(effect.name) \(code)")
      disk.didRefuse(effect)
      return code
    }
    trace.note("effect", effect.name)
    if case .remove = effect, defects.contains(.filesAreNotDeleted), chance.happens(0.3) {
      state.withLock { $0.hasRefusedDeletion = true }
      return EPERM
    }
    disk.willPerform(effect)
    // The network advances while the disk is busy.
    if case .synchronize = effect, chance.happens(0.3) { network.step() }
    return nil
  }

  func didPerform(_ effect: Effect) {
    guard !self.isDead else { return }
    disk.didPerform(effect)
  }

  func didLock(_ lock: any ProcessLock) {
    state.withLock { $0.locks.append(lock) }
  }

  private func failure(of effect: Effect) -> Int32? {
    let isFull = faults.isFull
    switch effect {
    case .write, .makeFolder, .link, .open, .reserve:
      if isFull { return ENOSPC }
    case .commit:
      return isFull && chance.happens(0.2) ? ENOSPC : nil
    // A file that cannot be deleted stays, and no engine can change that.
    case .remove: return nil
    case .synchronize:
      if chance.happens(faults.failedSyncProbability) {
        return [EIO, ENOSPC, EDQUOT][chance.number(in: 0...2)]
      }
    case .synchronizeFolder, .cut, .rename: break
    }
    return chance.happens(faults.errorProbability) ? faults.errorCode : nil
  }

  // MARK: Transport

  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    guard !self.isDead else { return TaskID(rawValue: 0) }
    let sink = DefectiveSink.wrapping(sink, defects, chance)
    let id = network.engineTransport.start(request, sink: sink)
    let source = request.resumeData.map { _ in "resume data" } ?? "\(request.offset)"
    let end = request.end.map { " to \($0)" } ?? ""
    trace.note(
      request.end == nil ? "start" : "part",
      "\(id.rawValue) \(request.recordID) from \(source)\(end)"
    )
    know(id)
    state.withLock { _ = $0.started.insert(id) }
    if defects.contains(.tasksStartTwice), chance.happens(0.1) {
      know(network.engineTransport.start(request, sink: sink))
    }
    return id
  }

  func cancel(_ task: TaskID) {
    guard !self.isDead else { return }
    trace.note("cancel", "\(task.rawValue)")
    network.engineTransport.cancel(task)
  }

  func liveTasks() async -> [TaskSnapshot] {
    guard !self.isDead else { return [] }
    return await network.engineTransport.liveTasks()
  }

  /// Records that a task belongs to this process.
  func know(_ task: TaskID) {
    state.withLock { _ = $0.known.insert(task) }
  }
}

extension Effect {
  /// The effect without its folder, which differs in each run.
  fileprivate var name: String {
    func last(_ path: String) -> String {
      let name = String(path.split(separator: "/").last ?? "")
      // Stores choose random ids.
      guard let partial = PartialName(name) else { return name }
      return partial.recordID + PartialName.suffix
    }
    return switch self {
    case .open(let path): "open \(last(path))"
    case .cut(let path, let size): "cut \(last(path)) to \(size)"
    case .reserve(let path, let size): "reserve \(last(path)) \(size)"
    case .write(let path, let offset, let count): "write \(last(path)) \(count) at \(offset)"
    case .synchronize(let path): "sync \(last(path))"
    case .link(let from, let to): "link \(last(from)) \(last(to))"
    case .rename(let from, let to): "rename \(last(from)) \(last(to))"
    case .remove(let path): "remove \(last(path))"
    case .makeFolder(let path): "mkdir \(last(path))"
    case .synchronizeFolder(let path): "sync folder \(last(path))"
    case .commit: "commit"
    }
  }
}
