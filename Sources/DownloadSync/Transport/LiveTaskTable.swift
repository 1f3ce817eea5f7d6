internal import SystemInterface

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
