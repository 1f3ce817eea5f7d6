internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync

/// What has happened to the downloads of a run, for the lines at its end.
///
/// Pure: the caller passes the time.
struct RunReport: Sendable {
  /// The maximum number of failures in the report; more are counted.
  static let maximumFailures = 50

  private struct Start {
    /// The number of bytes that were on disk.
    var offset: Int64
    var time: ContinuousClock.Instant
    /// Whether the download asks for a newer version of its finished file.
    var isRefresh: Bool
  }

  /// The first start of each running download, by its id.
  private var starts: [String: Start] = [:]
  /// The lines of permanent failures, by id, in the order of the failures.
  private var failures: [(id: String, line: String)] = []
  private let start: ContinuousClock.Instant
  /// Returns the name of a download in a line.
  private let name: @Sendable (DownloadRecord) -> String
  /// The number of bytes that were received by completed downloads.
  private var byteCount: Int64 = 0
  private(set) var completed = 0
  /// The downloads whose last attempt has failed for good; a number for each, because a run may have a
  /// million of them.
  private var failedDownloads: Set<UInt64> = []
  var failed: Int { failedDownloads.count }
  /// The number of finished files of which the server has no newer version.
  private(set) var unchanged = 0
  /// The number of finished files that a newer version has replaced.
  private var updated = 0
  /// The number of finished files that the server does not have any more; they count as failed, too.
  private var goneFiles: Set<UInt64> = []
  private var gone: Int { goneFiles.count }
  /// The number of completed downloads whose bytes were copied from finished files.
  private(set) var copied = 0
  /// The number of their bytes.
  private var copiedByteCount: Int64 = 0
  /// The ids of the running downloads whose bytes are copied.
  private var copying: Set<String> = []

  init(
    start: ContinuousClock.Instant = .now,
    name: @escaping @Sendable (DownloadRecord) -> String = { $0.filename }
  ) {
    (self.start, self.name) = (start, name)
  }

  /// Notes an event.
  ///
  /// - Returns: The bytes and the time of a download that is now complete; `nil` for other events,
  ///   and for a download that has received nothing in this run.
  mutating func note(
    _ event: DownloadEvent,
    at now: ContinuousClock.Instant = .now
  ) -> TransferAmount? {
    switch event {
    case .started(let record, let offset):
      copying.remove(record.id)
      // Another command has started it again.
      noteNoFailure(of: record)
      let first = starts[record.id]
      // With several connections, bytes lie behind the offset, too.
      let before = record.hasGaps ? record.received : offset
      // Fewer bytes than at the first start mean that some were dropped.
      starts[record.id] = Start(
        offset: min(before, first?.offset ?? before),
        time: first?.time ?? now,
        isRefresh: record.refreshed != nil
      )
    case .copying(let record, _):
      copying.insert(record.id)
    case .completed(let record):
      completed += 1
      noteNoFailure(of: record)
      guard let first = starts.removeValue(forKey: record.id) else { return nil }
      if first.isRefresh { updated += 1 }
      let received = max(0, record.received - first.offset)
      if copying.remove(record.id) != nil {
        copied += 1
        copiedByteCount += received
      } else {
        byteCount += received
      }
      return TransferAmount(byteCount: received, duration: first.time.duration(to: now))
    case .unchanged(let record):
      unchanged += 1
      noteNoFailure(of: record)
      starts[record.id] = nil
    case .failed(let record, let failure):
      failedDownloads.insert(Self.number(of: record))
      starts[record.id] = nil
      // A refresh that fails has left the finished file.
      if failure.code == .notFound, record.state == .completed {
        goneFiles.insert(Self.number(of: record))
      }
      guard failures.count < Self.maximumFailures else { break }
      failures.append(
        (record.id, "\(name(record)): \(FailureSentence.reason(failure, record))")
      )
    case .rolledBack, .retrying, .waitingForDiskSpace, .released, .interceptorFailed, .missed: break
    }
    return nil
  }

  private mutating func noteNoFailure(of record: DownloadRecord) {
    guard failedDownloads.remove(Self.number(of: record)) != nil else { return }
    goneFiles.remove(Self.number(of: record))
    failures.removeAll { $0.id == record.id }
  }

  private static func number(of record: DownloadRecord) -> UInt64 {
    UInt64(record.id, radix: 16) ?? 0
  }

  /// Returns the lines at the end of a run; none if it had fewer than two downloads.
  ///
  /// - Parameters:
  ///   - unfinished: The number of downloads that have not ended, and their missing bytes; `nil`
  ///     bytes if a size is unknown.
  ///   - now: The time.
  /// - Returns: The counts, and the failures.
  func lines(
    unfinished: (count: Int, bytes: Int64?) = (0, 0),
    at now: ContinuousClock.Instant = .now
  ) -> [String] {
    let count = completed + unchanged + failed + unfinished.count
    guard count > 1 else { return [] }
    let amount = TransferAmount(byteCount: byteCount, duration: start.duration(to: now))
    let speed = "(\(ByteAmount.text(byteCount)) \(amount.text.prefix { $0 != "(" }.trimmedEnd))"
    let ofCopies =
      copied > 0 ? "\(copied) of them copied (\(ByteAmount.text(copiedByteCount))), " : ""
    let isRefresh = unchanged + updated + gone > 0
    let downloaded = completed - updated
    var head =
      isRefresh
      ? "\(count) files: \(updated) updated \(speed), "
        + (downloaded > 0 ? "\(downloaded) downloaded, " : "") + ofCopies
        + "\(unchanged) unchanged, "
        + "\(RefreshSentence.gone(gone))\(failed - gone) failed"
      : "\(count) downloads: \(completed) completed \(speed), \(ofCopies)\(failed) failed"
    if unfinished.count > 0 {
      let bytes = unfinished.bytes.map { " (\(ByteAmount.text($0)) missing)" } ?? ""
      head += ", \(unfinished.count) not finished\(bytes)"
    }
    guard !failures.isEmpty else { return [head] }
    head += ":"
    let more = failed - failures.count
    return [head] + failures.map { "  " + $0.line } + (more > 0 ? ["  … and \(more) more"] : [])
  }
}

extension Substring {
  fileprivate var trimmedEnd: Substring { last == " " ? dropLast() : self }
}
