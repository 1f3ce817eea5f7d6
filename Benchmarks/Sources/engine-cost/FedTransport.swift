import DownloadStore
import DownloadSync
import Synchronization

/// A transport without a network whose tasks receive bytes from `feed()`.
final class FedTransport: Transport {
  // Held for some nanoseconds: the engine adds sinks, and the measurement reads them.
  private let sinks = Mutex<[any TaskSink]>([])

  var count: Int { sinks.withLock { $0.count } }

  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    sinks.withLock { sinks in
      sinks.append(sink)
      return TaskID(rawValue: UInt64(sinks.count))
    }
  }

  func cancel(_ task: TaskID) {}

  func liveTasks() async -> [TaskSnapshot] { [] }

  /// Delivers the head of a response to every task.
  func answer() {
    let head = ResponseHead(
      status: 200,
      fields: [
        HeaderField(name: "Content-Length", value: "1048576"),
        HeaderField(name: "ETag", value: "\"1\""),
      ]
    )
    for sink in sinks.withLock({ $0 }) { _ = sink.receive(head) }
  }

  /// Delivers some bytes to every task, and returns their number per task.
  func feed() -> Int {
    let bytes = [UInt8](repeating: 7, count: 100)
    for sink in sinks.withLock({ $0 }) { _ = sink.receive(bytes.span) }
    return bytes.count
  }

  func end() {
    for sink in sinks.withLock({ $0 }) { sink.finish(.cancelled) }
  }
}
