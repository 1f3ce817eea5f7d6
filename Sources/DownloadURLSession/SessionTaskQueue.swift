internal import Dispatch
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import SystemInterface

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Creates, resumes and cancels session tasks one at a time, on a private serial queue.
///
/// On Linux each of these calls waits for the session's work queue, which may wait for the bounded
/// delegate queue and so for a sink. A call by a sink's thread, or by a caller that holds a lock,
/// would deadlock. The serial queue also keeps a cancel behind its start, and blocks a single
/// thread.
final class SessionTaskQueue: Sendable {
  private let queue = DispatchQueue(label: "URLSessionTransport.sessionTasks")
  /// The queue on which sinks receive an end that does not come from the session.
  private let endings = DispatchQueue(label: "URLSessionTransport.endings")
  private let table: TaskTable
  /// Accessed on ``queue`` only; the lock satisfies the compiler.
  private let isClosed = Mutex(false)

  init(table: TaskTable) {
    self.table = table
  }

  /// Sends a request for a task, unless the task ends first.
  func open(_ prepared: PreparedRequest, for task: LiveTask, in session: URLSession) {
    queue.async { [self] in
      guard !task.gate.hasEnded else { return }
      // Creating a session task in an invalidated session crashes the process.
      guard !isClosed.withLock({ $0 }) else { return end(task, .cancelled) }
      let request: URLRequest
      do throws(DownloadFailure) {
        request = try prepared.urlRequest
      } catch {
        return end(task, .failed(error))
      }
      let sessionTask = session.dataTask(with: request)
      sessionTask.taskDescription = task.gate.recordID
      task.attach(sessionTask, for: prepared)
      table.bind(sessionTask, to: task)
      sessionTask.resume()
    }
  }

  /// Ends a task: immediately for its sink, soon after for the network.
  func end(_ task: LiveTask, _ outcome: TaskOutcome) {
    let isOurs = task.gate.settle(outcome)
    // First, so that requests that the sink starts in `finish` are queued behind it.
    cancelSessionTask(of: task)
    if isOurs {
      endings.async { task.gate.finish() }
    }
  }

  /// Cancels the session task of a task whose sink has received `finish`.
  func cancelSessionTask(of task: LiveTask) {
    queue.async { [table] in
      guard let sessionTask = task.detach() else { return }
      _ = table.unbind(sessionTask)
      sessionTask.cancel()
    }
  }

  /// Cancels a session task that no longer belongs to a task.
  func cancel(_ sessionTask: URLSessionTask) {
    queue.async { sessionTask.cancel() }
  }

  /// Invalidates the session.
  ///
  /// Later requests are refused.
  func close(_ session: URLSession) {
    queue.async { [self] in
      isClosed.withLock { $0 = true }
      session.invalidateAndCancel()
    }
  }
}
