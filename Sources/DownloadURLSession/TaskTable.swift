internal import DownloadSync
internal import Foundation
internal import SystemInterface

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// The live tasks, by their own id and by the identifier of their session task.
///
/// The session's own list cannot be used: reading it while tasks start and end crashes on Linux.
final class TaskTable: Sendable {
  private let tasks = LiveTaskTable<LiveTask>()
  // Held for a dictionary access.
  private let bySessionTask = Mutex<[Int: LiveTask]>([:])

  /// Creates a task with an unused id.
  func add(recordID: String, sink: any TaskSink) -> LiveTask {
    tasks.add(recordID: recordID, sink: sink) { LiveTask(gate: $0) }
  }

  /// The live task with the id.
  subscript(_ id: TaskID) -> LiveTask? { tasks[id] }

  /// The live task of a session task; `nil` for an abandoned session task.
  subscript(_ sessionTask: URLSessionTask) -> LiveTask? {
    let identifier = sessionTask.taskIdentifier
    return bySessionTask.withLock { $0[identifier] }
  }

  /// All live tasks, oldest first.
  var all: [LiveTask] { tasks.all }

  /// Any session task of the live tasks.
  var anySessionTask: URLSessionTask? {
    all.lazy.compactMap(\.sessionTask).first
  }

  /// Whether there is no live task.
  var isEmpty: Bool { tasks.isEmpty }

  /// Associates a session task with a live task.
  func bind(_ sessionTask: URLSessionTask, to task: LiveTask) {
    let identifier = sessionTask.taskIdentifier
    bySessionTask.withLock { $0[identifier] = task }
  }

  /// Removes a session task's association and returns its live task.
  func unbind(_ sessionTask: URLSessionTask) -> LiveTask? {
    let identifier = sessionTask.taskIdentifier
    return bySessionTask.withLock { $0.removeValue(forKey: identifier) }
  }
}
