internal import Dispatch
internal import DownloadSync
internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Makes, resumes and cancels session tasks, one after the other, on a queue of its own.
///
/// On Linux each of these calls waits for the session's work queue. That queue may itself wait for
/// the bounded delegate queue, and with the delegate queue for a sink. So none of the calls may be
/// made by a sink's thread or by a caller that holds a lock: both would deadlock. One serial queue
/// also keeps a cancel behind the start that it is for, and holds one thread where a global queue
/// would grow one for each call that waits.
final class HopQueue: Sendable {
  private let queue = DispatchQueue(label: "URLSessionTransport.hops")
  /// Where sinks hear of an end that did not come from the session.
  private let endings = DispatchQueue(label: "URLSessionTransport.endings")
  private let table: TaskTable
  /// Written and read on ``queue`` alone; the lock is for the compiler.
  private let isClosed = Mutex(false)

  init(table: TaskTable) {
    self.table = table
  }

  /// Sends a request for a task, unless the task ends before its turn comes.
  func open(_ hop: Hop, for task: LiveTask, in session: URLSession) {
    queue.async { [self] in
      guard !task.gate.hasEnded else { return }
      // A session task in an invalidated session ends the process.
      guard !isClosed.withLock({ $0 }) else { return end(task, .cancelled) }
      let sessionTask = session.dataTask(with: hop.urlRequest)
      sessionTask.taskDescription = task.gate.recordID
      task.attach(sessionTask, for: hop)
      table.bind(sessionTask, to: task)
      sessionTask.resume()
    }
  }

  /// Ends a task from outside the session: at once for its sink, soon for the network.
  func end(_ task: LiveTask, _ outcome: TaskOutcome) {
    let isOurs = task.gate.settle(outcome)
    // First, so that what a sink starts when it hears the end comes behind it.
    cancelHop(of: task)
    if isOurs {
      endings.async { task.gate.finish() }
    }
  }

  /// Cancels the session task of a task that has ended for its sink.
  func cancelHop(of task: LiveTask) {
    queue.async { [table] in
      guard let sessionTask = task.detach() else { return }
      _ = table.unbind(sessionTask)
      sessionTask.cancel()
    }
  }

  /// Cancels a session task that nobody listens to any more.
  func cancel(_ sessionTask: URLSessionTask) {
    queue.async { sessionTask.cancel() }
  }

  /// Ends the session, after which hops are refused.
  func close(_ session: URLSession) {
    queue.async { [self] in
      isClosed.withLock { $0 = true }
      session.invalidateAndCancel()
    }
  }
}
