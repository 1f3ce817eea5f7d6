internal import Synchronization

/// The live tasks of a transport, by their name.
///
/// A task leaves when its gate has told the sink how it ended.
package final class LiveTaskTable<Task: Sendable>: Sendable {
  private struct State {
    var lastID: UInt64 = 0
    var tasks: [TaskID: Task] = [:]
  }

  // Held for a look into the dictionary, and never while a sink is called.
  private let state = Mutex(State())

  /// Makes a table without tasks.
  package init() {}

  /// Makes a task with a name that no other task of the table had.
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

  /// The live task with that name.
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
    // The last reference may go with it, and what a sink does when it is released is not ours to
    // run under the lock.
    _ = state.withLock { $0.tasks.removeValue(forKey: id) }
  }
}
