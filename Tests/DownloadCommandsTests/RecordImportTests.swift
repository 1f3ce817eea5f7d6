import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `import` of records that other stores, or other programs, have written.
struct RecordImportTests: StoreSuite {
  let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  let url = "http://h/a.bin"

  /// Exports a store with some records, after changes of its lines.
  ///
  /// - Parameters:
  ///   - requests: The records; by default one.
  ///   - change: Changes a line: its model and its fields.
  /// - Returns: The path of the file.
  /// - Throws: An error of the store or of the file.
  func export(
    _ requests: [DownloadRequest]? = nil,
    _ change: (String, inout [String: Any]) -> Void = { _, _ in }
  ) async throws -> String {
    let source = folder.path("source-\(UUID().uuidString)")
    try await RecordStore(at: source).add(requests ?? [DownloadRequest(url: url)])
    let exported = await dlstore("--store", source, "export")
    let lines = try exported.lines.enumerated().map { number, line in
      guard number > 0 else { return line }
      let json = try JSONSerialization.jsonObject(with: Data(line.utf8))
      var object = try #require(json as? [String: Any])
      var fields = try #require(object["fields"] as? [String: Any])
      change(object["model"] as? String ?? "", &fields)
      object["fields"] = fields
      return String(decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
    }
    let name = "\(UUID().uuidString).jsonl"
    return try folder.makeFile(name, lines.joined(separator: "\n") + "\n")
  }

  /// Exports one record with changed fields.
  func export(setting values: [String: Any]) async throws -> String {
    try await export { model, fields in
      if model == "DownloadRecord" { fields.merge(values) { $1 } }
    }
  }

  @Test(arguments: [nil, "7"])
  func `a file whose models do not fit those of this program creates no store`(
    id: String?
  ) async throws {
    let file = try await export()
    var lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    let json = try JSONSerialization.jsonObject(with: Data(lines[0].utf8))
    var header = try #require(json as? [String: Any])
    var models = try #require(header["models"] as? [[String: Any]])
    let index = try #require(models.firstIndex { $0["name"] as? String == "Root" })
    var fields = try #require(models[index]["fields"] as? [[String: Any]])
    fields[0]["id"] = id.flatMap { Int($0) }
    models[index]["fields"] = fields
    header["models"] = models
    let changed = try JSONSerialization.data(withJSONObject: header)
    lines[0] = Substring(String(decoding: changed, as: UTF8.self))
    let hostile = try folder.makeFile("hostile.jsonl", lines.joined(separator: "\n") + "\n")
    let result = await importing(hostile)
    #expect(result.status == .damaged)
    #expect(result.messages.contains("the primary key of Root"), "\(result.messages)")
    #expect(!Store.exists(at: store))
    #expect(await importing(file).status == .done)
  }

  func importing(_ file: String, _ options: String...) async -> CommandResult {
    await dlstore(["--store", store, "import"] + options + [file])
  }

  func records() throws -> [DownloadRecord] { try RecordStore(at: store).records() }

  private func storedHeaders() throws -> [RequestHeaders] {
    try RecordStore(at: store).objects.read { tx in try tx.fetch(RequestHeaders.all) }
  }

  func record(_ url: String) throws -> DownloadRecord {
    try RecordStore(at: store).record(matching: url)
  }

  // MARK: Ids and destinations

  @Test func `a record whose id another download has gets another one, and no bytes`()
    async throws
  {
    // The id of a record is that of the URL with which it was added.
    let other = "http://h/b.bin"
    let own = try await RecordStore(at: store).add([DownloadRequest(url: url)])[0].record
    try RecordStore(at: store).replaceURLNow(matching: url, with: other)
    let file = try await export(setting: [
      "received": 150_000, "expected": 400_000, "entityTag": "\"1\"",
    ])
    let result = await importing(file)
    #expect(result.status == .done, "\(result.messages)")
    #expect(try record(other).id == own.id)
    let imported = try record(url)
    #expect(imported.id != own.id && RecordIdentity.isID(imported.id))
    #expect(imported.received == 0 && imported.entityTag == nil)
    let verified = await dlstore("--store", store, "verify")
    #expect(verified.status == .done, "\(verified.output)")
  }

  @Test func `two records of a file with one id get two ids`() async throws {
    let requests = ["http://h/a", "http://h/b"].map { DownloadRequest(url: $0) }
    let file = try await export(requests) { model, fields in
      if model == "DownloadRecord" { fields["id"] = "0123456789abcdef" }
    }
    for path in [store, folder.path("copy")] {
      if path == store { _ = try RecordStore(at: path) }
      let result = await dlstore("--store", path, "import", file)
      #expect(result.status == .done, "\(result.messages)")
      let ids = try RecordStore(at: path).records().map(\.id)
      #expect(Set(ids).count == 2 && ids.contains("0123456789abcdef"))
    }
  }

  @Test func `of two records with one id, the first one has the header fields`() async throws {
    let requests = ["http://h/a", "http://h/b"].map { url in
      var request = DownloadRequest(url: url)
      request.headers = [HeaderField(name: "X-Key", value: "1")]
      return request
    }
    let id = "0123456789abcdef"
    let file = try await export(requests) { model, fields in
      fields[model == "DownloadRecord" ? "id" : "recordID"] = id
    }
    let result = await importing(file)
    #expect(result.status == .done, "\(result.messages)")
    let target = try RecordStore(at: store)
    for record in try records() {
      #expect(record.hasHeaders == (record.id == id))
      #expect(try target.headers(of: record).isEmpty == !record.hasHeaders)
    }
  }

  @Test func `an import gives no name that is a URL or a key to a second download`() async throws {
    var keyed = DownloadRequest(url: "http://h/other")
    keyed.key = url
    try await RecordStore(at: store).add([keyed])
    let file = try await export()
    let result = await importing(file)
    #expect(result.status == .done)
    let message = "left out \(url): another download has it as a key"
    #expect(result.messages.contains(message), "\(result.messages)")
    #expect(try records().map(\.url) == [keyed.url])
    let refused = await importing(file, "--if-known", "fail")
    #expect(refused.status == .damaged)
    #expect(refused.messages.contains("is a key of another download"), "\(refused.messages)")
    // The URL is known, and the key is new.
    let second = folder.path("second")
    try await RecordStore(at: second).add([DownloadRequest(url: url)])
    let other = await dlstore("--store", second, "import", try await export([keyed]))
    #expect(other.status == .done)
    #expect(other.messages.contains("left out the key '\(url)' of \(keyed.url)"))
    #expect(try RecordStore(at: second).records().map(\.keys) == [[], []])
  }

  @Test(arguments: [10, 14])
  func `an import names the first ten keys and URLs that it leaves out, and counts the others`(
    count: Int
  ) async throws {
    let key = "http://h/0"
    var keyed = DownloadRequest(url: "http://h/other")
    keyed.key = key
    try await RecordStore(at: store).add([keyed])
    // The URL of the first record is a key, the second one keeps its key, and the others lose it.
    let requests = (0...count).map { DownloadRequest(url: "http://h/\($0)") }
    let result = await importing(
      try await export(requests) { model, fields in
        if model == "DownloadRecord", fields["url"] as? String != key { fields["keys"] = ["k"] }
      }
    )
    #expect(result.status == .done)
    let lines = result.messages.split(separator: "\n").filter { $0.contains("left out") }
    #expect(lines.count { $0.contains(": another download has it") } == 10, "\(result.messages)")
    #expect(lines.contains { $0.hasSuffix("\(key): another download has it as a key") })
    let rest = lines.dropFirst(10).map { $0.drop { $0 != "4" } }
    #expect(rest == (count == 10 ? [] : ["4 more keys or URLs that other downloads have"]))
    #expect(try records().flatMap(\.keys).sorted() == [key, "k"])
  }

  @Test(arguments: [true, false], [true, false])
  func `a file with a key that is the URL of another record gives each name to one download`(
    isKeyFirst: Bool,
    isNew: Bool
  ) async throws {
    let other = "http://h/other"
    let urls = isKeyFirst ? [other, url] : [url, other]
    let file = try await export(urls.map { DownloadRequest(url: $0) }) { _, fields in
      if fields["url"] as? String == other { fields["keys"] = [url] }
    }
    if !isNew { _ = try RecordStore(at: store) }
    let result = await importing(file)
    #expect(result.status == .done && result.messages.contains("left out"), "\(result.messages)")
    // The first record of the file keeps the name.
    #expect(try records().count == (isKeyFirst ? 1 : 2))
    #expect(try record(url).url == urls[0])
    let verified = await dlstore("--store", store, "verify")
    #expect(verified.status == .done, "\(verified.output)")
  }

  @Test func `a record whose file name another download has gets a number`() async throws {
    try await RecordStore(at: store).add([DownloadRequest(url: "http://other/a.bin")])
    let result = await importing(try await export())
    #expect(result.status == .done, "\(result.messages)")
    let imported = try record(url)
    #expect(imported.filename == "a (2).bin")
    #expect(imported.destination == "default/a (2).bin")
  }

  @Test func `file names that differ only in their bytes are kept`() async throws {
    let names = ["\u{E9}.bin", "e\u{301}.bin"]
    let requests = names.map { name in
      var request = DownloadRequest(url: "http://h/\(name.utf8.count)")
      request.filename = name
      return request
    }
    let result = await importing(try await export(requests))
    #expect(result.status == .done, "\(result.messages)")
    for request in requests {
      #expect(
        try Array(record(request.url).filename.utf8) == Array(request.filename?.utf8 ?? "".utf8)
      )
    }
  }

