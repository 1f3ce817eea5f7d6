import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadSync

/// Changes that were decided before another process changed the record.
@Suite struct RecordChangeTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let url = "https://example.com/a"

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: url)])
    try change {
      $0.received = 10
      $0.expected = 20
    }
  }

  private func change(_ change: (inout DownloadRecord) -> Void) throws {
    try store.objects.write { tx in _ = try tx.update(DownloadRecord.self, key: url, change) }
  }

  /// Decides that 5 bytes count, changes the record, and applies the decision.
  private func recount(
    after change: (inout DownloadRecord) -> Void
  ) throws -> (applied: DownloadRecord?, stored: DownloadRecord) {
    let record = try store.record(matching: url)
    let found = Reconciliation(of: record, in: try store.roots(), now: Date())
    let recount = RecordChange(
      found,
      after: .none,
      resumeData: nil,
      counted: ByteRanges(upTo: 5),
      EngineOptions()
    )
    try self.change(change)
    let applied = try store.objects.write { tx in try recount.apply(at: Date(), in: &tx) }
    return (applied, try store.record(matching: url))
  }

  @Test func `a decision changes the record for which it was made`() throws {
    let (applied, stored) = try recount { _ in }
    #expect(applied == stored && stored.received == 5)
  }

  @Test func `a decision does not change a record in another state`() throws {
    let (applied, stored) = try recount { $0.state = .failedRetryable }
    #expect(applied == nil && stored.received == 10)
  }

  @Test func `a decision does not change a record with another intent`() throws {
    let (applied, stored) = try recount { $0.intent = .pause }
    #expect(applied == nil && stored.received == 10)
  }

  @Test func `a decision does not change a record of a later generation`() throws {
    let (applied, stored) = try recount { $0.generation += 1 }
    #expect(applied == nil && stored.received == 10)
  }

  @Test func `a key does not match another record or generation`() {
    let record = DownloadRecord.sample(url: url)
    let key = TransferKey(record)
    #expect(key.matches(record))
    var other = record
    other.id = "0123456789abcdef"
    #expect(!key.matches(other))
    other = record
    other.generation += 1
    #expect(!key.matches(other))
  }

  @Test func `an attempt drops resume data only if it used them and the server refused them`()
    throws
  {
    func change(_ code: DownloadFailure.Code, usesResumeData: Bool) throws -> ResumeDataChange {
      let record = DownloadRecord.sample(url: "https://example.com/\(code)-\(usesResumeData)")
      let layout = FileLayout(record: record, storeID: "s", rootPath: folder.path)
      let download = ActiveTransfer(
        record: record,
        layout: layout,
        transfer: try .sample(record, path: folder.path("\(code)-\(usesResumeData)")),
        candidate: Scheduler.Candidate(record, order: 1, volume: 1),
        started: 1,
        startedAt: .now,
        committed: 0,
        usesResumeData: usesResumeData
      )
      return download.resumeDataChange(after: DownloadFailure(code, ""))
    }
    #expect(try change(.badResponse, usesResumeData: true) == .drop)
    #expect(try change(.badResponse, usesResumeData: false) == .none)
    #expect(try change(.connectionLost, usesResumeData: true) == .none)
  }
}
