import DownloadStore
import Foundation
import LMDB
import ObjectStore
import TestSupport
import Testing

@testable import ObjectStoreMaintenance

/// Stores in the formats of two versions of LMDB; the linked one can open one of them.
///
/// The files were written by `dlstore` with LMDB 0.9.24 and with the state of its repository before 1.0
/// (0.9.90). Both have 29 downloads, one of them with a URL of 3 KB, whose record has pages of its own,
/// and free pages, because two more were removed.
@Suite(.timeLimit(.minutes(10))) struct LMDBVersionTests {
  private static let files = ["LMDB 0.9": "lmdb-0.9.mdb", "LMDB 1.0": "lmdb-1.0.mdb"]
  private static let installed = DataFileFormat.installed.versions
  private static let other = files.keys.first { $0 != installed }

  private let folder: TemporaryFolder
  private var store: String { folder.path("store") }

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Makes a store with the file of a version.
  private func makeStore(_ version: String) throws {
    let name = try #require(Self.files[version])
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: name)
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: file.path, toPath: store + "/data.mdb")
  }

  @Test func `the file of the installed version is opened`() throws {
    try makeStore(Self.installed)
    #expect(try RecordStore(at: store).records().count == 29)
    #expect(try Store.verify(at: store).isValid)
  }

  @Test func `a file of another version is refused with both versions, and is not damaged`() throws
  {
    let other = try #require(Self.other)
    try makeStore(other)
    let before = try Data(contentsOf: URL(filePath: store + "/data.mdb"))
    let error = try #require(throws: StoreError.self) { try RecordStore(at: store) }
    #expect(error.code == .otherFormat)
    #expect(error.message.contains("the file is one of \(other), which the installed LMDB "))
    #expect(error.message.contains(DataFileFormat.installedVersion))
    let report = try Store.verify(at: store)
    #expect(report.problems.map(\.kind) == [.format])
    #expect(try Data(contentsOf: URL(filePath: store + "/data.mdb")) == before)
  }

  /// Writes a number over the one that a meta page of the installed format has for it.
  private func setFormat(_ number: UInt8, ofMetaPages pages: [Int]) throws {
    let file = try FileHandle(forUpdating: URL(filePath: store + "/data.mdb"))
    let place: UInt64 = DataFileFormat.installed == .one ? 20 : 28
    for page in pages {
      try file.seek(toOffset: UInt64(page) * 4_096 + place)
      try file.write(contentsOf: [number])
    }
    try file.close()
  }

  @Test func `a file of a version that is not known is refused, and is not damaged`() throws {
    try makeStore(Self.installed)
    try setFormat(9, ofMetaPages: [0, 1])
    let error = try #require(throws: StoreError.self) { try RecordStore(at: store) }
    #expect(error.code == .otherFormat)
    #expect(error.message.contains("an unknown version of LMDB (format 9), which the installed"))
    let report = try Store.verify(at: store)
    #expect(report.problems.map(\.kind) == [.format])
    let repair = try #require(throws: StoreError.self) {
      try Store.repair(at: store, into: folder.path("copy"))
    }
    #expect(repair.code == .otherFormat)
  }

  @Test(arguments: [0, 1])
  func `one meta page with another version is damaged, and a repair reads the other one`(
    page: Int
  ) throws {
    try makeStore(Self.installed)
    try setFormat(9, ofMetaPages: [page])
    let error = try #require(throws: StoreError.self) { try RecordStore(at: store) }
    #expect(error.code == .damaged)
    #expect(try Store.verify(at: store).problems.map(\.kind) == [.page])
    let report = try Store.repair(at: store, into: folder.path("copy"))
    #expect(report.models["DownloadRecord"]?.saved ?? 0 > 20)
  }

  @Test(arguments: files.keys.sorted())
  func `a repair copies the objects of a file of any version`(version: String) throws {
    try makeStore(version)
    let report = try Store.repair(at: store, into: folder.path("copy"))
    #expect(report.models["DownloadRecord"]?.saved == 29)
    #expect(report.damageCount == 0)
    #expect(try Store.verify(at: folder.path("copy")).isValid)
    let urls = try RecordStore(at: folder.path("copy")).records().map(\.url)
    let numbered = Set(1...30).subtracting([7, 8]).map { "https://example.com/\($0).bin" }
    let long = "https://example.com/long?q=" + String(repeating: "a", count: 3_000)
    #expect(Set(urls) == Set(numbered + [long]))
  }

  @Test func `a repair in place keeps the file of the other version`() throws {
    try makeStore(try #require(Self.other))
    let before = try Data(contentsOf: URL(filePath: store + "/data.mdb"))
    let kept = try Store.repairInPlace(at: store).damagedFile
    #expect(try Data(contentsOf: URL(filePath: kept)) == before)
    #expect(try RecordStore(at: store).records().count == 29)
  }
}
