#if canImport(Darwin)
  internal import DownloadStore
  internal import DownloadSync
  internal import Foundation

  /// The results of an ended task of a background session.
  struct Delivery: Sendable {
    /// The body.
    let file: DeliveryInbox.Delivery?
    private let resumeData: Data?
    private let end: TaskOutcome

    /// Creates the results of a task; `copy` is used if the task left no resume data.
    init(
      of task: URLSessionTask,
      offset: Int64,
      file: DeliveryInbox.Delivery?,
      copy: Data?,
      error: (any Error)?
    ) {
      self.file = file
      let data = (error as? NSError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
      // Resume data of a range request would be taken for that of the whole entity.
      resumeData = offset == 0 ? data ?? copy : nil
      let url = task.originalRequest?.url.flatMap { try? RequestURL($0.absoluteString) }
      let peers = url.map { TransferPeers($0) } ?? .unnamed
      end = error.map { outcome(of: $0, peers) } ?? .completed
    }

    /// Creates the results of a task that delivered a file to an earlier process.
    init(of file: DeliveryInbox.Delivery) {
      self.file = file
      resumeData = nil
      end = .completed
    }

    /// Passes the results to a sink: the head and the body, or the resume data; then the outcome.
    func tell(_ sink: any TaskSink) {
      guard end == .completed else {
        if let resumeData { sink.receive(resumeData: resumeData) }
        return sink.finish(end)
      }
      guard let file else {
        let message = "the session delivered no file"
        return sink.finish(.failed(DownloadFailure(.unknown, message)))
      }
      sink.finish(file.send(to: sink))
    }
  }
#endif
