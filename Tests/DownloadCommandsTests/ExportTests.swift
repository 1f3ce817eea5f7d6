import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `export` and `import` of JSON Lines, run in this process.
struct ExportTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func contents(_ name: String) throws -> Data {
    try Data(contentsOf: URL(filePath: folder.path(name)))
  }

  /// Fills the store with records that have every kind of value.
  private func addRecords() async throws {
    let records = try RecordStore(at: store)
    var requests = (1...8).map { DownloadRequest(url: "http://a/\($0).bin?token=t\($0)") }
    for index in requests.indices { requests[index].tags = ["all", "t\(index % 2)"] }
    requests[0].headers = [HeaderField(name: "Authorization", value: "Bearer secret")]
    requests[1].headers = [HeaderField(name: "X-Name", value: "é \"quoted\"")]
    requests[1].mirrors = ["http://b/2.bin"]
    requests[2].root = try records.root(at: folder.path("elsewhere"))
    requests[2].digest = try Digest("md5:9e107d9d372bb6826bd81d3542a419d6")
    requests[3].isPaused = true
    try await records.add(requests)
    try change(requests[4].url) { record in
      record.state = .failedRetryable
      record.received = 25
      record.expected = 1 << 40
      record.entityTag = "\"e\""
      record.resumeData = Data((0...255).map { UInt8($0) })
      record.nextRetryAt = Date(timeIntervalSince1970: 1_234_567_890.123_456)
      record.attempts = [
        Attempt(
          at: Date(timeIntervalSince1970: 0.1),
          url: record.url,
          failure: DownloadFailure(.refused, "no"),
          received: 25
        )
      ]
    }
    try change(requests[5].url) { record in
      record.state = .completed
      record.received = 7
      record.expected = 7
      record.completedAt = Date(timeIntervalSince1970: 1_234_567_890.5)
      record.fileIdentity = FileIdentity(size: 7, inode: 1, modified: 2)
    }
    try change(requests[7].url) { $0.state = .removed }
    let deleted = requests[6].url
    _ = try await records.objects.write { tx in try tx.delete(DownloadRecord.self, key: deleted) }
  }

  @Test func `a store imported from an export is the same, and exports the same bytes`()
    async throws
  {
    try await addRecords()
    // The bytes of its partial file are not in the new store.
    try change("http://a/5.bin?token=t5") { record in
      record.dropBytes()
      record.resumeData = nil
    }
    // A removed record is left out.
    try change("http://a/8.bin?token=t8") { $0.state = .waiting }
    let exported = await dlstore("--store", store, "export", "-o", folder.path("1.jsonl"))
    #expect(exported == CommandResult(status: .done, output: "", messages: ""))
    let copy = folder.path("copy")

    let imported = await dlstore("--store", copy, "import", folder.path("1.jsonl"))

    #expect(imported.output == "objects: 10 added\n")
    #expect(imported.status == .done, "\(imported.messages)")
    let again = await dlstore("--store", copy, "export")
    #expect(Data(again.output.utf8) == (try contents("1.jsonl")))
    // The records are the same to the program, which adds nothing to the next export.
    let records = try RecordStore(at: copy)
    let original = try RecordStore(at: store)
    #expect(try records.records() == original.records())
    for record in try original.records() {
      #expect(try records.headers(of: record) == original.headers(of: record))
      #expect(try records.roots().path(of: record.root) != nil)
    }
    #expect(try records.objects.verify().isValid)
    _ = await dlstore("--store", copy, "export", "-o", folder.path("3.jsonl"))
    #expect(try contents("3.jsonl") == contents("1.jsonl"))
  }

  @Test func `only the owner can read an exported file, and no file is replaced`() async throws {
    try await addRecords()
    let file = folder.path("all.jsonl")
    _ = await dlstore("--store", store, "export", "-o", file)
    let attributes = try FileManager.default.attributesOfItem(atPath: file)
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let before = try contents("all.jsonl")
    let second = await dlstore("--store", store, "export", "--tag", "t0", "-o", file)
    #expect(second.status == .cannotCreate)
    #expect(try contents("all.jsonl") == before)
    #expect(try folder.names().sorted() == ["all.jsonl", "store"])
  }

  @Test(arguments: [
    (["--state", "paused"], ["4"]), (["--tag", "t1", "--tag", "all"], ["2", "4", "6"]),
    (["--match", "*/[12].bin*"], ["1", "2"]), (["--type", "bin", "--state", "retrying"], ["5"]),
    (["--type", "none"], []),
  ])
  func `filters select records, and their header fields and roots`(
    options: [String],
    names: [String]
  ) async throws {
    try await addRecords()
    let exported = await dlstore(["--store", store, "export"] + options)
    #expect(exported.status == .done)
    let file = try folder.makeFile("some.jsonl", exported.output)
    let copy = folder.path("copy")
    #expect(await dlstore("--store", copy, "import", file).status == .done)
    let records = try RecordStore(at: copy).records()
    #expect(records.map(\.filename) == names.map { "\($0).bin" })
    let listed = await dlstore(["--store", store, "list", "--format", "jsonl"] + options)
    #expect(listed.lines.count == names.count)
    for record in records where record.hasHeaders {
      #expect(try RecordStore(at: copy).headers(of: record).count == 1)
    }
    let headerLines = exported.lines.filter { $0.hasPrefix(#"{"model":"RequestHeaders""#) }
    #expect(headerLines.count == records.count(where: \.hasHeaders))
  }

  @Test func `filters select the digests of pieces of their records`() async throws {
    for name in ["a", "b"] {
      var request = DownloadRequest(url: "http://h/\(name)")
      request.tags = [name]
      request.byteCount = 4
      try await RecordStore(at: store).add([request])
    }
    try RecordStore(at: store).setRateLimit(1_000)
    let all = await dlstore("--store", store, "export").lines.dropFirst()
    #expect(all.count == 5)
    let exported = await dlstore("--store", store, "export", "--tag", "b").lines.dropFirst()
    let id = try RecordStore(at: store).record(matching: "http://h/b").id
    #expect(exported.count == 2 && exported.allSatisfy { $0.contains(id) }, "\(exported)")
  }

  @Test(arguments: ["--tag", "--type"])
  func `an option of a filter selects by bytes, as that of list does`(option: String) async throws {
    let names = ["\u{E9}", "e\u{301}"]
    for name in names {
      _ = await dlstore("--store", store, "add", "http://a/\(name)", option, name)
    }
    for name in names {
      let exported = await dlstore("--store", store, "export", option, name)
      #expect(exported.lines.count { $0.hasPrefix(#"{"model":"DownloadRecord""#) } == 1)
      #expect(await dlstore("--store", store, "list", "-q", option, name).lines.count == 1)
    }
  }

  @Test func `records that are in the store are kept, replaced or refused`() async throws {
    try await addRecords()
    let file = folder.path("all.jsonl")
    _ = await dlstore("--store", store, "export", "-o", file)
    let url = "http://a/1.bin?token=t1"
    try change(url) { $0.priority = 7 }
    func priority() throws -> Int32 { try RecordStore(at: store).record(matching: url).priority }

    let kept = await dlstore("--store", store, "import", file)
    #expect(
      kept.output == """
        objects: 0 added, 9 already in the store and kept, 1 removed and left out

        """
    )
    #expect(try priority() == 7)
    let refused = await dlstore("--store", store, "import", "--if-known", "fail", file)
    #expect(refused.status == .failed)
    #expect(refused.messages.contains("line 2"))
    #expect(try priority() == 7)
    let replaced = await dlstore("--store", store, "import", "--if-known", "replace", file)
    #expect(
      replaced.output == "objects: 0 added, 1 replaced, 8 unchanged, 1 removed and left out\n"
    )
    #expect(try priority() == 0)
  }

  @Test func `an import waits for no engine`() async throws {
    try await addRecords()
    let file = folder.path("all.jsonl")
    _ = await dlstore("--store", store, "export", "-o", file)
    let lock = try EngineLock(storePath: store)
    #expect(await dlstore("--store", store, "import", file).status == .engineRuns)
    withExtendedLifetime(lock) {}
  }

  @Test func `an invalid line leaves the store as it was, and names the line`() async throws {
    try await addRecords()
    let exported = await dlstore("--store", store, "export")
    let cut = String(exported.output.dropLast(40))
    let file = try folder.makeFile("cut.jsonl", cut)
    let copy = folder.path("copy")
    for path in [store, copy] {
      let result = await dlstore("--store", path, "import", file)
      #expect(result.status == .damaged)
      #expect(result.messages.contains("line \(exported.lines.count)"))
    }
    #expect(!FileManager.default.fileExists(atPath: copy))
    #expect(await dlstore("--store", store, "export").output == exported.output)
  }

  @Test func `an export is imported through a pipe, into a new store and into an existing one`()
    async throws
  {
    try await addRecords()
    let copy = folder.path("copy")
    let pipe = "dlstore export | dlstore --store '\(copy)' import -"
    let first = try await DLStoreProcess.run(store: store, shell: pipe)
    #expect(
      first.status == 0 && first.output == "objects: 9 added, 1 removed and left out\n",
      "\(first.messages)"
    )
    let second = try await DLStoreProcess.run(store: store, shell: pipe)
    #expect(
      second.output == """
        objects: 0 added, 9 already in the store and kept, 1 removed and left out

        """
    )
    let broken = try await DLStoreProcess.run(
      store: store,
      shell: "(dlstore export; echo '{}') | dlstore --store '\(copy)' import -"
    )
    #expect(broken.status == 65)
    #expect(broken.messages.contains("line 12"))
  }

  @Test func `a file in aria2's format is recognized`() async throws {
    let file = try folder.makeFile("session", InputFileTests.session)
    let result = await dlstore("--store", store, "import", file)
    #expect(result.status == .damaged)
    #expect(result.messages.contains("for a session of aria2c pass --format aria2"))
  }

  @Test func `an output file in a missing folder is not taken for a missing store`() async throws {
    let path = folder.path("none/file")
    let result = await dlstore("--store", store, "export", "-o", path)
    #expect(result.status == .cannotCreate)
    #expect(result.messages == "dlstore: \(path) cannot be created: its folder is missing\n")
  }

  @Test func `any ObjectStore folder is exported and imported without its models`() async throws {
    let foreign = try Store(at: store, models: [Reading.self])
    try await foreign.write { tx in
      for id in 1...3 { try tx.insert(Reading(id: id, value: Double(id) / 3)) }
      try tx.delete(Reading.self, key: 2)
    }
    _ = await dlstore("--store", store, "export", "-o", folder.path("1.jsonl"))
    let copy = folder.path("copy")
    #expect(await dlstore("--store", copy, "import", folder.path("1.jsonl")).status == .done)
    _ = await dlstore("--store", copy, "export", "-o", folder.path("2.jsonl"))
    #expect(try contents("1.jsonl") == contents("2.jsonl"))
    let program = try Store(at: copy, models: [Reading.self])
    let value = try await program.read { tx in try tx.find(Reading.self, key: 3)?.value }
    #expect(value == 1)
    // Nothing of a download store is added to it.
    #expect(try program.storedModels().map(\.name) == ["Reading"])
    #expect(!FileManager.default.fileExists(atPath: "\(copy)/engine.lock"))
    for options in [["--state", "paused"], ["--format", "aria2"]] {
      let result = await dlstore(["--store", store, "export"] + options)
      #expect(result.status == .usage)
      #expect(result.messages.contains("is not a store of downloads"))
    }
  }
}

/// A model that the tool does not have.
private struct Reading: Model {
  static let schema = ModelSchema(
    name: "Reading",
    fields: [
      FieldSchema("id", Int.self, id: 2, isPrimaryKey: true),
      FieldSchema("value", Double.self, id: 1),
    ]
  )
  struct Columns: Sendable {}
  static let columns = Columns()
  var id: Int
  var value: Double
  var primaryKey: Int { id }

  init(id: Int, value: Double) {
    self.id = id
    self.value = value
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    value = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(value)
  }
}
