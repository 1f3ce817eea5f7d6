import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The commands `stats`, `backup` and `compact`.
struct StatsTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  /// Creates a store that is not one of downloads, with `count` objects.
  private func makeNotes(_ count: Int) throws {
    try Store(at: store, models: [SampleNote.self]).write { tx in
      for id in 0..<count { try tx.insert(SampleNote(id: id)) }
    }
  }

  private func fileSize(_ folder: String) -> Int64? {
    FileIdentity(ofFileAt: folder + "/data.mdb")?.size
  }

  // MARK: stats

  @Test func `stats counts records and bytes by state`() async throws {
    let states: [(DownloadState, Int64)] = [
      (.completed, 700), (.failedRetryable, 30), (.failedPermanent, 4), (.waiting, 0),
    ]
    for (number, (state, received)) in states.enumerated() {
      _ = await dlstore("--store", store, "add", "http://a/\(number)")
      try change("http://a/\(number)") { record in
        record.state = state
        record.received = received
      }
    }
    let result = await dlstore("--store", store, "stats", "--json")
    #expect(result.status == .done)
    let report = try object(result.output)
    let downloads = try #require(report["downloads"] as? [String: Any])
    let shown = try #require(downloads["states"] as? [String: [String: Int]])
    #expect(shown.keys.sorted() == DownloadState.words.sorted())
    #expect(shown["completed"] == ["records": 1, "bytes": 700])
    #expect(shown["failed"] == ["records": 1, "bytes": 4])
    #expect(shown["retrying"] == ["records": 1, "bytes": 30])
    #expect(shown["waiting"] == ["records": 1, "bytes": 0])
    #expect(shown["running"] == ["records": 0, "bytes": 0])
    #expect(downloads["records"] as? Int == 4 && downloads["bytes"] as? Int == 734)
    #expect(report["engineRuns"] as? Bool == false)
    let lines = await dlstore("--store", store, "stats").lines
    #expect(lines.contains("failed            1    4 B"))
    #expect(lines.contains("total             4  734 B"))
  }

  @Test func `the totals of extreme byte counts are clamped`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1", "http://a/2", "http://a/3")
    for url in ["http://a/1", "http://a/2"] { try change(url) { $0.received = .max } }
    try change("http://a/3") { record in
      record.received = .max
      record.state = .paused
    }
    let totals = try RecordStore(at: store).totals(engineRuns: true)
    #expect(totals[0] == StateTotals(word: "waiting", recordCount: 2, byteCount: .max))
    #expect(
      await dlstore("--store", store, "stats", "--json").output.contains("9223372036854775807")
    )
  }

  @Test func `stats reports the size, the readers and the engine`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let records = try RecordStore(at: store)
    let snapshot = try records.objects.snapshot()
    let lock = try EngineLock(storePath: store)
    let report = try object(await dlstore("--store", store, "stats", "--json").output)
    let file = try #require(report["file"] as? [String: Int])
    #expect(file["size"].map(Int64.init) == fileSize(store))
    #expect(file["used"] ?? 0 > 0 && file["pageSize"] == 4096)
    let readers = try #require(report["readers"] as? [[String: Int]])
    #expect(readers == [["process": Int(getpid()), "commitsBehind": 0]])
    #expect(report["engineRuns"] as? Bool == true)
    #expect(await dlstore("--store", store, "stats").output.contains("runs (process \(getpid()))"))
    snapshot.close()
    withExtendedLifetime(lock) {}
  }

  @Test func `stats --engine says whether an engine runs`() async throws {
    let missing = await dlstore("--store", store, "stats", "--engine")
    #expect(missing.status == .notFound)
    _ = await dlstore("--store", store, "add", "http://a/1")
    let none = await dlstore("--store", store, "stats", "--engine")
    #expect(none.status == .failed && none.output.isEmpty)
    #expect(none.messages.contains("no engine runs on \(store)"))
    let lock = try EngineLock(storePath: store)
    let one = await dlstore("--store", store, "stats", "--engine")
    #expect(one.status == .done && one.output == "the engine runs (process \(getpid()))\n")
    withExtendedLifetime(lock) {}
  }

  @Test func `stats shows the models of any store`() async throws {
    try makeNotes(5)
    let report = try object(await dlstore("--store", store, "stats", "--json").output)
    #expect(report["downloads"] is NSNull)
    let models = try #require(report["models"] as? [[String: Any]])
    #expect(models.map { $0["name"] as? String } == ["Note"])
    #expect(models[0]["objects"] as? Int == 5 && models[0]["indexes"] as? Int == 1)
    #expect(await dlstore("--store", store, "stats").output.contains("Note         5"))
  }

  // MARK: backup

  @Test(arguments: [[], ["--compact"]])
  func `a backup made while a writer writes is a consistent store`(
    options: [String]
  ) async throws {
    // Each commit inserts a pair, so that a torn copy would have a half of one.
    let models: [any Model.Type] = [SampleNote.self]
    let writing = try Store(at: store, models: models)
    @Sendable func write(_ id: Int) throws {
      try writing.write { tx in
        try tx.insert(SampleNote(id: id))
        try tx.insert(SampleNote(id: -id))
      }
    }
    for id in 1...200 { try write(id) }
    let (begun, done) = (Flag(), Flag())
    async let writer: Int = {
      var id = 200
      while !done.isSet {
        id += 1
        try write(id)
        begun.set()
        await Task.yield()
      }
      return id
    }()
    while !begun.isSet { try await Task.sleep(for: .milliseconds(1)) }
    let target = folder.path("copy")
    let backup = try DLStoreProcess(["backup", target] + options, store: store, in: folder.path)
    let status = try await backup.status()
    done.set()
    let last = try await writer
    #expect(status == 0 && backup.messages.isEmpty)
    #expect(last > 200)
    #expect(try Store.verify(at: target).problems == [])
    let copy = try Store(at: target, models: models)
    let ids = try await copy.read { tx in try tx.fetch(SampleNote.all) }.map(\.id)
    #expect(ids.count >= 400 && Set(ids) == Set(ids.map { -$0 }))
    try await copy.write { tx in try tx.insert(SampleNote(id: 0)) }
  }

  @Test func `backup changes no existing file and creates no store`() async throws {
    #expect(await dlstore("--store", store, "backup", folder.path("copy")).status == .notFound)
    try makeNotes(1)
    let file = try folder.makeFile("taken", "theirs")
    let result = await dlstore("--store", store, "backup", file)
    #expect(result.status == .cannotCreate && result.messages.contains("already exists"))
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "theirs")
    let missing = await dlstore("--store", store, "backup", folder.path("none/copy"))
    #expect(missing.status == .cannotCreate)
    #expect(!FileManager.default.fileExists(atPath: folder.path("copy")))
  }

  // MARK: compact

  @Test func `compact reports the bytes by which the file shrinks`() async throws {
    try makeNotes(3_000)
    try await Store(at: store, models: [SampleNote.self]).write { tx in
      for id in 100..<3_000 { try tx.delete(SampleNote.self, key: id) }
    }
    let before = try #require(fileSize(store))
    let result = await dlstore("--store", store, "compact")
    #expect(result.status == .done)
    let after = try #require(fileSize(store))
    #expect(after < before / 4)
    #expect(result.output.hasPrefix("saved \(before - after) bytes: "))
    #expect(try Store.verify(at: store).problems == [])
    #expect(try Store.verify(at: store).models["Note"]?.objects == 100)
    #expect(await dlstore("--store", folder.path("none"), "compact").status == .notFound)
  }

  @Test func `compact is refused while the store is open elsewhere`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let bytes = try Data(contentsOf: URL(filePath: store + "/data.mdb"))
    let open = try RecordStore(at: store)
    let busy = try await DLStoreProcess.run("compact", store: store)
    #expect(busy.status == 1 && busy.messages.contains("another process has \(store) open"))
    let lock = try EngineLock(storePath: store)
    let running = try await DLStoreProcess.run("compact", store: store)
    #expect(running.status == 75 && running.messages.contains("an engine runs on \(store)"))
    withExtendedLifetime((open, lock)) {}
    #expect(try Data(contentsOf: URL(filePath: store + "/data.mdb")) == bytes)
  }
}
