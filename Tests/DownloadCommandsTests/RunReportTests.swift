import DownloadStore
import DownloadSync
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The lines at the end of a run.
struct RunReportTests {
  private let start = ContinuousClock.now
  private let folder: TemporaryFolder
  private let store: RecordStore

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  private func record(_ name: String, received: Int64 = 0) throws -> DownloadRecord {
    var record = try store.addNow([DownloadRequest(url: "http://h/\(name)")])[0].record
    record.received = received
    return record
  }

  @Test func `many downloads end with the counts, the bytes, the time, and each failure`() throws {
    var report = RunReport(start: start)
    let gone = DownloadFailure(.notFound, "the server has no such file (404 Not Found)")
    for number in 1...3 {
      let name = "f\(number)"
      _ = try report.note(.started(record(name), offset: 1_048_576), at: start)
      let amount = try report.note(
        .completed(record(name, received: 3_145_728)),
        at: start + .seconds(2)
      )
      #expect(amount?.text == "in 2 s (1.0 MiB/s)")
    }
    _ = try report.note(.failed(record("x"), gone), at: start)
    #expect(
      report.lines(at: start + .seconds(19)) == [
        "4 downloads: 3 completed (6.0 MiB in 19 s), 1 failed:",
        "  x: the server has no such file (404 Not Found)",
      ]
    )
    // A hook or another command has started it again: each download counts once.
    _ = try report.note(.started(record("x"), offset: 0), at: start)
    #expect(
      report.lines(unfinished: (1, nil), at: start + .seconds(90)) == [
        "4 downloads: 3 completed (6.0 MiB in 1:30), 0 failed, 1 not finished"
      ]
    )
    _ = try report.note(.completed(record("x")), at: start)
    #expect(
      report.lines(at: start + .seconds(90)) == [
        "4 downloads: 4 completed (6.0 MiB in 1:30), 0 failed"
      ]
    )
  }

  @Test func `a failure counts for the exit code until the download is complete`() throws {
    var report = RunReport(start: start)
    let failure = DownloadFailure(.notFound, "gone")
    let record = try record("a")
    _ = report.note(.failed(record, failure), at: start)
    #expect(report.failed == 1 && report.incomplete == 1)
    // It may be paused or removed from here on.
    _ = report.note(.started(record, offset: 0), at: start)
    _ = report.note(.started(record, offset: 0), at: start)
    #expect(report.failed == 0 && report.incomplete == 1)
    _ = report.note(.failed(record, failure), at: start)
    #expect(report.failed == 1 && report.incomplete == 1)
    _ = report.note(.started(record, offset: 0), at: start)
    _ = report.note(.completed(record), at: start)
    #expect(report.failed == 0 && report.incomplete == 0)
    // One that was not started in this run has no failure.
    _ = report.note(.started(try self.record("b"), offset: 0), at: start)
    #expect(report.incomplete == 0)
  }

  @Test func `a file that is refreshed several times counts once`() throws {
    var report = RunReport(start: start)
    func refresh(_ name: String, _ end: (DownloadRecord) -> DownloadEvent) throws {
      var record = try record(name)
      record.refreshed = FinishedVersion(completedAt: .now, hasPieceDigests: false)
      _ = report.note(.started(record, offset: 0), at: start)
      record.refreshed = nil
      record.state = .completed
      _ = report.note(end(record), at: start)
    }
    let gone = DownloadFailure(.notFound, "gone")
    try refresh("a") { .completed($0) }
    for _ in 0..<2 {
      try refresh("a") { .unchanged($0) }
      try refresh("b") { .unchanged($0) }
      try refresh("c") { .failed($0, gone) }
      try refresh("d") { .failed($0, gone) }
    }
    try refresh("d") { .unchanged($0) }
    #expect(
      report.lines(at: start + .seconds(2)) == [
        "4 files: 1 updated (0 B in 2 s), 2 unchanged, 1 is gone from the server, 0 failed:",
        "  c: gone",
      ]
    )
  }

  @Test func `the speed of a resumed download with several connections is that of this run`() throws
  {
    var report = RunReport(start: start)
    var record = try record("split", received: 8_388_608)
    record.ranges = ByteRanges([0..<4_194_304, 8_388_608..<12_582_912]).encoded
    _ = report.note(.started(record, offset: 4_194_304), at: start)
    record.received = 12_582_912
    record.ranges = nil
    let amount = report.note(.completed(record), at: start + .seconds(2))
    #expect(amount?.text == "in 2 s (2.0 MiB/s)")
    let line = EventLine().text(for: .completed(record), amount)
    #expect(line == "completed split: 12.0 MiB, 4.0 MiB of it in 2 s (2.0 MiB/s)")
  }

  @Test func `a download of one run has one amount, also after a failed attempt`() throws {
    var report = RunReport(start: start)
    var record = try record("whole")
    _ = report.note(.started(record, offset: 0), at: start)
    record.received = 4_194_304
    _ = report.note(.started(record, offset: 4_194_304), at: start + .seconds(1))
    record.received = 12_582_912
    let amount = report.note(.completed(record), at: start + .seconds(2))
    let line = EventLine().text(for: .completed(record), amount)
    #expect(line == "completed whole: 12.0 MiB in 2 s (6.0 MiB/s)")
  }

  @Test func `a single download has no summary, and long lists are cut`() throws {
    var report = RunReport(start: start)
    let gone = DownloadFailure(.notFound, "gone")
    _ = try report.note(.failed(record("0"), gone), at: start)
    #expect(report.lines(at: start).isEmpty)
    for number in 1..<200 { _ = try report.note(.failed(record("\(number)"), gone), at: start) }
    let lines = report.lines(at: start)
    #expect(lines.count == 2 + RunReport.maximumFailures)
    #expect(lines.last == "  … and 150 more")
  }

  @Test func `downloads that have not ended are counted, with their missing bytes`() throws {
    var report = RunReport(start: start)
    #expect(report.lines(unfinished: (1, 5), at: start).isEmpty)
    _ = try report.note(.failed(record("x"), DownloadFailure(.notFound, "gone")), at: start)
    let lines = report.lines(unfinished: (3, 2_097_152), at: start + .seconds(2))
    #expect(
      lines == [
        "4 downloads: 0 completed (0 B in 2 s), 1 failed, 3 not finished (2.0 MiB missing):",
        "  x: gone",
      ]
    )
    let unknown = report.lines(unfinished: (1, nil), at: start + .seconds(2))
    #expect(unknown.first == "2 downloads: 0 completed (0 B in 2 s), 1 failed, 1 not finished:")
  }

  @Test func `dropped bytes count as received again, and retries keep the first start`() throws {
    var report = RunReport(start: start)
    _ = try report.note(.started(record("a"), offset: 500), at: start)
    _ = try report.note(.started(record("a"), offset: 0), at: start + .seconds(5))
    let amount = try report.note(.completed(record("a", received: 1_000)), at: start + .seconds(10))
    #expect(amount == TransferAmount(byteCount: 1_000, duration: .seconds(10)))
  }

  @Test func `waiting attempts count down, the next one first`() throws {
    var retries = PendingRetries()
    let failure = DownloadFailure(.serverBusy, "busy")
    var (a, b) = (try record("a"), try record("b"))
    (a.failedAttempts, b.failedAttempts) = (2, 1)
    retries.note(.retrying(a, failure, wait: .seconds(9)), at: start)
    retries.note(.retrying(b, failure, wait: .seconds(3)), at: start)
    let text = EventLine(retry: RetryPolicy(maximumAttempts: 8))
    #expect(
      retries.lines(text, at: start + .milliseconds(500)) == [
        "b: attempt 2 of 8 in 3 s", "a: attempt 3 of 8 in 9 s",
      ]
    )
    #expect(retries.lines(text, at: start + .seconds(3)).first == "b: attempt 2 of 8")
    retries.note(.started(b, offset: 0), at: start)
    retries.note(.released(url: a.url), at: start)
    #expect(retries.lines(text, at: start).isEmpty)
  }

  @Test func `a wait of a minute or more is named with its time`() throws {
    let failure = DownloadFailure(.serverBusy, "busy")
    var record = try record("a")
    record.failedAttempts = 1
    // Of another day, also if a day ends during the test: its text does not change.
    let date = Date().addingTimeInterval(7 * 86_400)
    record.nextRetryAt = date
    let text = EventLine(retry: RetryPolicy(maximumAttempts: 8))
    #expect(
      text.text(for: .retrying(record, failure, wait: .seconds(3_600)))
        == "retrying a: busy; attempt 2 of 8 in 1:00:00, at \(LocalTime.text(date))"
    )
    #expect(
      text.text(for: .retrying(record, failure, wait: .seconds(59)))
        == "retrying a: busy; attempt 2 of 8 in 59 s"
    )
  }

  @Test(arguments: [(0, "22:27:24"), (7_200, "2026-11-28 00:27:24")] as [(TimeInterval, String)])
  func `a time of another day has its date`(_ seconds: TimeInterval, _ text: String) throws {
    let zone = try #require(TimeZone(secondsFromGMT: 3_600))
    let now = Date(timeIntervalSince1970: 1_795_814_844)
    #expect(LocalTime.text(now.addingTimeInterval(seconds), now: now, zone: zone) == text)
  }
}
