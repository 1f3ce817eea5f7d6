#if AsyncHTTPClient
  internal import Dispatch

  /// Runs the code of tasks, their sinks among it, on threads of its own.
  ///
  /// A sink may block, on a disk say. Blocking one of the few threads that all of Swift's concurrency
  /// shares, or one of the client's event loops, would hold up what has nothing to do with it.
  final class SinkExecutor: TaskExecutor {
    private let queue = DispatchQueue(
      label: "AsyncHTTPClientTransport.sinks",
      attributes: .concurrent
    )

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async {
        unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
      }
    }
  }
#endif
