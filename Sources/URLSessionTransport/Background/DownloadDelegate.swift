#if canImport(Darwin)
  internal import DownloadSync
  internal import Foundation

  /// Turns what a background session says into calls to sinks, on its queue.
  final class DownloadDelegate: NSObject, URLSessionDownloadDelegate {
    private let table: DownloadTaskTable
    private let events: BackgroundEvents

    init(table: DownloadTaskTable, events: BackgroundEvents) {
      self.table = table
      self.events = events
    }

    func urlSession(
      _ session: URLSession,
      downloadTask: URLSessionDownloadTask,
      didWriteData bytesWritten: Int64,
      totalBytesWritten: Int64,
      totalBytesExpectedToWrite: Int64
    ) {
      let total = totalBytesExpectedToWrite
      table.sink(of: downloadTask)?.report(held: totalBytesWritten, of: total < 0 ? nil : total)
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
      table.finish(task, with: error)
    }

    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
      events.finish()
    }
  }
#endif
