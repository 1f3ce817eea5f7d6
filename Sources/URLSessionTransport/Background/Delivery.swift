#if canImport(Darwin)
  internal import DownloadSync
  internal import Foundation

  /// What a task of a background session has brought, all of it.
  struct Delivery: Sendable {
    private let head: ResponseHead?
    /// Where the body lies; it is ours.
    private let file: String?
    private let resumeData: Data?
    private let end: TaskOutcome
    /// The first byte that was asked for.
    private let offset: Int64

    init(of task: URLSessionTask, offset: Int64, file: String?, error: (any Error)?) {
      head = (task.response as? HTTPURLResponse).map(ResponseHead.init)
      self.file = file
      let data = (error as? NSError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
      // Of a part it would be taken for one of the whole.
      resumeData = offset == 0 ? data : nil
      end = error.map { outcome(of: $0) } ?? .completed
      self.offset = offset
    }

    /// Tells a sink all of it: head and body, or what it may go on from; then the end.
    func tell(_ sink: any TaskSink) {
      defer { discard() }
      guard end == .completed else {
        if let resumeData { sink.receive(resumeData: resumeData) }
        return sink.finish(end)
      }
      guard let head, let file else {
        return sink.finish(
          .failed(TaskFailure(code: .unknown, message: "the session has delivered no file"))
        )
      }
      do {
        let handle = try FileHandle(forReadingFrom: URL(filePath: file))
        defer { try? handle.close() }
        let size = try handle.seekToEnd()
        try handle.seek(toOffset: 0)
        let head = head.ofDelivery(byteCount: Int64(size), from: offset)
        guard sink.receive(head) == .proceed else { return sink.finish(.cancelled) }
        while let part = try handle.read(upToCount: 262_144), !part.isEmpty {
          guard sink.receive(part.span) == .proceed else { return sink.finish(.cancelled) }
        }
        sink.finish(.completed)
      } catch {
        sink.finish(.failed(TaskFailure(code: .unknown, message: "the delivered file: \(error)")))
      }
    }

    /// Deletes what was delivered.
    func discard() {
      if let file { try? FileManager.default.removeItem(atPath: file) }
    }
  }
#endif
