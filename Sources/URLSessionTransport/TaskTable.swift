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
  private let tasks = LiveTaskTable<LiveTask>()
  // Held for a look into the dictionary.
  private let bySessionTask = Mutex<[Int: LiveTask]>([:])

  /// Makes a task with a name that no other task of the table had.
  func add(recordID: String, sink: any TaskSink) -> LiveTask {
    tasks.add(recordID: recordID, sink: sink) { LiveTask(gate: $0) }
  }

  /// The live task with that name.
  subscript(_ id: TaskID) -> LiveTask? { tasks[id] }

  /// The live task that a session task works for; `nil` for a hop that is over.
  subscript(_ sessionTask: URLSessionTask) -> LiveTask? {
    let identifier = sessionTask.taskIdentifier
    return bySessionTask.withLock { $0[identifier] }
  }

  /// All live tasks, oldest first.
  var all: [LiveTask] { tasks.all }

  /// A session task of those that work for the live tasks.
  var anySessionTask: URLSessionTask? {
    all.lazy.compactMap(\.sessionTask).first
  }

  /// Whether there is no live task.
  var isEmpty: Bool { tasks.isEmpty }

  /// Lets a session task speak for a live task.
  func bind(_ sessionTask: URLSessionTask, to task: LiveTask) {
    let identifier = sessionTask.taskIdentifier
    bySessionTask.withLock { $0[identifier] = task }
  }

  /// Takes a session task's voice, and says whom it spoke for.
  func unbind(_ sessionTask: URLSessionTask) -> LiveTask? {
    let identifier = sessionTask.taskIdentifier
    return bySessionTask.withLock { $0.removeValue(forKey: identifier) }
  }
}
