#if canImport(Darwin)
  internal import DownloadSync
  internal import Foundation

  /// Turns what a background session says into calls to sinks, on its queue.
  final class DownloadDelegate: NSObject, URLSessionDownloadDelegate {
    private let table: DownloadTaskTable
    private let events: BackgroundEvents
    /// Makes the resume data fit for this system.
    private let prepare: @Sendable (Data, _ recordID: String) throws -> Data

    init(
      table: DownloadTaskTable,
      events: BackgroundEvents,
      prepare: @escaping @Sendable (Data, _ recordID: String) throws -> Data
    ) {
      self.table = table
      self.events = events
      self.prepare = prepare
    }

    func urlSession(
      _ session: URLSession,
      downloadTask: URLSessionDownloadTask,
      didWriteData bytesWritten: Int64,
      totalBytesWritten: Int64,
      totalBytesExpectedToWrite: Int64
    ) {
      let total = totalBytesExpectedToWrite < 0 ? nil : totalBytesExpectedToWrite
      table.sink(of: downloadTask)?.report(held: totalBytesWritten, of: total)
      if table.copy(downloadTask, held: totalBytesWritten, of: total) {
        // The data comes with the end of the task, where it is taken from.
        downloadTask.cancel(byProducingResumeData: { _ in })
      }
    }

    func urlSession(
      _ session: URLSession,
      downloadTask: URLSessionDownloadTask,
      didResumeAtOffset fileOffset: Int64,
      expectedTotalBytes: Int64
    ) {
      let total = expectedTotalBytes
      table.sink(of: downloadTask)?.report(held: fileOffset, of: total < 0 ? nil : total)
    }

    func urlSession(
      _ session: URLSession,
      downloadTask: URLSessionDownloadTask,
      didFinishDownloadingTo location: URL
    ) {
      table.take(location, of: downloadTask)
    }

    func urlSession(
      _ session: URLSession,
      task: URLSessionTask,
      didCompleteWithError error: (any Error)?
    ) {
      guard table.takeAsked(task, error), let request = task.originalRequest else {
        return table.finish(task, with: error)
      }
      let data = (error as? NSError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
      let prepared = data.flatMap { try? prepare($0, task.taskDescription ?? "") }
      // Without resume data, the server has nothing to go on with: all of it comes again.
      let next =
        prepared.map { session.downloadTask(withResumeData: $0) }
        ?? session.downloadTask(with: request)
      next.taskDescription = task.taskDescription
      table.replace(task, with: next)
      next.resume()
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
      events.finish()
    }
  }
#endif
