import Dispatch
import DownloadSync
import Synchronization

/// A transport without a network that records the times of its calls.
final class TimedTransport: Transport {
  /// The times at which tasks were started and cancelled, in nanoseconds of system uptime.
  let calls: AsyncStream<Int64>
  private let continuation: AsyncStream<Int64>.Continuation
  // Held for some nanoseconds: the engine starts and cancels tasks.
  private let sinks = Mutex<[any TaskSink]>([])

  init() {
    (calls, continuation) = AsyncStream.makeStream()
  }

  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    note()
    return sinks.withLock { sinks in
      sinks.append(sink)
      return TaskID(rawValue: UInt64(sinks.count))
    }
  }

  func cancel(_ task: TaskID) {
    note()
    let sink = sinks.withLock { $0[Int(task.rawValue) - 1] }
    DispatchQueue.global().async { sink.finish(.cancelled) }
  }

  func liveTasks() async -> [TaskSnapshot] { [] }

  private func note() {
    continuation.yield(Int64(DispatchTime.now().uptimeNanoseconds))
  }
}
