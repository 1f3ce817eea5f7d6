internal import DownloadSync
internal import Foundation
internal import SystemInterface

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One task from its start to the last call to its sink, across redirects.
final class LiveTask: Sendable {
  private struct State {
    var prepared: PreparedRequest?
    var sessionTask: URLSessionDataTask?
    var idle = IdleCounter()
    var heldHead: ResponseHead?
  }

  let gate: SinkGate
  private let state = Mutex(State())

  init(gate: SinkGate) {
    self.gate = gate
  }

  // MARK: Calls to the sink

  /// Passes a head to the sink; returns false if the task has ended, possibly during this call.
  func receive(_ head: ResponseHead) -> Bool {
    // Time spent in the sink does not count as idle time.
    defer { sawEvent() }
    return gate.receive(head)
  }

  /// Passes bytes to the sink; returns false if the task has ended, possibly during this call.
  func receive(_ bytes: Span<UInt8>) -> Bool {
    defer { sawEvent() }
    return gate.receive(bytes)
  }

  // MARK: The session task

  /// The current or last request.
  var prepared: PreparedRequest? { state.withLock { $0.prepared } }

  /// Holds a head back until the first byte of its body, or the end, shows that it is the server's.
  ///
  /// On Linux the session also reports the answer of a proxy to CONNECT, before that of the server.
  func hold(_ head: ResponseHead) {
    state.withLock { $0.heldHead = head }
  }

  /// Removes and returns the head that is held back.
  func takeHeldHead() -> ResponseHead? {
    state.withLock { state in
      defer { state.heldHead = nil }
      return state.heldHead
    }
  }

  /// Sets the session task that runs the current request.
  func attach(_ sessionTask: URLSessionDataTask, for prepared: PreparedRequest) {
    state.withLock {
      $0.prepared = prepared
      $0.sessionTask = sessionTask
      $0.heldHead = nil
    }
  }

  /// The session task that runs the current request.
  var sessionTask: URLSessionDataTask? { state.withLock { $0.sessionTask } }

  /// Removes and returns the session task, for the caller to cancel.
  func detach() -> URLSessionDataTask? {
    state.withLock { state in
      defer { state.sessionTask = nil }
      return state.sessionTask
    }
  }

  // MARK: Idle time

  /// Notes that the session reported something for the task.
  func sawEvent() {
    state.withLock { $0.idle.sawEvent() }
  }

  /// Adds to the idle time; returns true once it exceeds `limit`.
  func isIdle(after elapsed: Duration, heldUp: Bool, limit: Duration) -> Bool {
    guard !gate.hasEnded, !gate.isInSink else { return false }
    return state.withLock { $0.idle.tick(elapsed, heldUp: heldUp) > limit }
  }
}
