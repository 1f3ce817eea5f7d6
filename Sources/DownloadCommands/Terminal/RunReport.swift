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

  /// How a refresh, or a download that failed, has ended.
  private enum End {
    /// A newer version has replaced the finished file.
    case updated
    /// The server has no newer version.
    case unchanged
    case failed
    /// The server does not have the file of a refresh any more.
    case gone
  }

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
  /// The number of completed downloads other than refreshes.
  private var downloaded = 0
  /// The ends of refreshes and of failed downloads.
  ///
  /// A file that is refreshed several times, also because of other commands, counts once. A number for
  /// each, because a run may have a million of them.
  private var ends: [UInt64: End] = [:]
  private var counts: [End: Int] = [:]
  var completed: Int { downloaded + ended(.updated) }
  /// The number of downloads whose last attempt has failed for good.
  ///
  /// One that another command has started again, such as a hook, counts by its next end.
  var failed: Int { ended(.failed) + ended(.gone) }
  /// The numbers of downloads that have failed, were started again, and have not ended since.
  private var restarted: Set<UInt64> = []
  /// The number of downloads that have failed and are not complete since, for the exit code.
  ///
  /// One that was started again and then paused or removed has not ended again.
  var incomplete: Int { failed + restarted.count }
  /// Whether no event was missed.
  private(set) var isComplete = true
  /// The number of finished files of which the server has no newer version.
  var unchanged: Int { ended(.unchanged) }
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
      if noteNoFailure(of: record) { restarted.insert(Self.number(of: record)) }
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
      noteNoFailure(of: record)
      restarted.remove(Self.number(of: record))
      let first = starts.removeValue(forKey: record.id)
      if first?.isRefresh == true { set(.updated, of: record) } else { downloaded += 1 }
      guard let first else { return nil }
      let received = max(0, record.received - first.offset)
      if copying.remove(record.id) != nil {
        copied += 1
        copiedByteCount += received
      } else {
        byteCount += received
      }
      return TransferAmount(byteCount: received, duration: first.time.duration(to: now))
    case .unchanged(let record):
      noteNoFailure(of: record)
      restarted.remove(Self.number(of: record))
      // It may have been updated before.
      if ends[Self.number(of: record)] == nil { set(.unchanged, of: record) }
      starts[record.id] = nil
    case .failed(let record, let failure):
      starts[record.id] = nil
      restarted.remove(Self.number(of: record))
      // A refresh that fails has left the finished file.
      let isGone = failure.code == .notFound && record.state == .completed
      set(isGone ? .gone : .failed, of: record)
      guard failures.count < Self.maximumFailures else { break }
      failures.append(
        (record.id, "\(name(record)): \(FailureSentence.reason(failure, record))")
      )
    case .missed: isComplete = false
    case .rolledBack, .retrying, .waitingForDiskSpace, .released, .interceptorFailed: break
    }
    return nil
  }

  /// Forgets the failure of a download; returns whether it had failed.
  @discardableResult
  private mutating func noteNoFailure(of record: DownloadRecord) -> Bool {
    let end = ends[Self.number(of: record)]
    guard end == .failed || end == .gone else { return false }
    set(nil, of: record)
    failures.removeAll { $0.id == record.id }
    return true
  }

  private mutating func set(_ end: End?, of record: DownloadRecord) {
    let number = Self.number(of: record)
    if let previous = ends[number] { counts[previous, default: 0] -= 1 }
    if let end { counts[end, default: 0] += 1 }
    ends[number] = end
  }

  private func ended(_ end: End) -> Int { counts[end] ?? 0 }

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
    let updated = ended(.updated)
    let gone = ended(.gone)
    let isRefresh = unchanged + updated + gone > 0
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
