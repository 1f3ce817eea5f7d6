internal import DownloadSync
internal import SimulatedTransport

/// Moves the tasks of a simulation, one thing of one task at a time.
final class SimulatedNetwork: Sendable {
  /// What moves the bytes; of a background session, for that.
  let transport: SimulatedTransport
  /// The background session that engines download by, in some seeds.
  let session: SimulatedBackgroundTransport?
  private let chance: Chance
  private let profile: Profile
  private let trace: Trace

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

  /// The transport that an engine is given.
  var engineTransport: any Transport { session ?? transport }

  /// The tasks that work for an engine: those that it has started or taken over, as long as nobody
  /// has asked them to end.
  func working(_ known: Set<TaskID>) -> [(recordID: String, url: String)] {
    if let session {
      return session.tasks.filter { known.contains($0.id) && $0.state == .running }
        .map { ($0.recordID, session.url(of: $0.id) ?? "") }
    }
    return transport.tasks.filter { known.contains($0.id) }
      .map { ($0.request.recordID, $0.request.url) }
  }

  /// The process dies that engines ran in.
  func crash() {
    // The choice is made in any case, so that a seed is the same with and without a session.
    let keepsTasks = chance.happens(profile.leftTasks)
    if let session { session.crash() } else { transport.crash(keepsTasks: keepsTasks) }
  }

  /// The process ends in which an engine has run to its end.
  func endProcess() {
    session?.crash()
  }

  /// Has something happen to some task, perhaps something bad.
  func step() {
    guard let task = chance.pick(transport.tasks) else { return }
    let id = task.id
    if task.isCancelled, chance.happens(profile.lateEnds) {
      // What was on its way arrives after all, and the end later.
      trace.note("late", "\(id.rawValue)")
      if chance.happens(0.5) { proceed(task, true) }
    } else if chance.happens(profile.brokenTasks) {
      let codes = [TaskFailure.Code.timedOut, .connectionLost, .cannotConnect]
      let code = codes[chance.number(in: 0...codes.count - 1)]
      trace.note("break", "\(id.rawValue) \(code)")
      session?.leavesResumeData = chance.happens(0.7)
      transport.end(id, .failed(TaskFailure(code: code, message: "simulated")))
      session?.leavesResumeData = true
    } else {
      proceed(task, false)
    }
  }

  /// Has the next thing happen to some task, and nothing bad.
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
