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

  /// Adds a download whose request states its size, and which has received bytes.
  private func sized(received: Int64) throws -> DownloadRecord {
    var request = DownloadRequest(url: url + "/sized")
    request.byteCount = 20
    try store.addNow([request])
    try store.objects.write { tx in
      _ = try tx.update(DownloadRecord.self, key: request.url) { $0.received = received }
    }
    return try store.record(matching: request.url)
  }

  @Test(arguments: [0, 7] as [Int64])
  func `a download without its partial file keeps the size that is required`(received: Int64) throws
  {
    let record = try sized(received: received)
    let found = Reconciliation(of: record, in: try store.roots(), now: Date())
    let change = RecordChange(found, after: .none, resumeData: nil, counted: nil, EngineOptions())
    let applied = try store.objects.write { tx in try change.apply(at: Date(), in: &tx) }
    #expect(applied?.received == 0 && applied?.expected == 20)
    #expect(try store.record(matching: record.url).expected == 20)
  }

  @Test func `a checkpoint keeps the required size if the server states none`() throws {
    let key = TransferKey(try sized(received: 0))
    let record = try store.objects.write { tx in
      try tx.update(key) { record in
        record.checkpoint(
          ByteRanges(upTo: 5),
          total: nil,
          entityTag: nil,
          lastModified: nil,
          at: Date()
        )
      }
    }
    #expect(record?.received == 5 && record?.expected == 20)
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
