internal import Dispatch
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// Feels whether the session still answers.
///
/// On Linux all sessions of a process share one queue, and libcurl stays on it as long as it can read
/// without having anything to report. A server that never pauses in its trailer fields, or in the
/// extension of a chunk, keeps it there for ever: then no task of the process gets anywhere, and none
/// can be cancelled. Nothing but the end of the process helps.
final class Pulse: Sendable {
  private struct State {
    var isAsking = false
    var hasStopped = false
    var silence = IdleCounter()
  }

  // Asking blocks while the session does not answer, so it has a thread of its own, one at most.
  private let queue = DispatchQueue(label: "URLSessionTransport.pulse")
  // Held for some nanoseconds.
  private let state = Mutex(State())
  private let limit: Duration

  init(limit: Duration) {
    self.limit = limit
  }

  /// Asks the session something, and counts how long it has not answered.
  ///
  /// - Parameters:
  ///   - sessionTask: Any task of the session.
  ///   - elapsed: The time since the last call.
  ///   - heldUp: Whether the session had to wait for us in that time, which is no silence of its own.
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
      // Of all that a task can be asked, this alone is answered on the session's own queue.
      _ = sessionTask.priority
      state.withLock { state in
        state.isAsking = false
        state.silence.sawEvent()
      }
    }
  }
}
