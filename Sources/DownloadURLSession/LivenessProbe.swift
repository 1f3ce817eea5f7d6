internal import Dispatch
internal import SystemInterface

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// A liveness probe for the session.
///
/// On Linux all sessions of a process share one queue, and libcurl occupies it as long as it can
/// read without anything to report. A server that sends trailer fields or a chunk extension without
/// end occupies it forever: no task of the process makes progress, and none can be cancelled. Only
/// ending the process helps.
final class LivenessProbe: Sendable {
  private struct State {
    var isAsking = false
    var hasStopped = false
    var silence = IdleCounter()
  }

  // The probe blocks while the session hangs, so it runs on its own thread, one at most.
  private let queue = DispatchQueue(label: "URLSessionTransport.livenessProbe")
  // Held for nanoseconds.
  private let state = Mutex(State())
  private let limit: Duration

  init(limit: Duration) {
    self.limit = limit
  }

  /// Probes the session and measures how long it has not answered.
  ///
  /// - Parameters:
  ///   - sessionTask: Any task of the session.
  ///   - elapsed: The time since the last call.
  ///   - heldUp: Whether the session had to wait for a sink in that time, which does not count.
  /// - Returns: True, once, when the session has not answered for as long as the limit.
  func hasStopped(asking sessionTask: URLSessionTask, _ elapsed: Duration, heldUp: Bool) -> Bool {
    let (asks, hasStopped) = state.withLock { state -> (Bool, Bool) in
      guard state.isAsking else {
        state.isAsking = true
        return (true, false)
      }
      guard state.silence.tick(elapsed, heldUp: heldUp) > limit, !state.hasStopped else {
        return (false, false)
      }
      state.hasStopped = true
      return (false, true)
    }
    if asks { ask(sessionTask) }
    return hasStopped
  }

  private func ask(_ sessionTask: URLSessionTask) {
    queue.async { [self] in
      // The only property of a task that is read on the session's queue.
      _ = sessionTask.priority
      state.withLock { state in
        state.isAsking = false
        state.silence.sawEvent()
      }
    }
  }
}
