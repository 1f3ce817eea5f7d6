import Foundation
import ObjectStore
import RecordTestSupport
import Testing

@testable import DownloadStore

/// The time of the next refresh.
@Suite struct RefreshTimeTests {
  private static let moment = Date(timeIntervalSince1970: 1_800_000_000)
  private static let failing = DownloadRecord.Event.attemptFailed(
    .init(DownloadFailure(.notFound, "gone"), from: "u") { _ in nil }
  )

  /// A completed download with a file of its own.
  private static func completed(every seconds: Int64?) throws -> DownloadRecord {
    var record = DownloadRecord.sample(.finalizing, .run)
    record.fileIdentity = FileIdentity(size: 10, inode: 1, modified: 1)
    record.refreshEvery = seconds
    try record.apply(.completed(), at: moment)
    return record
  }

  @Test func `a download without a period is never due`() throws {
    let record = try Self.completed(every: nil)
    #expect(record.refreshDates.isEmpty && record.nextRefreshAt == nil)
    #expect(!record.isRefreshDue(at: .distantFuture))
  }

  @Test func `a period begins with the completion`() throws {
    let record = try Self.completed(every: 60)
    #expect(record.nextRefreshAt == Self.moment + 60)
    #expect(!record.isRefreshDue(at: Self.moment + 59))
    #expect(record.isRefreshDue(at: Self.moment + 60))
  }

  @Test func `a time that is further away than the period counts as due`() throws {
    let record = try Self.completed(every: 60)
    #expect(!record.isRefreshDue(at: Self.moment))
    // The clock was set back.
    #expect(record.isRefreshDue(at: Self.moment - 1))
    #expect(record.isRefreshDue(at: Self.moment - 100_000_000))
  }

  @Test(arguments: ["unchanged", "failed", "cancelled"])
  func `the next period begins with the end of a refresh, whatever it is`(end: String) throws {
    var record = try Self.completed(every: 60)
    try record.apply(.command(.refresh), at: Self.moment + 70)
    #expect(record.refreshDates.isEmpty)
    try record.apply(.started(keepingBytes: false), at: Self.moment + 71)
    switch end {
    case "unchanged": try record.apply(.notModified, at: Self.moment + 80)
    case "failed": try record.apply(Self.failing, at: Self.moment + 80)
    default:
      try record.apply(.command(.cancel), at: Self.moment + 75)
      try record.apply(.cancellationCarriedOut(), at: Self.moment + 80)
    }
    #expect(record.state == .completed)
    #expect(record.nextRefreshAt == Self.moment + 140)
    #expect((record.refreshFailure != nil) == (end == "failed"))
  }

  @Test(arguments: [-3_600, 10] as [TimeInterval], [true, false])
  func `a refresh that is cancelled has no failure, whatever has failed before`(
    clockChange: TimeInterval,
    failsItself: Bool
  ) throws {
    var record = try Self.completed(every: nil)
    try record.apply(.command(.refresh), at: Self.moment + 1)
    try record.apply(.started(keepingBytes: false), at: Self.moment + 2)
    // Also if the clock was set back.
    try record.apply(Self.failing, at: Self.moment + clockChange)
    #expect(record.refreshFailure?.code == .notFound)
    try record.apply(.command(.refresh), at: Self.moment + 20)
    let queued = record
    #expect(record.failedAttempts == 0)
    try record.apply(.started(keepingBytes: false), at: Self.moment + 21)
    if failsItself {
      let failure = DownloadFailure(.serverBusy, "busy")
      let failing = DownloadRecord.FailedAttempt(failure, from: "u") { _ in .seconds(1) }
      try record.apply(.attemptFailed(failing), at: Self.moment + 22)
    }
    try record.apply(.command(.cancel), at: Self.moment + 23)
    try record.apply(.cancellationCarriedOut(), at: Self.moment + 24)
    #expect(record.state == .completed && record.refreshFailure == nil)
    #expect(record.hasCancelledRefresh(since: queued))
    #expect(record.attempts.count == (failsItself ? 2 : 1))
  }

  @Test func `the failures of a refresh do not count for the download that follows it`() throws {
    var record = try Self.completed(every: nil)
    try record.apply(.command(.refresh), at: Self.moment + 1)
    try record.apply(.started(keepingBytes: false), at: Self.moment + 2)
    try record.apply(Self.failing, at: Self.moment + 3)
    #expect(record.failedAttempts == 1 && record.refreshFailure != nil)
    var moved = record
    try moved.apply(.moved(to: "http://h/other"), at: Self.moment + 4)
    #expect(moved.state == .completed && moved.refreshFailure == nil)
    try record.apply(.fileLost, at: Self.moment + 4)
    #expect(record.state == .waiting && record.failedAttempts == 0)
  }

  @Test func `another period counts from the last check`() throws {
    var record = try Self.completed(every: nil)
    record.refresh(every: 60)
    #expect(record.nextRefreshAt == Self.moment + 60)
    try record.apply(.command(.refresh), at: Self.moment + 70)
    try record.apply(.started(keepingBytes: false), at: Self.moment + 70)
    try record.apply(Self.failing, at: Self.moment + 80)
    record.refresh(every: 600)
    #expect(record.nextRefreshAt == Self.moment + 680)
    record.refresh(every: nil)
    #expect(record.refreshDates.isEmpty && record.refreshEvery == nil)
  }

  @Test func `a download that is not complete, or whose file is foreign, has no time`() throws {
    var record = DownloadRecord.sample(.waiting, .run)
    record.refresh(every: 60)
    #expect(record.refreshEvery == 60 && record.refreshDates.isEmpty)
    try record.apply(
      .fileAdopted(FileIdentity(size: 1, inode: 1, modified: 1)),
      at: Self.moment
    )
    #expect(record.refreshDates.isEmpty)
  }

  @Test func `an import computes the time again`() throws {
    var record = try Self.completed(every: 60)
    record.refreshDates = [.distantPast, .distantFuture]
    try record.apply(.imported(keepingBytes: true), at: Self.moment + 5)
    #expect(record.refreshDates == [Self.moment + 60])
    record.refreshEvery = 59
    #expect(throws: RecordStoreError.self) { try record.validate(acceptsHiddenFolder: false) }
  }
}
