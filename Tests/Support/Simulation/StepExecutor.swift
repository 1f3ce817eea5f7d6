internal import Synchronization

/// Runs everything that an engine does beside its sinks, one job at a time, on the thread of the
/// simulation and in the order that the simulation chooses.
package final class StepExecutor: TaskExecutor {
  // Used by the thread of the simulation alone, which also resumes every continuation.
  private let jobs = Mutex<[UnownedJob]>([])
  private let works = Mutex<[@Sendable () -> Void]>([])

  /// Creates an executor with nothing to run.
  package init() {}

  /// How many jobs are ready.
  package var jobCount: Int { jobs.withLock { $0.count } }
  /// How many works wait for a thread that may wait.
  package var workCount: Int { works.withLock { $0.count } }

  /// Adds a job; the concurrency runtime calls it.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Adds work that waits for a disk.
  package func addWork(_ work: @escaping @Sendable () -> Void) {
    works.withLock { $0.append(work) }
  }

  /// Runs one of the jobs that are ready, up to its next suspension.
  package func runJob(_ index: Int) {
    let job = jobs.withLock { $0.remove(at: index) }
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Does one of the works, whole.
  package func runWork(_ index: Int) {
    let work = works.withLock { $0.remove(at: index) }
    work()
  }
}
