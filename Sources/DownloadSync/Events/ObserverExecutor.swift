internal import Dispatch

/// An executor for the closure of an observation, with a thread of its own while the closure runs.
///
/// The closure may block, for example on a disk or a lock of the program. On a thread of Swift's
/// pool it would slow the engine, and on one processor, where the pool has one thread, stop it.
final class ObserverExecutor: TaskExecutor {
  // A serial queue gets its own thread; a concurrent one would share those of the pool.
  private let queue = DispatchQueue(label: "DownloadEngine.observer")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
