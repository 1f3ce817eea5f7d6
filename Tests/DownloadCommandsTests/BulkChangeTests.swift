import CommandTestSupport
import DownloadStore
import Foundation
import LMDB
import ObjectStore
import SystemInterface
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

@Suite struct BulkChangeRuleTests {
  @Test func `a change of fewer than a thousand objects is not followed by a compaction`() {
    #expect(BulkChange(objectCount: 999).compactionRule == nil)
    #expect(BulkChange(objectCount: 1_000).compactionRule != nil)
  }

  @Test func `a compaction copies at most 8 KiB for each changed object`() throws {
    let rule = try #require(BulkChange(objectCount: 10_000).compactionRule)
    #expect(rule.applies(fileSize: 90_000_000, freeBytes: 90_000_000 - 81_920_000))
    #expect(!rule.applies(fileSize: 90_000_000, freeBytes: 90_000_000 - 81_920_001))
    #expect(BulkChange(objectCount: .max).compactionRule?.maximumCopySize == .max)
  }

  @Test func `a compaction needs a file of 8 MiB with a hundredth free`() throws {
    let rule = try #require(BulkChange(objectCount: 10_000).compactionRule)
    #expect(rule.applies(fileSize: 8 << 20, freeBytes: (8 << 20) / 100 + 1))
    #expect(!rule.applies(fileSize: 8 << 20, freeBytes: (8 << 20) / 100))
    #expect(!rule.applies(fileSize: 8 << 20 - 1, freeBytes: 4 << 20))
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
  /// The number of records that have the tag `few`, too.
  private static let few = 1_000

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
        request.tags = number < Self.few ? ["most", "few"] : number < Self.most ? ["most"] : []
        return request
      }
    )
    #expect(try fileSize() >= BulkChange.minimumFileSize)
  }

  private func fileSize(of folder: String? = nil) throws -> Int64 {
    let file = (folder ?? store) + "/data.mdb"
    return try #require(try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int64)
  }

  /// The lines of an input file with new URLs.
  private func lines(_ count: Int) -> String {
    (0..<count).map { "http://h.example/new/\($0)\n" }.joined()
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
    let list = try folder.makeFile("list", lines(1_000))
    let added = await dlstore("--store", store, "add", "--input-file", list)
    #expect(added.status == .done && added.lines.count == 1_000)
    // The place of the files, and nothing about the compaction.
    #expect(added.messages.contains("'dlstore run --store \(store)' downloads 1000 files "))
    #expect(added.messages.split(separator: "\n").count == 1, "\(added.messages)")
    #expect(try fileSize() < before / 2)
    #expect(try RecordStore(at: store).records().count == Self.count - Self.most + 1_000)
  }

  @Test func `changing many known downloads in a file with free pages compacts it`() async throws {
    let list = try folder.makeFile(
      "list",
      (0..<1_000).map { "http://h.example/f/\($0 + Self.most - 600).bin\n" }.joined()
    )
    try await purgeBeside(tag: "most")
    let before = try fileSize()
    // 600 new ones and 400 known ones.
    let added = await dlstore("--store", store, "add", "--input-file", list, "--tag", "again")
    #expect(added.lines.count(where: { $0.contains("  known  ") }) == 400)
    #expect(try fileSize() < before)
    #expect(try isCompact())
  }

  @Test func `a change that is small beside the size of the store does not compact the file`()
    async throws
  {
    try await purgeBeside(tag: "few")
    let before = try fileSize()
    let list = try folder.makeFile("list", lines(1_000))
    // More than 8 KiB for each of the 1,000 downloads would be copied.
    #expect(await dlstore("--store", store, "add", "--input-file", list).status == .done)
    #expect(try fileSize() >= before)
    #expect(try !isCompact())
  }

  /// Exports the records with the tag `most`, removes them, and returns the first lines of the export.
  private func exportAndPurge(_ format: String, lines count: Int) async throws -> String {
    let export = await dlstore("--store", store, "export", "--format", format, "--tag", "most")
    #expect(export.status == .done)
    try await purgeBeside(tag: "most")
    let lines = export.output.split(separator: "\n", omittingEmptySubsequences: false)
    return try folder.makeFile("part", lines.prefix(count).joined(separator: "\n") + "\n")
  }

  @Test(arguments: [("jsonl", lineCount: 1_100), ("aria2", lineCount: 6_000)])
  func `importing many downloads into a file with free pages compacts it`(
    format: String,
    lineCount: Int
  ) async throws {
    // JSON Lines begin with a few lines about the schema. An entry for aria2 has five lines.
    let part = try await exportAndPurge(format, lines: lineCount)
    let before = try fileSize()
    let result = await dlstore("--store", store, "import", "--format", format, part)
    #expect(result.status == .done, "\(result.messages)")
    #expect(try fileSize() < before)
    #expect(try isCompact())
    #expect(try RecordStore(at: store).records().count >= Self.count - Self.most + 1_000)
  }

  @Test func `Ctrl-C during a compaction leaves no copy, and a complete store`() async throws {
    func hasCopy() -> Bool {
      let names = try? FileManager.default.contentsOfDirectory(atPath: store)
      return names?.contains { $0.hasPrefix("data.mdb.new-") } == true
    }
    var status: Int32 = 0
    // A compaction may end before the signal.
    while status == 0 {
      let compaction = try DLStoreProcess(["compact"], store: store, in: folder.path)
      try await compaction.wait {
        hasCopy() || !compaction.isRunning
      }
      if compaction.isRunning { compaction.send(SIGINT) }
      status = try await compaction.status()
      #expect(compaction.messages.contains("compaction stopped") == (status == 130))
      #expect(!hasCopy())
    }
    #expect(status == 130)
    #expect(try Store.verify(at: store).isValid)
    #expect(try RecordStore(at: store).records().count == Self.count)
  }

  @Test func `a compaction that fails is reported, and the command succeeds`() async throws {
    let before = try fileSize()
    let result = await DurableFile.$observer.withValue(
      { call in
        if case .rename(_, to: let target) = call, target.hasSuffix("/data.mdb") { return EIO }
        return 0
      },
      operation: {
        await dlstore("--store", store, "purge", "--tag", "most", "--yes")
      }
    )
    #expect(result.status == .done)
    #expect(result.messages.contains("the store was not compacted: "))
    #expect(try fileSize() >= before)
    #expect(try RecordStore(at: store).records().count == Self.count - Self.most)
  }
}
