#if AsyncHTTPClient
  internal import Dispatch

  /// An executor with its own threads, which runs tasks and their sinks.
  ///
  /// A sink may block, for example on a disk. It must not block a thread of Swift's shared pool or
  /// one of the client's event loops.
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
