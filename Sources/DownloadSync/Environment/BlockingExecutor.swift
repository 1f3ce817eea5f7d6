internal import Dispatch

/// An executor for a task that may block, with a thread of its own while the task runs.
///
/// The closure of an observation, for example, may block on a disk or a lock of the program. On a thread of
/// Swift's pool it would slow the engine, and on one processor, where the pool has one thread, stop it.
package final class BlockingExecutor: TaskExecutor {
  // A serial queue gets its own thread; a concurrent one would share those of the pool.
  private let queue = DispatchQueue(label: "Downloads.blocking")

  /// Creates an executor for one task.
  package init() {}

  /// Runs a job of the task.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async {
      unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
    }
  }
}
