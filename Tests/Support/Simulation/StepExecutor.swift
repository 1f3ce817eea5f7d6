internal import SystemInterface

/// Runs the jobs of an engine one at a time, on the simulation's thread and in the order that the
/// simulation selects.
///
/// Sinks do not run here.
package final class StepExecutor: TaskExecutor {
  // Used only by the simulation's thread, which also resumes every continuation.
  private let jobs = Mutex<[UnownedJob]>([])
  private let works = Mutex<[@Sendable () -> Void]>([])

  /// Creates an executor without jobs.
  package init() {}

  /// The number of jobs that are ready.
  package var jobCount: Int { jobs.withLock { $0.count } }
  /// The number of blocking work items that are ready.
  package var workCount: Int { works.withLock { $0.count } }

  /// Adds a job.
  ///
  /// The concurrency runtime calls this.
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Adds a work item that blocks on a disk.
  package func addWork(_ work: @escaping @Sendable () -> Void) {
    works.withLock { $0.append(work) }
  }

  /// Runs one of the ready jobs up to its next suspension.
  package func runJob(_ index: Int) {
    let job = jobs.withLock { $0.remove(at: index) }
    unsafe job.runSynchronously(on: asUnownedTaskExecutor())
  }

  /// Runs one of the work items to its end.
  package func runWork(_ index: Int) {
    let work = works.withLock { $0.remove(at: index) }
    work()
  }
}
