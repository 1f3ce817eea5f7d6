internal import Dispatch
internal import DownloadStore
internal import DownloadSync
internal import SystemInterface

/// The idle time of a task: the time without data while the transport was reading.
struct IdleCounter {
  private var silence = Duration.zero

  /// Resets the idle time.
  mutating func sawEvent() {
    silence = .zero
  }

  /// Adds a period of time and returns the total idle time.
  ///
  /// A period in which reading was blocked by a sink does not count.
  mutating func tick(_ elapsed: Duration, heldUp: Bool) -> Duration {
    if !heldUp { silence += elapsed }
    return silence
  }
}

/// Ends tasks that the session no longer times out, and detects a session that hangs.
///
/// The session's own idle timers fire first. But on Linux a task can lose its timer (for example
/// after a 401 without a response to the challenge), and would then never end.
final class Watchdog: Sendable {
  private struct State {
    var isAwake = false
    var lastCheck = ContinuousClock.now
    var waitCount = 0
  }

  private let state = Mutex(State())
  private let limit: Duration
  private let interval: Duration
  private let table: TaskTable
  private let sessionTasks: SessionTaskQueue
  private let queue: DelegateQueue
  private let livenessProbe: LivenessProbe
  private let onHang: @Sendable () -> Void

  /// Watches the tasks of a table, with a limit somewhat longer than the session's own time-out.
  ///
  /// `onHang` is called once when the session has not answered for `hangLimit`.
  init(
    limit: Duration,
    hangLimit: Duration,
    table: TaskTable,
    sessionTasks: SessionTaskQueue,
    queue: DelegateQueue,
    onHang: @escaping @Sendable () -> Void
  ) {
    self.limit = limit + max(.seconds(2), limit / 4)
    livenessProbe = LivenessProbe(limit: hangLimit)
    self.onHang = onHang
    interval = min(.seconds(1), limit / 4)
    self.table = table
    self.sessionTasks = sessionTasks
    self.queue = queue
  }

  /// Starts the timer if it is not running.
  ///
  /// The timer stops when no task is left.
  func wake() {
    let wasAwake = state.withLock { state in
      defer { state.isAwake = true }
      if !state.isAwake { state.lastCheck = .now }
      return state.isAwake
    }
    if !wasAwake { schedule() }
  }

  private func schedule() {
    let milliseconds = Int(interval / .milliseconds(1))
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
      [weak self] in
      // On the delegate queue, behind the waiting events, because they reset the idle time.
      self?.queue.runAfterPending { self?.look() }
    }
  }

  private func look() {
    // If the machine or the queue was suspended, the servers are not to blame.
    let (elapsed, heldUp) = state.withLock { state in
      defer { state.lastCheck = .now }
      return (
        min(.now - state.lastCheck, interval * 2), queue.wasHeldUp(since: &state.waitCount)
      )
    }
    if let sessionTask = table.anySessionTask,
      livenessProbe.hasStopped(asking: sessionTask, elapsed, heldUp: heldUp)
    {
      onHang()
    }
    for task in table.all where task.isIdle(after: elapsed, heldUp: heldUp, limit: limit) {
      let peers = task.prepared.map { TransferPeers($0.url) } ?? .unnamed
      let failure = peers.failure(.timedOut, .silence(limit))
      sessionTasks.end(task, .failed(failure))
    }
    let isActive = state.withLock { state in
      state.isAwake = !table.isEmpty
      return state.isAwake
    }
    if isActive { schedule() }
  }
}
