internal import SystemInterface

/// Enforces the contract of a sink across threads: one call at a time, and `finish` once and last.
///
/// Data arrives on one thread of a transport; cancels and time-outs come from other threads. The
/// first outcome that is settled counts. After it the sink receives only `finish`.
package final class SinkGate: Sendable {
  private struct State {
    var outcome: TaskOutcome?
    var isInSink = false
    var hasHead = false
    var bytesReceived: Int64 = 0
  }

  /// The task's id.
  package let id: TaskID
  /// The id of the task's record.
  package let recordID: String
  private let sink: any TaskSink
  private let onFinish: @Sendable (TaskID) -> Void
  // Held for nanoseconds; never during a call to the sink.
  private let state = Mutex(State())

  /// Creates the gate of a task.
  ///
  /// - Parameters:
  ///   - id: The task's id.
  ///   - recordID: The id of the task's record.
  ///   - sink: The sink of the task.
  ///   - onFinish: Called once, directly before the sink's `finish`.
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

  /// A snapshot of the task.
  package var snapshot: TaskSnapshot {
    TaskSnapshot(id: id, recordID: recordID, bytesReceived: state.withLock { $0.bytesReceived })
  }

  /// Whether the outcome is settled; the sink may not have received it yet.
  package var hasEnded: Bool { state.withLock { $0.outcome != nil } }

  /// Whether the sink has received a head.
  package var hasHead: Bool { state.withLock { $0.hasHead } }

  /// Whether a call to the sink is running.
  package var isInSink: Bool { state.withLock { $0.isInSink } }

  /// Passes a head to the sink; returns false if the task has ended, possibly during this call.
  package func receive(_ head: ResponseHead) -> Bool {
    guard enter() else { return false }
    state.withLock { $0.hasHead = true }
    return leave(sink.receive(head))
  }

  /// Passes bytes to the sink; returns false if the task has ended, possibly during this call.
  package func receive(_ bytes: Span<UInt8>) -> Bool {
    guard enter() else { return false }
    let disposition = sink.receive(bytes)
    let byteCount = Int64(bytes.count)
    state.withLock { $0.bytesReceived += byteCount }
    return leave(disposition)
  }

  /// Settles the outcome, unless it is already settled.
  ///
  /// - Returns: Whether the caller must call ``finish()``. If the sink is being called, that call
  ///   will do it.
  package func settle(_ outcome: TaskOutcome) -> Bool {
    state.withLock { state in
      guard state.outcome == nil else { return false }
      state.outcome = outcome
      return !state.isInSink
    }
  }

  /// Passes the outcome to the sink.
  ///
  /// Called exactly once: by the caller that settled the outcome or, if a call to the sink was
  /// running then, at the end of that call.
  package func finish() {
    guard let outcome = state.withLock({ $0.outcome }) else {
      preconditionFailure("finish() was called before the outcome was settled")
    }
    // Removed from the live tasks first: after `finish` the sink must not find its task there.
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

/// The live tasks of a transport, by id.
///
/// A task is removed when it ends, directly before its gate calls the sink's `finish`.
package final class LiveTaskTable<Task: Sendable>: Sendable {
  private struct State {
    var lastID: UInt64 = 0
    var tasks: [TaskID: Task] = [:]
  }

  // Held for a dictionary access; never during a call to a sink.
  private let state = Mutex(State())

  /// Creates an empty table.
  package init() {}

  /// Creates a task with an unused id and adds it.
  ///
  /// - Parameters:
  ///   - recordID: The id of the task's record.
  ///   - sink: The sink of the task.
  ///   - make: Creates the task with its gate. It runs under the table's lock and must not access
  ///     the table.
  /// - Returns: The task.
  package func add(
    recordID: String,
    sink: any TaskSink,
    _ make: (SinkGate) -> Task
  ) -> Task {
    state.withLock { state in
      state.lastID += 1
      let gate = SinkGate(id: TaskID(rawValue: state.lastID), recordID: recordID, sink: sink) {
        [weak self] id in
        self?.remove(id)
      }
      let task = make(gate)
      state.tasks[gate.id] = task
      return task
    }
  }

  /// The live task with an id; `nil` if there is none.
  package subscript(_ id: TaskID) -> Task? {
    state.withLock { $0.tasks[id] }
  }

  /// All live tasks, oldest first.
  package var all: [Task] {
    state.withLock { $0.tasks }.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
  }

  /// Whether there is no live task.
  package var isEmpty: Bool {
    state.withLock { $0.tasks.isEmpty }
  }

  private func remove(_ id: TaskID) {
    // Returned, so that it is released after the lock: it may hold the last reference to a sink,
    // and the sink's `deinit` may run any code.
    _ = state.withLock { $0.tasks.removeValue(forKey: id) }
  }
}
