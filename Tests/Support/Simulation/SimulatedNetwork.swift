internal import DownloadSimulation
internal import DownloadStore
internal import DownloadSync
internal import SystemInterface

/// Advances the tasks of a simulation, one event of one task at a time.
final class SimulatedNetwork: Sendable {
  /// The transport whose tasks are advanced; for a background session, the transport below it.
  let transport: SimulatedTransport
  /// The background session of the engines, in some seeds.
  let session: SimulatedBackgroundTransport?
  private let chance: Chance
  private let profile: Profile
  private let trace: Trace
  // Set by the simulation's thread; a step may come from one that syncs a file.
  private let isCalm = Mutex(false)

  init(
    _ chance: Chance,
    _ profile: Profile,
    _ trace: Trace,
    sessionFolder: String,
    defects: Set<Defect>
  ) throws {
    self.chance = chance
    self.profile = profile
    self.trace = trace
    session =
      profile.isInBackground
      ? try SimulatedBackgroundTransport(
        folder: sessionFolder,
        pace: .byHand,
        adoptsDeliveries: !defects.contains(.deliveriesAreNotAdopted),
        copyInterval: profile.copyInterval
      ) : nil
    transport = session?.network ?? SimulatedTransport(pace: .byHand)
  }

  /// The transport that an engine uses.
  var engineTransport: any Transport { session ?? transport }

  /// A task of the current engine.
  struct WorkingTask: Sendable {
    var recordID: String
    var url: String
    /// Whether it fetches a range with an end, beside other tasks of its record.
    var isPart: Bool
    /// Whether the engine has cancelled it.
    var isCancelled = false
  }

  /// The tasks of the current engine: started or adopted, and not ended; in a session, not
  /// cancelled.
  func working(_ known: Set<TaskID>) -> [WorkingTask] {
    if let session {
      return session.tasks.filter { known.contains($0.id) && $0.state == .running }
        .map {
          WorkingTask(recordID: $0.recordID, url: session.url(of: $0.id) ?? "", isPart: false)
        }
    }
    return transport.tasks.filter { known.contains($0.id) }
      .map {
        WorkingTask(
          recordID: $0.request.recordID,
          url: $0.request.url,
          isPart: $0.request.end != nil,
          isCancelled: $0.isCancelled
        )
      }
  }

  /// Ends the process of an engine by a kill.
  func crash() {
    // The choice is made in any case, so that a seed has the same history with and without a
    // session.
    let keepsTasks = chance.happens(profile.leftTasks)
    if let session { session.crash() } else { transport.crash(keepsTasks: keepsTasks) }
  }

  /// Ends the process of an engine that has finished.
  func endProcess() {
    session?.crash()
  }

  /// Ends all faults, also of steps that are made while a disk is busy.
  func calmDown() {
    isCalm.withLock { $0 = true }
  }

  /// Advances a random task, possibly with a fault.
  func step() {
    if isCalm.withLock({ $0 }) { return calmStep() }
    guard let task = chance.pick(transport.tasks) else { return }
    let id = task.id
    if task.isCancelled, chance.happens(profile.lateEnds) {
      // Bytes in flight arrive, and the end follows later.
      trace.note("late", "\(id.rawValue)")
      if chance.happens(0.5) { proceed(task, true) }
    } else if chance.happens(profile.brokenTasks) {
      let codes = [DownloadFailure.Code.timedOut, .connectionLost, .cannotConnect]
      let code = codes[chance.number(in: 0...codes.count - 1)]
      trace.note("break", "\(id.rawValue) \(code)")
      session?.leavesResumeData = chance.happens(0.7)
      transport.end(id, .failed(DownloadFailure(code, "simulated")))
      session?.leavesResumeData = true
    } else {
      proceed(task, false)
    }
  }

  /// Advances a random task without faults.
  func calmStep() {
    guard let task = chance.pick(transport.tasks) else { return }
    proceed(task, false)
  }

  private func proceed(_ task: SimulatedTask, _ ignoresCancel: Bool) {
    let count = chance.number(in: 1...profile.largestChunk)
    trace.note("network", "\(task.id.rawValue) \(task.bytesSent) + \(count)")
    transport.advance(task.id, atMost: Int64(count), heedsCancel: !ignoresCancel)
  }
}
