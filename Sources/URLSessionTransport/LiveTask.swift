internal import DownloadSync
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One task from its start to the last call to its sink, over all of its hops.
final class LiveTask: Sendable {
  private struct State {
    var hop: Hop?
    var sessionTask: URLSessionDataTask?
    var idle = IdleCounter()
  }

  let gate: SinkGate
  private let state = Mutex(State())

  init(gate: SinkGate) {
    self.gate = gate
  }

  // MARK: Calls to the sink

  /// Hands a head to the sink; false if the task has ended, perhaps by this very call.
  func receive(_ head: ResponseHead) -> Bool {
    // The sink's time is not the server's silence.
    defer { sawEvent() }
    return gate.receive(head)
  }

  /// Hands bytes to the sink; false if the task has ended, perhaps by this very call.
  func receive(_ bytes: Span<UInt8>) -> Bool {
    defer { sawEvent() }
    return gate.receive(bytes)
  }

  // MARK: The hop in the session

  /// The request that is running, or the last one.
  var hop: Hop? { state.withLock { $0.hop } }

  /// Notes the session task that works for this one from now on.
  func attach(_ sessionTask: URLSessionDataTask, for hop: Hop) {
    state.withLock {
      $0.hop = hop
      $0.sessionTask = sessionTask
    }
  }

  /// The session task that works for this one.
  var sessionTask: URLSessionDataTask? { state.withLock { $0.sessionTask } }

  /// Gives the session task away, to be cancelled.
  func detach() -> URLSessionDataTask? {
    state.withLock { state in
      defer { state.sessionTask = nil }
      return state.sessionTask
    }
  }

  // MARK: Silence

  /// Notes that the session had something to say about the task.
  func sawEvent() {
    state.withLock { $0.idle.sawEvent() }
  }

  /// Counts silence; true once it is longer than `limit`.
  func isIdle(after elapsed: Duration, heldUp: Bool, limit: Duration) -> Bool {
    guard !gate.hasEnded, !gate.isInSink else { return false }
    return state.withLock { $0.idle.tick(elapsed, heldUp: heldUp) > limit }
  }
}