  @Test func `a number that another download of the store has is not given again`() async throws {
    var numbered = DownloadRequest(url: "http://other/2")
    numbered.filename = "a (2).bin"
    try await RecordStore(at: store).add([DownloadRequest(url: "http://other/a.bin"), numbered])
    let result = await importing(try await export())
    #expect(result.status == .done, "\(result.messages)")
    #expect(try record(url).filename == "a (3).bin")
  }

  @Test func `many records of a file with one name get successive numbers`() async throws {
    let requests = (1...20).map { DownloadRequest(url: "http://h/\($0)/a.bin") }
    let file = try await export(requests) { model, fields in
      guard model == "DownloadRecord" else { return }
      fields["filename"] = "a.bin"
      fields["destination"] = "default/a.bin"
    }
    #expect(await importing(file).status == .done)
    #expect(Set(try records().map(\.filename)) == Set(["a.bin"] + (2...20).map { "a (\($0)).bin" }))
  }

  @Test func `header fields follow their record to its new id`() async throws {
    let other = "http://h/b.bin"
    try await RecordStore(at: store).add([DownloadRequest(url: url)])
    try RecordStore(at: store).replaceURLNow(matching: url, with: other)
    var request = DownloadRequest(url: url)
    request.headers = [HeaderField(name: "X-Key", value: "1")]
    #expect(await importing(try await export([request])).status == .done)
    let target = try RecordStore(at: store)
    #expect(try target.headers(of: record(url)) == request.headers)
    #expect(try target.headers(of: record(other)) == [])
  }

