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
public protocol BackgroundTransport: Transport {
  /// Connects a sink to a task that an earlier process started.
  ///
  /// Everything that the sink has missed is passed to it immediately. A task that no longer exists
  /// ends with ``TaskOutcome/cancelled``.
  func adopt(_ task: TaskID, sink: any TaskSink)

  /// Deletes what the transport keeps of a task whose end has been committed to the store.
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
  public nonisolated func wakeTasks() {
    (transport as? any BackgroundTransport)?.wake()
  }
}
