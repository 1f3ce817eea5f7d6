#if canImport(Darwin)
  internal import DownloadSync
  internal import Foundation

  /// The delegate of a background session: forwards its callbacks to sinks, on the delegate queue.
  final class DownloadDelegate: NSObject, URLSessionDownloadDelegate {
    private let table: DownloadTaskTable
    private let events: BackgroundEvents
    /// Repairs resume data for this system.
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
        // The task's error contains the data, and is where it is read.
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
      guard table.takeAskedForResumeData(task, error), let request = task.originalRequest else {
        return table.finish(task, with: error)
      }
      let data = (error as? NSError)?.userInfo[NSURLSessionDownloadTaskResumeData] as? Data
      let prepared = data.flatMap { try? prepare($0, task.taskDescription ?? "") }
      // Without resume data the download restarts from the first byte.
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
