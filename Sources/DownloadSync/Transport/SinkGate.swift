internal import Synchronization

/// Keeps a sink's contract between threads: one call at a time, `finish` once and last.
///
/// Data arrives on one thread of a transport, while a cancel or a time-out comes from others. The
/// first outcome that is settled counts; from then on the sink hears nothing but the end.
package final class SinkGate: Sendable {
  private struct State {
    var outcome: TaskOutcome?
    var isInSink = false
    var hasHead = false
    var bytesReceived: Int64 = 0
  }

  /// The task's name within its transport.
  package let id: TaskID
  /// The record that the task works for.
  package let recordID: String
  private let sink: any TaskSink
  private let onFinish: @Sendable (TaskID) -> Void
  // Held for some nanoseconds and never while the sink is called.
  private let state = Mutex(State())

  /// Makes the gate to a sink.
  ///
  /// `onFinish` is called right before the sink hears the end.
  package init(
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

  /// The task as a value.
  package var snapshot: TaskSnapshot {
    TaskSnapshot(id: id, recordID: recordID, bytesReceived: state.withLock { $0.bytesReceived })
  }

  /// Whether the outcome is decided; the sink may not know it yet.
  package var hasEnded: Bool { state.withLock { $0.outcome != nil } }

  /// Whether the sink was given a response head.
  package var hasHead: Bool { state.withLock { $0.hasHead } }

  /// Whether the sink is being called at this moment.
  package var isInSink: Bool { state.withLock { $0.isInSink } }

  /// Hands a head to the sink; false if the task has ended, perhaps by this very call.
  package func receive(_ head: ResponseHead) -> Bool {
    guard enter() else { return false }
    state.withLock { $0.hasHead = true }
    return leave(sink.receive(head))
  }

  /// Hands bytes to the sink; false if the task has ended, perhaps by this very call.
  package func receive(_ bytes: Span<UInt8>) -> Bool {
    guard enter() else { return false }
    let disposition = sink.receive(bytes)
    let byteCount = Int64(bytes.count)
    state.withLock { $0.bytesReceived += byteCount }
    return leave(disposition)
  }

  /// Decides the outcome unless it is decided.
  ///
  /// True if the caller has to call ``finish()``; otherwise whoever is in the sink does so.
  package func settle(_ outcome: TaskOutcome) -> Bool {
    state.withLock { state in
      guard state.outcome == nil else { return false }
      state.outcome = outcome
      return !state.isInSink
    }
  }

  /// Tells the sink the outcome.
  ///
  /// Called once: by who settled it, or by who was in the sink then.
  package func finish() {
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
      if disposition == .cancel && state.outcome == nil { state.outcome = .cancelled }
      return state.outcome != nil
    }
    if hasEnded { finish() }
    return !hasEnded
  }
}