  @Test func `the header fields of a record that is kept are not imported`() async throws {
    try await RecordStore(at: store).add([DownloadRequest(url: url)])
    var request = DownloadRequest(url: url)
    request.headers = [HeaderField(name: "X-Key", value: "1")]
    let result = await importing(try await export([request]))
    #expect(result.output == "objects: 0 added, 2 already in the store and kept\n")
    #expect(try storedHeaders().isEmpty)
  }

  @Test func `a replaced record keeps its id, and counts no bytes of another store`() async throws {
    try await RecordStore(at: store).add([DownloadRequest(url: url)])
    try change(url) { record in
      record.received = 50
      record.expected = 100
      record.entityTag = "\"1\""
    }
    let own = try record(url)
    let file = try await export(setting: [
      "id": "0123456789abcdef", "received": 70, "expected": 100, "entityTag": "\"2\"",
      "priority": 7,
    ])
    #expect(await importing(file, "--if-known", "replace").status == .done)
    let replaced = try record(url)
    #expect(replaced.id == own.id && replaced.priority == 7)
    #expect(replaced.received == 0 && replaced.entityTag == nil)
  }

  @Test func `a store replaced by its own export counts the same bytes`() async throws {
    try await RecordStore(at: store).add([DownloadRequest(url: url)])
    try change(url) { record in
      record.received = 50
      record.expected = 100
      record.entityTag = "\"1\""
    }
    let before = try record(url)
    let exported = await dlstore("--store", store, "export")
    let file = try folder.makeFile("own.jsonl", exported.output)
    #expect(await importing(file, "--if-known", "replace").status == .done)
    #expect(try record(url) == before)
  }

