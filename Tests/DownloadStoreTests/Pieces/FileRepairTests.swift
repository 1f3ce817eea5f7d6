import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadStore

/// Repairs of finished files whose records have changed since the check.
@Suite struct FileRepairTests {
  private let fixture: StoreFixture
  private let url = "https://example.com/a.bin"

  init() throws {
    fixture = try StoreFixture()
    try fixture.add(url)
  }

  /// Returns the check of a finished file that was deleted.
  private func check() throws -> FileCheck {
    let record = try fixture.finish(url)
    try FileManager.default.removeItem(atPath: fixture.layout(of: record).finalPath)
    return try fixture.store.checkFile(of: record)
  }

  @Test func `a file that was changed, replaced or deleted is not intact`() throws {
    let record = try fixture.finish(url)
    let path = try fixture.layout(of: record).finalPath
    #expect(try fixture.store.isIntact(record))
    #expect(FileIdentity(ofFileAt: path) == record.fileIdentity)
    // A record that is not complete has no file, whatever lies at its path.
    var waiting = record
    waiting.state = .waiting
    #expect(try !fixture.store.isIntact(waiting))

    try FileManager.default.copyItem(atPath: path, toPath: path + "-copy")
    try FileManager.default.removeItem(atPath: path)
    #expect(try !fixture.store.isIntact(record))
    #expect(FileIdentity(ofFileAt: path) == nil)
    try FileManager.default.moveItem(atPath: path + "-copy", toPath: path)
    #expect(try !fixture.store.isIntact(record))

    let finished = try fixture.change(url) { $0.fileIdentity = FileIdentity(ofFileAt: path) }
    #expect(try fixture.store.isIntact(finished))
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.truncate(atOffset: 1)
    try handle.close()
    #expect(try !fixture.store.isIntact(finished))
  }

  @Test func `a copy that fails leaves no partial file`() throws {
    let record = try fixture.finish(url)
    let layout = try fixture.layout(of: record)
    #expect(throws: RecordStoreError.self) {
      // The file is shorter than it was when it was checked.
      try PartialCopy.make(
        layout.partialPath,
        from: layout.finalPath,
        copying: ByteRanges(upTo: record.received + 1)
      )
    }
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
  }

  @Test func `a missing file is downloaded again`() throws {
    let check = try check()
    #expect(check.finding == .missing)
    let record = try #require(try fixture.store.repairFile(check))
    #expect(record.state == .waiting && record.generation == check.record.generation + 1)
    #expect(try fixture.store.record(matching: url) == record)
  }

  @Test func `a download that was completed again since the check is left alone`() throws {
    let check = try check()
    let record = try fixture.change(url) { $0.generation += 1 }
    #expect(try fixture.store.repairFile(check) == nil)
    #expect(try fixture.store.record(matching: url) == record)
  }

  @Test func `another download of the URL is left alone`() throws {
    let check = try check()
    let record = try fixture.change(url) { $0.id = "0123456789abcdef" }
    #expect(try fixture.store.repairFile(check) == nil)
    #expect(try fixture.store.record(matching: url) == record)
  }

  @Test(arguments: [DownloadState.waiting, .running, .removed])
  func `a download that is not complete is left alone`(state: DownloadState) throws {
    let check = try check()
    let record = try fixture.change(url) { $0.state = state }
    #expect(try fixture.store.repairFile(check) == nil)
    #expect(try fixture.store.record(matching: record.id) == record)
  }
}
