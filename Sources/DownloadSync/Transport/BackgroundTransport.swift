/// A transport whose tasks keep the bytes in files of their own and go on without the process, as
/// those of a background session of Apple's do.
///
/// What arrives is the system's until a task has ended: then the transport hands the body to the
/// sink, head first. A task that ends earlier leaves resume data, if it can, with which
/// another one goes on (``TaskRequest/resumeData``). After a relaunch ``Transport/liveTasks()``
/// tells of the tasks that are left, and of those whose end nobody has heard.
///
/// What it gives differs from other transports in this:
/// - ``Transport/cancel(_:)`` has the task produce resume data; a sink that wants none drops it.
/// - The head describes the body that follows it: that of a task which went on from resume data is
///   a 200 with the length of the whole.
/// - A task for a part (``TaskRequest/offset``) leaves no resume data: the part is asked for again.
/// - A delivered body is kept until ``acknowledge(_:)``, also when the process dies: a later process
///   finds it among ``Transport/liveTasks()``, as ``TaskSnapshot/isDelivered``.
public protocol BackgroundTransport: Transport {
  /// Has a sink hear of a task that was left, from here on: what it would have heard and has not
  /// is told at once.
  ///
  /// A task that is not there any more ends with ``TaskOutcome/cancelled``.
  func adopt(_ task: TaskID, sink: any TaskSink)

  /// Notes that the end of a task is committed: what the transport keeps of the task is deleted.
  func acknowledge(_ task: TaskID)

  /// The ids of the records for which the transport keeps bytes beside its tasks.
  var keptRecordIDs: [String] { get }

  /// Deletes what the transport keeps for a record beside its tasks.
  func discardBytes(ofRecord recordID: String)

  /// Has a suspended task go on.
  func resume(_ task: TaskID)

  /// Has tasks go on that the system has let fall silent while the application was not in front.
  ///
  /// iOS 12.0 and 12.1 needed a suspend and a resume for it. To be called when an application
  /// comes to the front; does nothing to tasks that run.
  func wake()
}
