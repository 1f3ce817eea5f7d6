internal import DownloadSync
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The live tasks, by their own name and by the identifier of the session task that works for them.
///
/// The session has such a list too, but reading it while tasks start and end crashes on Linux.
final class TaskTable: Sendable {
  private struct State {
    var lastID: UInt64 = 0
    var tasks: [TaskID: LiveTask] = [:]
    var bySessionTask: [Int: LiveTask] = [:]
  }

  private let state = Mutex(State())

  /// Makes a task with a name that no other task of the table had.
  func add(recordID: String, sink: any TaskSink) -> LiveTask {
    state.withLock { state in
      state.lastID += 1
      let gate = SinkGate(id: TaskID(rawValue: state.lastID), recordID: recordID, sink: sink) {
        [weak self] id in
        self?.remove(id)
      }
      let task = LiveTask(gate: gate)
      state.tasks[gate.id] = task
      return task
    }
  }

  /// The live task with that name.
  subscript(_ id: TaskID) -> LiveTask? {
    state.withLock { $0.tasks[id] }
  }

  /// The live task that a session task works for; `nil` for a hop that is over.
  subscript(_ sessionTask: URLSessionTask) -> LiveTask? {
    let identifier = sessionTask.taskIdentifier
    return state.withLock { $0.bySessionTask[identifier] }
  }

  /// All live tasks, oldest first.
  var all: [LiveTask] {
    state.withLock { Array($0.tasks.values) }.sorted { $0.gate.id.rawValue < $1.gate.id.rawValue }
  }

  /// A session task of those that work for the live tasks.
  var anySessionTask: URLSessionTask? {
    all.lazy.compactMap(\.sessionTask).first
  }

  /// Whether there is no live task.
  var isEmpty: Bool {
    state.withLock { $0.tasks.isEmpty }
  }

  /// Lets a session task speak for a live task.
  func bind(_ sessionTask: URLSessionTask, to task: LiveTask) {
    let identifier = sessionTask.taskIdentifier
    state.withLock { $0.bySessionTask[identifier] = task }
  }

  /// Takes a session task's voice, and says whom it spoke for.
  func unbind(_ sessionTask: URLSessionTask) -> LiveTask? {
    let identifier = sessionTask.taskIdentifier
    return state.withLock { $0.bySessionTask.removeValue(forKey: identifier) }
  }

  private func remove(_ id: TaskID) {
    // The last reference may go with it, and what a sink does when it is released is not ours to
    // run under the lock.
    _ = state.withLock { $0.tasks.removeValue(forKey: id) }
  }
}
