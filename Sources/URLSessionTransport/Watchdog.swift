internal import Dispatch
internal import DownloadSync
internal import Synchronization

/// How long a task has been silent while the transport was listening.
struct IdleCounter {
  private var silence = Duration.zero

  /// Starts again.
  mutating func sawEvent() {
    silence = .zero
  }

  /// Adds a stretch of time and returns the silence so far.
  ///
  /// A stretch in which reading was held up does not count: the silence is ours then, and not the
  /// server's.
  mutating func tick(_ elapsed: Duration, heldUp: Bool) -> Duration {
    if !heldUp { silence += elapsed }
    return silence
  }
}

/// Ends tasks that the session has forgotten, and notices when it has forgotten all of them.
///
/// The session has idle timers of its own, and they come first. But on Linux there are states in
/// which a task has no timer left (a 401 that is not answered is one), and such a task would hold its
/// record for ever.
final class Watchdog: Sendable {
  private struct State {
    var isAwake = false
    var lastLook = ContinuousClock.now
    var waitCount = 0
  }

  private let state = Mutex(State())
  private let limit: Duration
  private let interval: Duration
  private let table: TaskTable
  private let hops: HopQueue
  private let queue: DelegateQueue
  private let pulse: Pulse
  private let onHang: @Sendable () -> Void

  /// Watches the tasks of a table; the session's own timers get a head start over `limit`.
  ///
  /// `onHang` is called once when the session has not answered for as long as `hangLimit`.
  init(
    limit: Duration,
    hangLimit: Duration,
    table: TaskTable,
    hops: HopQueue,
    queue: DelegateQueue,
    onHang: @escaping @Sendable () -> Void
  ) {
    self.limit = limit + max(.seconds(2), limit / 4)
    pulse = Pulse(limit: hangLimit)
    self.onHang = onHang
    interval = min(.seconds(1), limit / 4)
    self.table = table
    self.hops = hops
    self.queue = queue
  }

  /// Starts to look, unless it does.
  ///
  /// It falls asleep by itself when no task is left.
  func wake() {
    let wasAwake = state.withLock { state in
      defer { state.isAwake = true }
      if !state.isAwake { state.lastLook = .now }
      return state.isAwake
    }
    if !wasAwake { schedule() }
  }

  private func schedule() {
    let milliseconds = Int(interval / .milliseconds(1))
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
      [weak self] in
      // On the delegate queue, behind the events that are waiting there: they count.
      self?.queue.runAfterPending { self?.look() }
    }
  }

  private func look() {
    // A machine that slept, or a queue that did, is no reason to blame the servers.
    let (elapsed, heldUp) = state.withLock { state in
      defer { state.lastLook = .now }
      return (
        min(.now - state.lastLook, interval * 2), queue.wasHeldUp(since: &state.waitCount)
      )
    }
    if let sessionTask = table.anySessionTask,
      pulse.hasStopped(asking: sessionTask, elapsed, heldUp: heldUp)
    {
      onHang()
    }
    for task in table.all where task.isIdle(after: elapsed, heldUp: heldUp, limit: limit) {
      let failure = TaskFailure(code: .timedOut, message: "the session reported nothing in time")
      hops.end(task, .failed(failure))
    }
    let goesOn = state.withLock { state in
      state.isAwake = !table.isEmpty
      return state.isAwake
    }
    if goesOn { schedule() }
  }
}
