package import DownloadStore
package import Foundation
package import ResumeData
internal import SystemInterface

/// A transport whose tasks store the received bytes in their own files and continue without the
/// process, like the tasks of Apple's background sessions.
///
/// The system owns the received bytes until the task has ended. Then the transport passes the head
/// and the body to the sink. A task that ends early leaves resume data if possible, from which
/// another task can continue (``TaskRequest/resumeData``). After a relaunch
/// ``Transport/liveTasks()`` returns the remaining tasks, including those that have ended without a
/// sink.
///
/// It differs from other transports in these points:
/// - ``Transport/cancel(_:)`` makes the task produce resume data. The sink may ignore it.
/// - The head describes the delivered body, not the last response: a task that continued from
///   resume data delivers a 200 with the length of the whole entity.
/// - A task with a ``TaskRequest/offset`` leaves no resume data; the range is requested again.
/// - A delivered body is kept until ``acknowledge(_:)``, even if the process dies. The next process
///   finds it in ``Transport/liveTasks()``, with ``TaskSnapshot/isDelivered`` set.
///
/// The engine connects its sinks to the remaining tasks after a relaunch:
///
/// ```swift
/// for task in await transport.liveTasks() {
///   transport.adopt(task.id, sink: makeSink(task.recordID))
///   if task.state == .suspended { transport.resume(task.id) }
/// }
/// for id in transport.keptRecordIDs where !isKnown(id) { transport.discardBytes(ofRecord: id) }
/// ```
public protocol BackgroundTransport: Transport {
  /// Connects a sink to a task that an earlier process started.
  ///
  /// Everything that the sink has missed is passed to it immediately. A task that no longer exists
  /// ends with ``TaskOutcome/cancelled``.
  func adopt(_ task: TaskID, sink: any TaskSink)

  /// Deletes what the transport keeps of a task whose end has been committed to the store.
  ///
  /// ```swift
  /// try await commit(outcome, of: task)
  /// transport.acknowledge(task)
  /// ```
  func acknowledge(_ task: TaskID)

  /// The ids of the records for which the transport keeps bytes outside its tasks, such as copies
  /// of their temporary files.
  var keptRecordIDs: [String] { get }

  /// Deletes the bytes that the transport keeps for a record outside its tasks.
  func discardBytes(ofRecord recordID: String)

  /// Resumes a suspended task.
  func resume(_ task: TaskID)

  /// Resumes running tasks that have stalled while the application was in the background.
  ///
  /// Needed on iOS 12.0 and 12.1, where such a task continues after a suspend and a resume. Call
  /// this when the application enters the foreground. Tasks that make progress are not affected.
  func wake()
}

extension DownloadEngine {
  /// Wakes tasks that stopped making progress while the application was in the background.
  ///
  /// Call this when the application comes to the foreground. It only affects a
  /// ``BackgroundTransport``.
  ///
  /// ```swift
  /// func sceneWillEnterForeground(_ scene: UIScene) { engine.wakeTasks() }
  /// ```
  public nonisolated func wakeTasks() {
    (transport as? any BackgroundTransport)?.wake()
  }
}

/// Holds the completion handler for the events of a background session, and calls it when all of
/// these events have been delivered.
///
/// The system passes the handler to
/// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`. After the call it
/// updates the application's snapshot and may suspend the application.
///
/// ```swift
/// let events = BackgroundEvents(identifier: "downloads")
/// // The application has received a handler from the system:
/// events.accept(identifier: identifier) { completionHandler() }
/// // The session has delivered all events:
/// events.finish()
/// ```
public final class BackgroundEvents: Sendable {
  /// The identifier of the session.
  public let identifier: String
  // Held to exchange the handler. A handler is never called under the lock.
  private let handler = Mutex<(@MainActor @Sendable () -> Void)?>(nil)

  /// Creates an instance without a handler.
  ///
  /// - Parameter identifier: The identifier of the session whose handlers are accepted.
  public init(identifier: String) {
    self.identifier = identifier
  }

  /// Stores a handler until ``finish()``, unless it belongs to another session.
  ///
  /// A handler that is already stored is called immediately: the new one covers its events too.
  ///
  /// - Parameters:
  ///   - identifier: The session identifier that the system passed with the handler.
  ///   - new: The handler; called once, on the main actor.
  /// - Returns: Whether the handler belongs to this session and was stored.
  @discardableResult
  public func accept(
    identifier: String,
    handler new: @escaping @MainActor @Sendable () -> Void
  ) -> Bool {
    guard identifier == self.identifier else { return false }
    let old = handler.withLock { handler in
      defer { handler = new }
      return handler
    }
    if let old { Self.call(old) }
    return true
  }

  /// Calls the stored handler once, on the main actor, and removes it.
  ///
  /// A background transport calls this when the session reports that all events have been
  /// delivered. Without a stored handler it does nothing.
  public func finish() {
    let last = handler.withLock { $0.take() }
    if let last { Self.call(last) }
  }

  private static func call(_ handler: @escaping @MainActor @Sendable () -> Void) {
    Task { @MainActor in handler() }
  }
}

/// Converts resume data to the form that a system accepts.
package enum ResumeDataPreparation {
  /// Returns resume data repaired for a system.
  ///
  /// Store the original data, not the result: a later system accepts the original bytes.
  ///
  /// - Throws: `DownloadFailure` with `unknown` if the data cannot be read or repaired. The engine
  ///   then drops it and restarts the download from the first byte.
  package static func prepared(
    _ resumeData: Data,
    for consumer: URLSessionResumeData.Consumer
  ) throws(DownloadFailure) -> Data {
    do {
      return Data(try URLSessionResumeData(Array(resumeData)).prepared(for: consumer).bytes)
    } catch {
      throw DownloadFailure(.unknown, "the resume data cannot be used: \(error)")
    }
  }
}
