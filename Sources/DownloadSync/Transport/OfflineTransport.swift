internal import DownloadStore
internal import SystemInterface

/// A transport that transfers nothing, for an engine that only reconciles records and files.
///
/// It has no connections, threads or files. A task that is started fails.
package final class OfflineTransport: Transport {
  // Held for one addition.
  private let lastID = Mutex<UInt64>(0)

  /// Creates the transport.
  package init() {}

  /// Ends the task with a failure.
  package func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    sink.finish(.failed(DownloadFailure(.unknown, "this engine does not transfer files")))
    return lastID.withLock { last in
      last += 1
      return TaskID(rawValue: last)
    }
  }

  /// Does nothing: each task has ended.
  package func cancel(_ task: TaskID) {}

  /// Returns no tasks.
  package func liveTasks() async -> [TaskSnapshot] { [] }
}
