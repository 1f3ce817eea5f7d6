#if canImport(Darwin)
  internal import DownloadSync
  internal import Foundation

  /// What a task of a background session has brought, all of it.
  struct Delivery: Sendable {
    /// The body.
    let file: DeliveryInbox.Delivery?
    private let resumeData: Data?
    private let end: TaskOutcome

    /// What a task has brought; `copy` is the resume data for where the task has left none.
    init(
      of task: URLSessionTask,
      offset: Int64,
      file: DeliveryInbox.Delivery?,
      copy: Data?,
      error: (any Error)?
    ) {
      self.file = file
      let data = (error as? NSError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
      // Of a part it would be taken for one of the whole.
      resumeData = offset == 0 ? data ?? copy : nil
      end = error.map { outcome(of: $0) } ?? .completed
    }

    /// What an earlier process has left.
    init(of file: DeliveryInbox.Delivery) {
      self.file = file
      resumeData = nil
      end = .completed
    }

    /// Tells a sink all of it: head and body, or what it may go on from; then the end.
    func tell(_ sink: any TaskSink) {
      guard end == .completed else {
        if let resumeData { sink.receive(resumeData: resumeData) }
        return sink.finish(end)
      }
      guard let file else {
        let message = "the session has delivered no file"
        return sink.finish(.failed(TaskFailure(code: .unknown, message: message)))
      }
      sink.finish(file.send(to: sink))
    }
  }
#endif
