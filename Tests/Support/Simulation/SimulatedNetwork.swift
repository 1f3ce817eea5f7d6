internal import DownloadSync
internal import SimulatedTransport

/// Moves the tasks of a simulation, one thing of one task at a time.
final class SimulatedNetwork: Sendable {
  let transport = SimulatedTransport(pace: .byHand)
  private let chance: Chance
  private let profile: Profile
  private let trace: Trace

  init(_ chance: Chance, _ profile: Profile, _ trace: Trace) {
    self.chance = chance
    self.profile = profile
    self.trace = trace
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
      transport.end(id, .failed(TaskFailure(code: code, message: "simulated")))
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
