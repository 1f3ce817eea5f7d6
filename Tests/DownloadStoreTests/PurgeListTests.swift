import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadStore

/// The removal of many records, of which memory holds only what recognizes them.
@Suite struct PurgeListTests {
  let fixture: StoreFixture
  let url = "https://example.com/a.bin"

  init() throws {
    fixture = try StoreFixture()
    try fixture.add(url) { $0.headers = [HeaderField(name: "Cookie", value: "x")] }
  }

  private func list(withFiles: Bool = true) throws -> PurgeList {
    var list = try fixture.store.purgeList(DownloadRecord.all, withFiles: withFiles)
    list.batchSize = 4_096
    return list
  }

  private func purge(_ list: PurgeList) throws -> [PurgeListReport] {
    try list.batches.map { try fixture.store.purge($0) }
  }

  private func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: path)
  }

  @Test func `a list removes the records with their headers and files, in bounded transactions`()
    throws
  {
    let count = 9_000
    try fixture.store.addNow(
      (0..<count).map { DownloadRequest(url: "https://example.com/\($0).bin") }
    )
    let finished = try fixture.layout(of: fixture.finish(url, "12345678")).finalPath
    let other = try fixture.store.record(matching: "https://example.com/7.bin")
    let partial = try fixture.layout(of: other).partialPath
    try fixture.write("123", to: partial)
    let list = try list()
    #expect(list.count == count + 1 && list.fileCount == 2 && list.byteCount == 11)
    #expect(exists(finished) && exists(partial))

    let before = try fixture.store.objects.commitNumber()
    let reports = try purge(list)
    #expect(reports.count == 3)
    // One list has a finished file, whose record is forgotten after it.
    #expect(try fixture.store.objects.commitNumber() == before + 4)
    #expect(reports.reduce(0) { $0 + $1.report.records.count } == count + 1)
    #expect(reports.allSatisfy { $0.skippedRecords.isEmpty && $0.report.keptFiles.isEmpty })
    #expect(!exists(finished) && !exists(partial))
    #expect(try fixture.store.objects.read { tx in try tx.count(DownloadRecord.all) } == 0)
    #expect(try fixture.store.objects.read { tx in try tx.count(RequestHeaders.all) } == 0)
  }

  @Test func `an interrupted purge is completed by a new list`() throws {
    try fixture.store.addNow(
      (0..<5_000).map { DownloadRequest(url: "https://example.com/\($0).bin") }
    )
    let first = try list().batches.prefix(1).map { try fixture.store.purge($0) }
    let removed = first.reduce(0) { $0 + $1.report.records.count }
    #expect(removed > 0 && removed < 5_001)
    #expect(try list().count == 5_001 - removed)
    _ = try purge(list())
    #expect(try list().count == 0)
  }

  @Test(arguments: PurgeTests.Change.allCases)
  func `a record changed after listing is kept with its files`(change: PurgeTests.Change) throws {
    let failed = try fixture.change(url) { $0.state = .failedPermanent }
    let partial = try fixture.layout(of: failed).partialPath
    try fixture.write("12345", to: partial)
    let list = try list()
    try change.apply(to: url, in: fixture.store)
    let current = try fixture.store.record(matching: failed.id)
    let reports = try purge(list)
    #expect(reports.flatMap(\.report.records).isEmpty)
    #expect(
      reports.flatMap(\.skippedRecords)
        == [.init(id: failed.id, state: .failedPermanent, current: current)]
    )
    #expect(exists(partial))
  }

  @Test func `a download that only made progress after listing is purged`() throws {
    try fixture.change(url) { $0.state = .running }
    let list = try list()
    try fixture.change(url) { record in
      record.received = 5
      record.updatedAt = fixture.now + 1
    }
    #expect(try purge(list).flatMap(\.report.records).map(\.url) == [url])
  }

  @Test func `a record deleted after listing is reported`() throws {
    let record = try fixture.store.record(matching: url)
    let list = try list()
    _ = try purge(list)
    #expect(
      try purge(list).flatMap(\.skippedRecords)
        == [.init(id: record.id, state: .waiting, current: nil)]
    )
  }

  @Test func `a finished file modified after listing is kept and reported`() throws {
    let path = try fixture.layout(of: fixture.finish(url)).finalPath
    let list = try list()
    try fixture.write("theirs now", to: path)
    let kept = try purge(list).flatMap(\.report.keptFiles)
    #expect(kept.map(\.file.path) == [path] && kept.map(\.reason) == [.changed])
    #expect(exists(path))
  }

  @Test func `a finished file is kept unless its deletion is requested`() throws {
    let path = try fixture.layout(of: fixture.finish(url)).finalPath
    _ = try purge(list(withFiles: false))
    #expect(exists(path))
  }

  @Test func `a record with an id of another form is purged too`() throws {
    try fixture.store.objects.write { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.id = "imported" }
    }
    #expect(try list().count == 1)
    #expect(try purge(list()).flatMap(\.report.records).map(\.id) == ["imported"])
  }
}
