internal import DownloadStore
package import DownloadSync
internal import SystemInterface

/// A transport whose tasks do only what the test calls for.
///
/// The test also ends cancelled tasks.
package final class ManualTransport: Transport {
  /// A started task.
  package struct Started: Sendable {
    package var request: TaskRequest
    package var sink: any TaskSink
  }

  private struct State {
    var started: [Started] = []
    var cancelled: [TaskID] = []
    var left: [TaskSnapshot] = []
    var endsCancelled = false
  }

  // Held briefly: the engine starts and cancels tasks, the test reads them.
  private let state: Mutex<State>

  /// - Parameter left: The tasks that a previous engine left.
  package init(left: [TaskSnapshot] = []) {
    state = Mutex(State(left: left))
  }

  package var cancelled: [TaskID] { state.withLock { $0.cancelled } }
  package var started: [Started] { state.withLock { $0.started } }

  /// Ends cancelled tasks from now on as soon as they are cancelled.
  package func endCancelled() {
    let ended = state.withLock { state in
      state.endsCancelled = true
      return state.cancelled.map { state.started[Int($0.rawValue) - 1] }
    }
    for task in ended { task.sink.finish(.cancelled) }
  }

  package func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    state.withLock { state in
      state.started.append(Started(request: request, sink: sink))
      return TaskID(rawValue: UInt64(state.started.count))
    }
  }

  package func cancel(_ task: TaskID) {
    let ended = state.withLock { state in
      state.cancelled.append(task)
      return state.endsCancelled ? state.started[Int(task.rawValue) - 1] : nil
    }
    ended?.sink.finish(.cancelled)
  }

  package func liveTasks() async -> [TaskSnapshot] {
    state.withLock { $0.left }
  }
}

extension ManualTransport.Started {
  /// Delivers a response head for an entity of the given size, and bytes.
  package func receive(_ bytes: [UInt8], of size: Int) {
    let head = ResponseHead(
      status: 200,
      fields: [
        HeaderField(name: "Content-Length", value: "\(size)"),
        HeaderField(name: "ETag", value: "\"1\""),
      ]
    )
    _ = sink.receive(head)
    _ = sink.receive(bytes.span)
  }

  /// Delivers a file of three bytes, and ends the task.
  package func complete() {
    receive([1, 2, 3], of: 3)
    sink.finish(.completed)
  }
}
