internal import DownloadSync
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// One task from its start to the last call to its sink.
///
/// Data arrives on the delegate queue, while a cancel or a time-out comes from elsewhere. This type
/// keeps the sink's contract between them: one call at a time, `finish` once and last.
final class LiveTask: Sendable {
  private struct State {
    var outcome: TaskOutcome?
    var isInSink = false
    var hasHead = false
    var bytesReceived: Int64 = 0
    var hop: Hop?
    var sessionTask: URLSessionDataTask?
    var idle = IdleCounter()
  }

  let id: TaskID
  let recordID: String
  private let sink: any TaskSink
  private let onFinish: @Sendable (TaskID) -> Void
  private let state = Mutex(State())

  init(
    id: TaskID,
    recordID: String,
    sink: any TaskSink,
    onFinish: @escaping @Sendable (TaskID) -> Void
  ) {
    self.id = id
    self.recordID = recordID
    self.sink = sink
    self.onFinish = onFinish
  }

  var snapshot: TaskSnapshot {
    TaskSnapshot(id: id, recordID: recordID, bytesReceived: state.withLock { $0.bytesReceived })
  }

  /// Whether the outcome is decided; the sink may not know it yet.
  var hasEnded: Bool { state.withLock { $0.outcome != nil } }

  /// Whether the sink was given a response head.
  var hasHead: Bool { state.withLock { $0.hasHead } }

  // MARK: Calls to the sink

  /// Hands a head to the sink; false if the task has ended, perhaps by this very call.
  func receive(_ head: ResponseHead) -> Bool {
    guard enter() else { return false }
    state.withLock { $0.hasHead = true }
    return leave(sink.receive(head))
  }

  /// Hands bytes to the sink; false if the task has ended, perhaps by this very call.
  func receive(_ bytes: Span<UInt8>) -> Bool {
    guard enter() else { return false }
    let disposition = sink.receive(bytes)
    let byteCount = Int64(bytes.count)
    state.withLock { $0.bytesReceived += byteCount }
    return leave(disposition)
  }

  /// Decides the outcome unless it is decided.
  ///
  /// True if the caller has to call ``finish()``; otherwise whoever is in the sink does so.
  func settle(_ outcome: TaskOutcome) -> Bool {
    state.withLock { state in
      guard state.outcome == nil else { return false }
      state.outcome = outcome
      return !state.isInSink
    }
  }

  /// Tells the sink the outcome.
  ///
  /// Called once: by who settled it, or by who was in the sink then.
  func finish() {
    guard let outcome = state.withLock({ $0.outcome }) else {
      preconditionFailure("a task finishes after its outcome is settled")
    }
    // Forgotten first: a sink that has heard the end must not find the task among the live ones.
    onFinish(id)
    sink.finish(outcome)
  }

  private func enter() -> Bool {
    state.withLock { state in
      guard state.outcome == nil else { return false }
      state.isInSink = true
      return true
    }
  }

  private func leave(_ disposition: BodyDisposition) -> Bool {
    let hasEnded = state.withLock { state in
      state.isInSink = false
      state.idle.sawEvent()
      if disposition == .cancel && state.outcome == nil { state.outcome = .cancelled }
      return state.outcome != nil
    }
    if hasEnded { finish() }
    return !hasEnded
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
    state.withLock { state in
      guard state.outcome == nil, !state.isInSink else { return false }
      return state.idle.tick(elapsed, heldUp: heldUp) > limit
    }
  }
}
