import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadCommands

@Suite struct LargeChangeTests {
  @Test func `a change is large if it is at least an eighth of the objects, and a thousand`() {
    #expect(BulkChange(objectCount: 1_000).isLarge(inStoreOf: 0))
    #expect(BulkChange(objectCount: 1_000).isLarge(inStoreOf: 8_000))
    #expect(!BulkChange(objectCount: 1_000).isLarge(inStoreOf: 8_008))
    #expect(!BulkChange(objectCount: 999).isLarge(inStoreOf: 0))
    #expect(BulkChange(objectCount: .max).isLarge(inStoreOf: .max))
  }
}

/// Tests which commands compact the file of a store when they end.
@Suite(.timeLimit(.minutes(10)))
struct BulkChangeTests {
  private let folder: TemporaryFolder
  private let store: String
  private static let count = 4_000
  /// The number of records with the tag `most`.
  private static let most = 3_500

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    // Long records, so that few of them make a file that is large enough to be compacted.
    let query = String(repeating: "q", count: 2_000)
    try RecordStore(at: store).addNow(
      (0..<Self.count).map { number in
        var request = DownloadRequest(url: "http://h.example/f/\(number).bin")
        request.mirrors = ["http://m.example/\(query)"]
        request.isPaused = true
        if number < Self.most { request.tags = ["most"] }
        return request
      }
    )
    #expect(try fileSize() >= BulkChange.rule.minimumFileSize)
  }

  private func fileSize() throws -> Int64 {
    let status = try FileManager.default.attributesOfItem(atPath: store + "/data.mdb")
    return try #require(status[.size] as? Int64)
  }

  /// Returns whether the file has fewer than a hundredth of its pages free.
  private func isCompact() throws -> Bool {
    let statistics = try RecordStore(at: store, access: .readOnly).objects.statistics()
    return statistics.freePages * 100 < statistics.fileSize / statistics.pageSize
  }

  /// Removes the records with a tag while the store is open, so that their pages stay free.
  private func purgeBeside(tag: String) async throws {
    let open = try RecordStore(at: store)
    let result = await dlstore("--store", store, "purge", "--tag", tag, "--yes")
    #expect(result.status == .done && result.messages == "")
    #expect(try open.objects.statistics().freePages > 100)
  }

  @Test func `a purge of most records returns the free pages to the file system`() async throws {
    let before = try fileSize()
    let result = await dlstore("--store", store, "purge", "--tag", "most", "--yes")
    #expect(result.status == .done && result.messages == "")
    #expect(try fileSize() < before / 3)
    #expect(try isCompact())
    #expect(try Store.verify(at: store).isValid)
    #expect(try RecordStore(at: store).records().count == Self.count - Self.most)
  }

  @Test func `a download added again after a compaction has a later generation`() async throws {
    let request = DownloadRequest(url: "http://h.example/f/0.bin")
    let old = try #require(try RecordStore(at: store).addNow([request]).first?.record)
    let before = try fileSize()
    let result = await dlstore("--store", store, "purge", "--tag", "most", "--yes")
    #expect(try result.status == .done && fileSize() < before / 3)
    let new = try #require(try RecordStore(at: store).addNow([request]).first)
    #expect(new.isNew && new.record.id == old.id)
    #expect(new.record.generation > old.generation)
  }

  @Test func `a store that is open elsewhere keeps its file, and the purge succeeds`() async throws
  {
    let before = try fileSize()
    try await purgeBeside(tag: "most")
    #expect(try fileSize() >= before)
  }

  @Test func `a purge of fewer than a thousand records does not compact the file`() async throws {
    try await purgeBeside(tag: "most")
    let before = try fileSize()
    #expect(await dlstore("--store", store, "purge", "--state", "paused", "--yes").status == .done)
    #expect(try RecordStore(at: store).records().isEmpty)
    #expect(try fileSize() >= before)
  }

  @Test func `adding many downloads to a file with free pages compacts it`() async throws {
    try await purgeBeside(tag: "most")
    let before = try fileSize()
    let list = try folder.makeFile(
      "list",
      (0..<1_000).map { "http://h.example/new/\($0)\n" }.joined()
    )
    let added = await dlstore("--store", store, "add", "--input-file", list)
    #expect(added.status == .done && added.lines.count == 1_000 && added.messages == "")
    #expect(try fileSize() < before / 2)
    #expect(try RecordStore(at: store).records().count == Self.count - Self.most + 1_000)
    let known = await dlstore("--store", store, "add", "--input-file", list)
    #expect(known.lines.allSatisfy { $0.contains("  known  ") })
  }

  @Test(arguments: ImportFormat.allCases.prefix(2))
  func `importing many downloads into a file with free pages compacts it`(
    format: ImportFormat
  ) async throws {
    let export = await dlstore("--store", store, "export", "--format", "\(format)", "--tag", "most")
    #expect(export.status == .done)
    try await purgeBeside(tag: "most")
    let lines = export.output.split(separator: "\n", omittingEmptySubsequences: false)
    let part = format == .aria2 ? lines.prefix(6_000) : lines.prefix(1_100)
    let file = try folder.makeFile("part", part.joined(separator: "\n"))
    let before = try fileSize()
    let result = await dlstore("--store", store, "import", "--format", "\(format)", file)
    #expect(result.status == .done, "\(result.messages)")
    #expect(try fileSize() < before)
    #expect(try isCompact())
    #expect(try RecordStore(at: store).records().count >= Self.count - Self.most + 1_000)
  }

  @Test func `a compaction that fails is reported, and the command succeeds`() async throws {
    // A folder with the name of the copy, which cannot be removed.
    try folder.makeFile("store/data.mdb.compacted/file", "")
    let before = try fileSize()
    let result = await dlstore("--store", store, "purge", "--tag", "most", "--yes")
    #expect(result.status == .done)
    #expect(result.messages.contains("the store was not compacted: "))
    #expect(try fileSize() >= before)
    #expect(try RecordStore(at: store).records().count == Self.count - Self.most)
  }
}
