internal import DownloadStore

/// What a reader of the bytes of a download does next.
///
/// Pure. The reader gives out only bytes that are synced and counted in the record, so they are the same
/// after a crash. Once it has given out some, they must stay what they were.
enum ByteStep: Sendable, Hashable {
  /// Read the bytes from the position to this offset.
  case read(upTo: Int64)
  /// Wait for a change of the record.
  case wait
  /// There are no more bytes.
  case end
  /// The bytes that were given out are not those of the file.
  case changed
  /// The download has failed for good.
  case failed(DownloadFailure)
  /// The user has cancelled or removed the download.
  case cancelled

  /// Decides.
  ///
  /// - Parameters:
  ///   - record: The record; `nil` if there is none any more.
  ///   - given: The bytes that the reader has given out.
  init(_ record: DownloadRecord?, given: GivenBytes) {
    // Without an engine, a download that is to be cancelled or removed keeps its state.
    guard let record,
      record.state == .completed || ![.cancel, .remove].contains(record.intent)
    else {
      self = .cancelled
      return
    }
    let position = given.range.upperBound
    switch record.state {
    case .completed:
      let isShorter = !given.range.isEmpty && position > record.received
      guard !isShorter, !given.mayDiffer(from: record) else {
        self = .changed
        return
      }
      self = position < record.received ? .read(upTo: record.received) : .end
    case .cancelled, .removed:
      self = .cancelled
    case .failedPermanent:
      self = .failed(record.attempts.last?.failure ?? DownloadFailure(.unknown, "it failed"))
    case .waiting, .running, .paused, .failedRetryable, .finalizing:
      guard record.committed.contains(given.range), !given.mayDiffer(from: record) else {
        self = .changed
        return
      }
      let range = record.committed.ranges.first { $0.contains(position) }
      self = range.map { .read(upTo: $0.upperBound) } ?? .wait
    }
  }
}
