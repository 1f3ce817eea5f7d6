package import DownloadSync
internal import SystemInterface

/// A background session whose tasks do only what the test calls for.
///
/// It records what the engine does with the tasks that a previous engine left. A task that was
/// adopted ends when it is cancelled.
package final class ManualBackgroundTransport: BackgroundTransport {
  /// A call of the engine about a task or a record.
  package enum Call: Sendable, Hashable {
    case adopt(UInt64)
    case acknowledge(UInt64)
    case cancel(UInt64)
    case resume(UInt64)
    case discardBytes(recordID: String)
  }

  private struct State {
    var calls: [Call] = []
    var adopted: [TaskID: any TaskSink] = [:]
  }

  /// The transport of the tasks that this engine starts.
  package let tasks: ManualTransport
  package let keptRecordIDs: [String]
  private let left: [TaskSnapshot]
  // Held briefly, never during a call to a sink.
  private let state = Mutex(State())

  /// - Parameters:
  ///   - tasks: The transport of the tasks that the engine starts.
  ///   - left: The tasks that a previous engine left. Their ids are none of `tasks`.
  ///   - keptRecordIDs: The ids of the records for which the session keeps bytes.
  package init(
    tasks: ManualTransport,
    left: [TaskSnapshot] = [],
    keptRecordIDs: [String] = []
  ) {
    self.tasks = tasks
    self.left = left
    self.keptRecordIDs = keptRecordIDs
  }

  /// The calls about tasks that a previous engine left, in order.
  package var calls: [Call] { state.withLock { $0.calls } }

  private func note(_ call: Call) {
    state.withLock { $0.calls.append(call) }
  }

  package func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    tasks.start(request, sink: sink)
  }

  package func cancel(_ task: TaskID) {
    guard left.contains(where: { $0.id == task }) else { return tasks.cancel(task) }
    note(.cancel(task.rawValue))
    let sink = state.withLock { $0.adopted.removeValue(forKey: task) }
    sink?.finish(.cancelled)
  }

  package func liveTasks() async -> [TaskSnapshot] { left }

  package func adopt(_ task: TaskID, sink: any TaskSink) {
    state.withLock { state in
      state.calls.append(.adopt(task.rawValue))
      state.adopted[task] = sink
    }
  }

  package func acknowledge(_ task: TaskID) {
    // The engine also acknowledges the tasks that it has started.
    if left.contains(where: { $0.id == task }) { note(.acknowledge(task.rawValue)) }
  }

  package func discardBytes(ofRecord recordID: String) {
    note(.discardBytes(recordID: recordID))
  }

  package func resume(_ task: TaskID) { note(.resume(task.rawValue)) }
  package func wake() {}
}