  @Test func `a download that has completed since its export stays complete`() async throws {
    let opened = try RecordStore(at: store)
    let added = try await opened.add([DownloadRequest(url: url)])[0].record
    let exported = await dlstore("--store", store, "export")
    let file = try folder.makeFile("own.jsonl", exported.output)
    let path = try opened.roots().layout(of: added).finalPath
    try FileManager.default.createDirectory(
      atPath: "\(store)/files",
      withIntermediateDirectories: true
    )
    try Data("body".utf8).write(to: URL(filePath: path))
    let identity = FileIdentity(ofFileAt: path)
    try change(url) { record in
      record.state = .completed
      record.received = 4
      record.expected = 4
      record.completedAt = Date()
      record.updatedAt = Date()
      record.fileIdentity = identity
    }
    let before = try record(url)
    let result = await importing(file, "--if-known", "replace")
    #expect(result.status == .done)
    #expect(
      result.messages.contains(
        "kept \(before.id): it has completed since the export, and its file is intact"
      )
    )
    #expect(try record(url) == before)
    // Without its file, the earlier state is imported.
    try FileManager.default.removeItem(atPath: path)
    #expect(await importing(file, "--if-known", "replace").status == .done)
    #expect(try record(url).state == .waiting)
  }

  @Test func `verify reports two downloads with one key`() async throws {
    let opened = try RecordStore(at: store)
    for name in ["a", "b", "c"] { try await opened.add([DownloadRequest(url: "http://h/\(name)")]) }
    #expect(await dlstore("--store", store, "verify").status == .done)
    for name in ["a", "b"] { try change("http://h/\(name)") { $0.keys = ["k"] } }
    try change("http://h/c") { $0.keys = ["http://h/a", "http://h/c"] }
    let result = await dlstore("--store", store, "verify")
    #expect(result.status == .damaged)
    #expect(result.output.contains("duplicateKey: 3"))
  }

  @Test func `verify reports two downloads with one id or one file name`() async throws {
    let opened = try RecordStore(at: store)
    let added = try await opened.add(
      ["http://h/a", "http://h/b"].map { DownloadRequest(url: $0) }
    )
    let first = added[0].record
    try change(added[1].record.url) { record in
      record.id = first.id
      record.destination = first.destination
    }
    let result = await dlstore("--store", store, "verify")
    #expect(result.status == .damaged)
    #expect(result.output.contains("duplicateID: 2"))
    #expect(result.output.contains("duplicateDestination: 2"))
  }

  // MARK: Roots

  /// Exports a record in a root with another path.
  func export(root path: String) async throws -> String {
    var request = DownloadRequest(url: url)
    let source = folder.path("rooted")
    request.root = try RecordStore(at: source).root(at: "/mnt/disk")
    try await RecordStore(at: source).add([request])
    let text = await dlstore("--store", source, "export").output
    return try folder.makeFile(
      "rooted.jsonl",
      text.replacing("\"path\":\"/mnt/disk\"", with: "\"path\":\"\(path)\"")
    )
  }

  @Test(arguments: ["relative", "/a/../etc", "/a/", "/a\\u000ab", "/home/me/.ssh", "/.config/x"])
  func `a root that no command makes, or in a hidden folder, is refused`(
    path: String
  )
    async throws
  {
    let result = await importing(try await export(root: path))
    #expect(result.status == .damaged, "\(result.messages)")
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `a root of the file is named, and a hidden one needs the user's consent`()
    async throws
  {
    let result = await importing(try await export(root: "/home/me/.x"), "--hidden-folders")
    #expect(result.status == .done)
    #expect(result.messages.contains("/home/me/.x"))
  }

  @Test(arguments: ["keep", "fail"])
  func `the standard root of a file does not move that of the store`(known: String) async throws {
    let source = folder.path("moved")
    try RecordStore(at: source).setRoot("/mnt/elsewhere")
    try await RecordStore(at: source).add([DownloadRequest(url: url)])
    let exported = await dlstore("--store", source, "export").output
    let file = try folder.makeFile("moved.jsonl", exported)
    let before = try RecordStore(at: store).roots().path(of: RootName.standard)
    let result = await importing(file, "--if-known", known)
    #expect(result.status == .done, "\(result.messages)")
    #expect(result.output == "objects: 1 added, 1 already in the store and kept\n")
    #expect(try RecordStore(at: store).roots().path(of: RootName.standard) == before)
  }

  @Test func `a root that the store has with the same path is no conflict`() async throws {
    let file = try await export(root: "/mnt/disk")
    let name = try RecordStore(at: store).root(at: "/mnt/disk")
    let result = await importing(file, "--if-known", "fail")
    #expect(result.status == .done, "\(result.messages)")
    #expect(try record(url).root == name)
    // A root with another path is one.
    let other = folder.path("other")
    try RecordStore(at: other).setRoot("/mnt/elsewhere", named: name)
    let refused = await dlstore("--store", other, "import", "--if-known", "fail", file)
    #expect(refused.status == .failed, "\(refused.messages)")
  }

  @Test(arguments: [true, false])
  func `the folder of temporary files is that of the new store`(isNew: Bool) async throws {
    let source = folder.path("source")
    // As an earlier version has stored it.
    for name in [RootName.temporary, RootName.keptOutput] {
      try RecordStore(at: source).setRoot(folder.path(".x/\(name)"), named: name)
    }
    var request = DownloadRequest(url: url)
    request.root = RootName.temporary
    try await RecordStore(at: source).add([request])
    let exported = await dlstore("--store", source, "export")
    let file = try folder.makeFile("temporary.jsonl", exported.output)
    if !isNew { _ = try RecordStore(at: store) }
    let result = await importing(file)
    #expect(result.status == .done, "\(result.messages)")
    #expect(result.output == "objects: 1 added, 2 left out as specific to another store\n")
    let target = try RecordStore(at: store)
    let layout = try target.roots().layout(of: record(url))
    #expect(layout.rootPath == target.temporaryFolder && layout.isBelowRoot)
  }

  // MARK: Details

  @Test(arguments: [true, false])
  func `header fields and digests come only with their download`(isNew: Bool) async throws {
    var request = DownloadRequest(url: url)
    request.headers = [HeaderField(name: "X-Key", value: "1")]
    request.byteCount = 4
    let removed = try await export([request]) { model, fields in
      guard model == "DownloadRecord" else { return }
      fields.merge(["state": "removed", "intent": "remove"]) { $1 }
    }
    let text = try String(contentsOfFile: removed, encoding: .utf8)
    let isRecord = { (line: Substring) in line.contains("\"model\":\"DownloadRecord\"") }
    let others = text.split(separator: "\n").filter { !isRecord($0) || $0.contains("\"models\"") }
    let alone = try folder.makeFile("alone.jsonl", others.joined(separator: "\n"))
    for (file, reason) in [
      (removed, "3 removed and left out"), (alone, "2 left out without its download"),
    ] {
      let path = folder.path("copy-\(reason.first ?? "0")")
      if !isNew { _ = try RecordStore(at: path) }
      let result = await dlstore("--store", path, "import", file)
      #expect(result.status == .done, "\(result.messages)")
      #expect(result.output == "objects: 0 added, \(reason)\n")
      let objects = try RecordStore(at: path).objects
      #expect(try await objects.read { tx in try tx.fetch(RequestHeaders.all) } == [])
      #expect(try await objects.read { tx in try tx.fetch(PieceDigests.all) } == [])
    }
  }

  @Test func `header fields before their download create no store`() async throws {
    var request = DownloadRequest(url: url)
    request.headers = [HeaderField(name: "X-Key", value: "1")]
    let exported = try await export([request])
    let lines = try String(contentsOfFile: exported, encoding: .utf8).split(separator: "\n")
    try #require(lines.count == 3 && lines[2].contains("RequestHeaders"))
    let text = [lines[0], lines[2], lines[1]].joined(separator: "\n")
    let file = try folder.makeFile("early.jsonl", text)
    let result = await importing(file)
    #expect(result.status == .damaged)
    #expect(result.messages.contains("line 3: its header fields or digests come before it"))
    #expect(!Store.exists(at: store))
    // Into an existing store the file is read twice.
    let target = try RecordStore(at: store)
    #expect(await importing(file).status == .done)
    #expect(try target.headers(of: record(url)) == request.headers)
  }

  @Test func `the settings of another store's engines are not counted as known`() async throws {
    let source = folder.path("source")
    try await RecordStore(at: source).add([DownloadRequest(url: url)])
    try RecordStore(at: source).setRateLimit(1_000)
    let exported = await dlstore("--store", source, "export")
    let result = await importing(try folder.makeFile("settings.jsonl", exported.output))
    #expect(result.output == "objects: 1 added, 1 left out as specific to another store\n")
  }

  @Test func `a record in a root that neither the store nor the file has is refused`() async throws
  {
    let source = folder.path("with-root")
    let opened = try RecordStore(at: source)
    var request = DownloadRequest(url: url)
    request.root = try opened.root(at: "/mnt/elsewhere")
    try await opened.add([request])
    let lines = await dlstore("--store", source, "export").output.split(separator: "\n")
    let isRoot = { (line: Substring) in line.contains("\"model\":\"Root\"") }
    #expect(lines.contains(where: isRoot))
    let text = lines.filter { !isRoot($0) }.joined(separator: "\n")
    let file = try folder.makeFile("no-root.jsonl", text)
    let isRecord = { (line: Substring) in line.contains("\"model\":\"DownloadRecord\"") }
    let number = try #require(text.split(separator: "\n").firstIndex(where: isRecord))
    // A new store is not created.
    let created = await importing(file)
    #expect(created.status == .damaged, "\(created.messages)")
    #expect(!FileManager.default.fileExists(atPath: store))
    _ = try RecordStore(at: store)
    let refused = await importing(file)
    #expect(refused.status == .damaged && refused.messages.contains("has the root '"))
    #expect(refused.messages.contains("line \(number + 1)"))
    #expect(try records().isEmpty)
    // The store may have the root.
    #expect(try RecordStore(at: store).root(at: "/mnt/elsewhere") == request.root)
    #expect(await importing(file).status == .done)
    #expect(try records().count == 1)
  }

  // MARK: aria2

  @Test(arguments: ["dir=.ssh", "dir=/nowhere/.ssh", "out=.config/x"])
  func `a hidden folder in an aria2 file needs the user's consent`(option: String) async throws {
    let file = try folder.makeFile("list.txt", "\(url)\n  \(option)\n")
    let refused = await importing(file, "--format", "aria2")
    #expect(refused.status == .failed && refused.messages.contains("hidden"))
    #expect(try records().isEmpty)
    let added = await dlstore("--store", store, "add", "--input-file", file)
    if option != "dir=/nowhere/.ssh" { #expect(added.status == .failed) }
    let accepted = await importing(file, "--format", "aria2", "--hidden-folders")
    #expect(accepted.status == .done, "\(accepted.messages)")
  }

  @Test func `one folder that is too long does not stop an import`() async throws {
    let long = Array(repeating: String(repeating: "x", count: 200), count: 25).joined(
      separator: "/"
    )
    let file = try folder.makeFile(
      "list.txt",
      "http://h/1\n dir=\(long)\nhttp://h/2\n dir=/\(long)\nhttp://h/3\n"
    )
    let result = await importing(file, "--format", "aria2")
    #expect(result.status == .failed)
    #expect(try records().map(\.url) == ["http://h/3"])
  }

  @Test func `a line feed in a stored URL does not become an option in aria2's format`()
    async throws
  {
    // An earlier version imported such URLs.
    let evil = "http://h/x\n on-download-complete=/bin/evil"
    try await RecordStore(at: store).add([DownloadRequest(url: url)])
    let opened = try RecordStore(at: store)
    try await opened.objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: url) else { return }
      record.mirrors = [evil, "http://h/y"]
      try tx.upsert(record)
      record.url = evil
      record.id = "0123456789abcdef"
      record.destination = "default/x"
      try tx.insert(record)
    }
    let exported = await dlstore("--store", store, "export", "--format", "aria2")
    #expect(exported.status == .done)
    #expect(!exported.output.contains("evil"))
    #expect(exported.output.contains("\(url)\thttp://h/y\n"))
    #expect(exported.messages.contains("url") && exported.messages.contains("mirrors"))
  }
}
