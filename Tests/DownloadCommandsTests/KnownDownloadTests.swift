import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `get` and `add` of a URL that the store knows, with a checksum or a changed file.
@Suite(.timeLimit(.minutes(10)))
struct KnownDownloadTests: StoreSuite {
  private static let body = Body.generated(byteCount: 50_000, seed: 9)

  private let folder: TemporaryFolder
  let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
    server.route("/a", Resource(Self.body))
  }

  private var url: String { server.url("/a") }
  private var file: String { folder.path("files/a") }

  @discardableResult
  private func get(_ options: String...) async -> CommandResult {
    await dlstore(
      ["--store", store, "get", url, "--output-folder", folder.path("files")] + options
    )
  }

  private func record() throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: url)
  }

  private static func digest(_ algorithm: Digest.Algorithm) -> Digest {
    var hasher = DigestHasher(algorithm)
    hasher.update(body.bytes(at: 0, count: 50_000).span)
    return hasher.digest
  }

  private static let wrong = "sha256:" + String(repeating: "0", count: 64)

  @Test func `add applies the options to a known download, or says what it does not`() async throws
  {
    _ = await dlstore("--store", store, "add", url, "--limit-rate-per-download", "5K")
    let again = await dlstore(
      "--store",
      store,
      "add",
      url,
      "--paused",
      "--priority",
      "9",
      "--type",
      "u",
      "--tag",
      "a,b",
      "--limit-rate-per-download",
      "none"
    )
    let record = try record()
    #expect(again.status == .done)
    #expect(record.priority == 9 && record.type == "u" && record.tags == ["a", "b"])
    #expect(record.bytesPerSecond == nil && record.state == .waiting)
    #expect(
      again.messages
        == "dlstore: \(record.id): 'a' is known and stays waiting, because only new downloads are "
        + "added paused: 'dlstore pause \(record.id) --store \(store)' pauses it\n"
        + "dlstore: \(record.id): applied: tags, type, priority, rate limit\n"
    )
    _ = await dlstore("--store", store, "pause", record.id)
    #expect(
      await dlstore("--store", store, "add", url, "--paused").messages
        == "dlstore: \(record.id): 'a' is known and paused: "
        + "'dlstore resume \(record.id) --store \(store)' starts it; "
        + "its file goes into \(store)/files\n"
    )
  }

  @Test(arguments: ["/dev/null", "/dev/stdout", "/dev/fd/1", "pipe"])
  func `-o with a device or a pipe is refused before a request`(_ output: String) async throws {
    let files = folder.path("files")
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    #expect(unsafe mkfifo(files + "/pipe", 0o600) == 0)
    let isPipe = output == "pipe"
    let result =
      isPipe
      ? await get("-o", output) : await dlstore("--store", store, "get", url, "-o", output)
    #expect(result.status == .usage)
    let path = isPipe ? files + "/pipe" : output
    #expect(
      result.messages
        == "dlstore: -o: \(path) is not a regular file, and cannot be replaced by one: choose another "
        + "name, or write to standard output with 'get -o -'\n"
    )
    #expect(server.requests.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `-o with the path of a folder is refused`() async throws {
    let files = folder.path("files")
    try FileManager.default.createDirectory(
      atPath: files + "/sub/inner",
      withIntermediateDirectories: true
    )
    func refused(_ result: CommandResult, _ path: String, _ output: String) {
      #expect(result.status == .usage && result.output.isEmpty)
      let text = "\(path) is a folder: write -o '\(output)/NAME'"
      #expect(result.messages.contains(text), "\(result.messages)")
    }
    refused(await get("-o", "sub"), files + "/sub", "sub")
    refused(await get("--folder", "sub", "-o", "inner"), files + "/sub/inner", "inner")
    let path = files + "/sub"
    refused(await dlstore("--store", store, "get", url, "-o", path), path, path)
    refused(await dlstore("--store", store, "add", url, "-o", path), path, path)
    try FileManager.default.createDirectory(
      atPath: store + "/files/own",
      withIntermediateDirectories: true
    )
    refused(await dlstore("--store", store, "add", url, "-o", "own"), store + "/files/own", "own")
    #expect(server.requests.isEmpty)
    #expect(throws: RecordStoreError.self) { try record() }
  }

  @Test func `a finished file in another folder is named, with a way to download it again`()
    async throws
  {
    #expect(await get().status == .done)
    let here = await get()
    let id = try record().id
    let again = "; the server was not asked, 'dlstore refresh \(id) --store \(store)' asks it"
    #expect(here.messages.hasSuffix("already complete: \(file)\(again)\n"))
    // Another folder is refused if it is given, and named if it is the current one.
    let other = folder.path("other")
    let refused = await dlstore("--store", store, "get", url, "--output-folder", other)
    #expect(refused.status == .usage)
    let advice = "'dlstore remove \(id)"
    #expect(refused.messages.contains("not below '\(other)': \(advice)"), "\(refused.messages)")
    for options in [[], ["--folder", "."]] {
      let result = try DLStoreProcess(["get", url] + options, store: store, in: other)
      #expect(try await result.status() == 0)
      // The store is named in the environment, which the command in the message needs no option for.
      let text =
        "already complete: \(file); the server was not asked, 'dlstore refresh \(id)' asks it; "
        + "to download it into this folder"
      #expect(result.messages.contains(text), "\(result.messages)")
      #expect(result.messages.contains(advice))
    }
    // The advice works.
    #expect(await dlstore("--store", store, "remove", id).status == .done)
    #expect(await dlstore("--store", store, "get", url, "--output-folder", other).status == .done)
    #expect(Self.body.matches(file: file) && Self.body.matches(file: "\(other)/a"))
  }

  @Test func `a known download that is not complete names its folder`() async throws {
    #expect(await dlstore("--store", store, "add", url).status == .done)
    let id = try record().id
    let other = folder.path("other")
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
    let result = try DLStoreProcess(["get", url], store: store, in: other)
    #expect(try await result.status() == 0)
    #expect(Self.body.matches(file: "\(store)/files/a"))
    #expect(
      result.messages.contains(
        "'a' is known, and its file goes into \(store)/files, not into this folder; 'dlstore remove "
          + "\(id)' forgets it\n"
      ),
      "\(result.messages)"
    )
  }

  @Test func `--if-exists replace downloads a completed download again`() async throws {
    #expect(await get().status == .done)
    let changed = Body.generated(byteCount: 60_000, seed: 10)
    server.route("/a", Resource(changed))
    #expect(await get("--if-exists", "number").messages.contains("already complete: "))
    let result = await get("--if-exists", "replace")
    #expect(result.status == .done && !result.messages.contains("already complete"))
    let text = "replacing \(file): it is downloaded again, and stays until then"
    #expect(result.messages.contains(text), "\(result.messages)")
    #expect(changed.matches(file: file))
    #expect(!FileManager.default.fileExists(atPath: folder.path("files/a (2)")))
    let added = await dlstore("--store", store, "add", url, "--if-exists", "replace")
    #expect(added.messages.contains("replacing \(file): "), "\(added.messages)")
    #expect(try record().state == .waiting && changed.matches(file: file))
  }

  @Test func `allow-overwrite of an input file downloads a completed download again`()
    async throws
  {
    #expect(await get().status == .done)
    let changed = Body.generated(byteCount: 60_000, seed: 10)
    server.route("/a", Resource(changed))
    let list = try folder.makeFile("list", "\(url)\n allow-overwrite=true\n")
    func run(_ words: String...) async -> CommandResult {
      await dlstore(["--store", store] + words + ["--input-file", list])
    }
    let result = await run("get", "--output-folder", folder.path("files"))
    let text = "replacing \(file): it is downloaded again, and stays until then"
    #expect(result.status == .done && result.messages.contains(text), "\(result.messages)")
    #expect(changed.matches(file: file))
    #expect(!FileManager.default.fileExists(atPath: folder.path("files/a (2)")))
    let paused = await run("add", "--paused")
    #expect(!paused.messages.contains("replacing"), "\(paused.messages)")
    #expect(try record().state == .completed)
    #expect(await run("add").messages.contains(text))
    #expect(try record().state == .waiting && changed.matches(file: file))
  }

  @Test func `get replaces an existing file as a line of an input file says`() async throws {
    try folder.makeFile("files/a", "theirs")
    let list = try folder.makeFile("list", "\(url)\n allow-overwrite=true\n")
    let result = await dlstore(
      "--store",
      store,
      "get",
      "--input-file",
      list,
      "--output-folder",
      folder.path("files")
    )
    #expect(result.status == .done, "\(result.messages)")
    #expect(Self.body.matches(file: file))
    #expect(!FileManager.default.fileExists(atPath: folder.path("files/a (2)")))
  }

  @Test func `--if-exists replace keeps an adopted file, and says so`() async throws {
    try await adopt()
    let result = await get("--if-exists", "replace")
    #expect(result.status == .done)
    #expect(result.messages.contains("the download gets another name"), "\(result.messages)")
    try expectAdopted(result)
    #expect(Self.body.matches(file: folder.path("files/a (2)")))
  }

  @Test func `a finished file in a missing folder is neither complete nor downloaded again`()
    async throws
  {
    #expect(await get().status == .done)
    let away = folder.path("unmounted")
    try FileManager.default.moveItem(atPath: folder.path("files"), toPath: away)
    for options in [[], ["--quiet"]] {
      let result = await dlstore(["--store", store, "get", url] + options)
      #expect(result.status == .failed)
      #expect(result.messages.contains("or its volume is not mounted"), "\(result.messages)")
      #expect(!result.messages.contains("already complete"))
    }
    #expect(!FileManager.default.fileExists(atPath: folder.path("files")))
    try FileManager.default.moveItem(atPath: away, toPath: folder.path("files"))
    #expect(await dlstore("--store", store, "get", url).status == .done)
    #expect(server.requests.count == 1)
  }

  @Test func `a mistyped URL does not keep the file name from the right one`() async throws {
    let output = folder.path("files")
    func get(_ url: String) async -> CommandResult {
      await dlstore("--store", store, "get", url, "--output-folder", output, "--retry-wait", "1ms")
    }
    let wrong = "http://no-such-host.invalid/a"
    #expect(await get(wrong).status == .unreachable)
    let failed = try RecordStore(at: store, access: .readOnly).record(matching: wrong)
    #expect(failed.filename == "a")
    #expect(await get(url).status == .done)
    #expect(try record().filename == "a" && Self.body.matches(file: file))
    let later = try RecordStore(at: store, access: .readOnly).record(matching: wrong)
    #expect(later.filename == "a (2)" && later.id == failed.id && later.state == failed.state)
  }

  @Test(arguments: ["waiting", "bytes", "chosen", "again"])
  func `a download that may need its name keeps it`(_ reason: String) throws {
    let other = "http://other.invalid/a"
    let opened = try RecordStore(at: store)
    var request = DownloadRequest(url: other)
    if reason == "chosen" { request.filename = "a" }
    _ = try opened.addNow([request])
    try change(other) { record in
      if reason != "waiting" { record.state = .failedPermanent }
      if reason == "bytes" { record.received = 1 }
    }
    let added = try opened.addNow(
      (reason == "again" ? [DownloadRequest(url: other)] : []) + [DownloadRequest(url: url)]
    )
    #expect(added.last?.record.filename == "a (2)")
    #expect(try opened.record(matching: other).filename == "a")
  }

  @Test func `a batch gives the name of a failed download to one of its downloads`() throws {
    let opened = try RecordStore(at: store)
    let other = "http://other.invalid/a"
    _ = try opened.addNow([DownloadRequest(url: other)])
    try change(other) { $0.state = .failedPermanent }
    let urls = ["http://h1/a", "http://h2/a", other]
    let added = try opened.addNow(urls.map { DownloadRequest(url: $0) })
    let names = Set(added.map(\.record.filename))
    #expect(names == ["a", "a (2)", "a (3)"])
    for entry in added {
      #expect(try opened.record(matching: entry.record.url).filename == entry.record.filename)
    }
  }

  @Test func `a finished file with the required checksum is complete`() async throws {
    #expect(await get().status == .done)
    for algorithm in [Digest.Algorithm.md5, .sha256] {
      let digest = Self.digest(algorithm).text
      let result = await get("--checksum", digest)
      #expect(result.status == .done)
      #expect(result.messages.contains("already complete"))
      #expect(try record().verifiedDigest == digest && record().expectedDigest == digest)
    }
    #expect(server.requests.count == 1)
  }

  @Test func `a finished file with another checksum than the required one is not complete`()
    async throws
  {
    #expect(await get("--checksum", Self.digest(.sha256).text).status == .done)
    let result = await get("--checksum", Self.wrong, "--max-attempts", "1")
    #expect(result.status == .failed, "\(result.messages)")
    #expect(!result.messages.contains("already complete"))
    #expect(result.messages.contains("another checksum"))
    #expect(server.requests.count > 1)
    // The finished file stays until a correct one replaces it.
    #expect(Self.body.matches(file: file))
  }

  @Test(arguments: [true, false])
  func `a finished file that was replaced is downloaded again`(hasChecksum: Bool) async throws {
    let options = hasChecksum ? ["--checksum", Self.digest(.sha256).text] : []
    let arguments =
      ["--store", store, "get", url, "--output-folder", folder.path("files")] + options
    #expect(await dlstore(arguments).status == .done)
    try FileManager.default.removeItem(atPath: file)
    // Of the same size.
    try Data(repeating: 1, count: 50_000).write(to: URL(filePath: file))
    let result = await dlstore(arguments)
    #expect(result.status == .done, "\(result.messages)")
    #expect(!result.messages.contains("already complete"))
    #expect(server.requests.count == 2)
    let path = try #require(
      try RecordStore(at: store, access: .readOnly).localPath(of: record())
    )
    #expect(Self.body.matches(file: path))
    // The user's file is not overwritten.
    #expect(try Data(contentsOf: URL(filePath: file)) == Data(repeating: 1, count: 50_000))
  }

  @Test func `a file with another time and the known contents is complete`() async throws {
    #expect(await get("--checksum", Self.digest(.sha256).text).status == .done)
    let past = Date(timeIntervalSince1970: 1_000_000_000)
    try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: file)
    let result = await get()
    #expect(result.status == .done && result.messages.contains("already complete"))
    #expect(server.requests.count == 1)
    #expect(await dlstore("--store", store, "verify").status == .done)
  }

  @Test func `a finished file that was deleted is downloaded again`() async throws {
    #expect(await get().status == .done)
    try FileManager.default.removeItem(atPath: file)
    #expect(await get("--checksum", Self.digest(.md5).text).status == .done)
    #expect(Self.body.matches(file: file))
    #expect(server.requests.count == 2)
  }

  @Test func `verify-file compares with the required checksum`() async throws {
    #expect(await get("--checksum", Self.digest(.sha256).text).status == .done)
    let required = Self.wrong
    try change(url) { $0.expectedDigest = required }
    let result = await dlstore("--store", store, "verify-file", url)
    #expect(result.status == .damaged, "\(result.output)")
  }

  // MARK: Another place

  @Test func `another name or folder for a known download is refused`() async throws {
    #expect(await get("--folder", "in").status == .done)
    for options in [["-o", "other"], ["--folder", "other"]] {
      let arguments = ["get", url, "--output-folder", folder.path("files")] + options
      let result = await dlstore(["--store", store] + arguments)
      #expect(result.status == .usage && result.messages.contains("other"), "\(result.messages)")
      #expect(await dlstore(["--store", store, "add", url] + options).status == .usage)
    }
    let elsewhere = await dlstore(
      "--store",
      store,
      "get",
      url,
      "--output-folder",
      folder.path("elsewhere")
    )
    #expect(elsewhere.status == .usage)
    // The same place, or none.
    for options in [[], ["-o", "a"], ["--folder", "in/"]] {
      #expect(await dlstore(["--store", store, "get", url] + options).status == .done)
    }
    let list = try folder.makeFile("list", "\(url)\n  out=other\nhttp://h/new\n")
    let added = await dlstore("--store", store, "add", "--input-file", list)
    #expect(added.status == .failed && added.messages.contains("not as 'other'"))
    #expect(added.lines.count == 2)
    #expect(try record().filename == "a" && record().folder == "in")
    #expect(server.requests.count == 1)
  }

  @Test func `the number of a taken name is not another name`() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.path("files"),
      withIntermediateDirectories: true
    )
    try Data("theirs".utf8).write(to: URL(filePath: file))
    #expect(await get("-o", "a").status == .done)
    #expect(try record().filename == "a (2)")
    #expect(await get("-o", "a").status == .done)
  }

  // MARK: Files that were not downloaded

  /// Adopts a file of the user as that of the download.
  private func adopt() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.path("files"),
      withIntermediateDirectories: true
    )
    try Data("theirs".utf8).write(to: URL(filePath: file))
    let result = await get("--if-exists", "keep")
    #expect(result.status == .done, "\(result.messages)")
    try #require(try record().state == .completed)
  }

  private func expectAdopted(_ result: CommandResult) throws {
    #expect(result.messages.contains(file), "\(result.messages)")
    #expect(try Data(contentsOf: URL(filePath: file)) == Data("theirs".utf8))
  }

  @Test func `remove and purge keep an adopted file and say so`() async throws {
    try await adopt()
    let removed = await dlstore("--store", store, "remove", url, "--with-file")
    #expect(removed.status == .done)
    try expectAdopted(removed)
    try await adopt()
    let purged = await dlstore(
      "--store",
      store,
      "purge",
      "--state",
      "completed",
      "--with-files",
      "--yes"
    )
    #expect(purged.status == .done && purged.output.contains("1 record, 0 files"))
    try expectAdopted(purged)
  }

  @Test func `remove says that it keeps a file that was changed`() async throws {
    #expect(await get().status == .done)
    try Data("theirs".utf8).write(to: URL(filePath: file))
    try expectAdopted(await dlstore("--store", store, "remove", url, "--with-file"))
  }

  @Test func `restart and get with a checksum download beside an adopted file`() async throws {
    try await adopt()
    let restarted = await dlstore("--store", store, "restart", url)
    try expectAdopted(restarted)
    #expect(await get().status == .done)
    #expect(try Data(contentsOf: URL(filePath: file)) == Data("theirs".utf8))
    #expect(Self.body.matches(file: folder.path("files/a (2)")))
    #expect(await dlstore("--store", store, "remove", url).status == .done)
    try FileManager.default.removeItem(atPath: folder.path("files/a (2)"))
    try await adopt()
    let result = await get("--checksum", Self.digest(.sha256).text)
    #expect(result.status == .done && result.messages.contains("it stays"), "\(result.messages)")
    #expect(try Data(contentsOf: URL(filePath: file)) == Data("theirs".utf8))
    #expect(Self.body.matches(file: folder.path("files/a (2)")))
  }

  // MARK: Documents

  private func add(document text: String) async throws -> CommandResult {
    let path = try folder.makeFile("\(UUID().uuidString).meta4", text)
    return await dlstore("--store", store, "add", "--metalink", path)
  }

  private func document(_ digest: String?, mirror: String) -> String {
    let hash = digest.map { "<hash type=\"sha-256\">\($0)</hash>" } ?? ""
    return """
      <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a">\(hash)
      <url priority="1">\(url)</url><url priority="2">\(mirror)</url></file></metalink>
      """
  }

  @Test(arguments: [String(repeating: "0", count: 64), nil])
  func `a document changes neither the checksum nor the mirrors of a known download`(
    digest: String?
  ) async throws {
    let own = Self.digest(.sha256)
    for known in [own.text, nil] {
      let path = folder.path("store-\(known == nil ? 1 : 2)")
      let options = known.map { ["--checksum", $0] } ?? []
      _ = await dlstore(["--store", path, "add", url] + options)
      let file = try folder.makeFile(
        "\(UUID().uuidString).meta4",
        document(digest, mirror: "http://evil/a")
      )
      let result = await dlstore("--store", path, "add", "--metalink", file)
      #expect(result.status == .done)
      #expect(result.messages.contains("is known"))
      let record = try RecordStore(at: path, access: .readOnly).record(matching: url)
      #expect(record.expectedDigest == known && record.mirrors == [])
    }
  }

  @Test func `a document with the checksum of a known download adds its mirrors`() async throws {
    let own = Self.digest(.sha256)
    _ = await dlstore("--store", store, "add", url, "--checksum", own.text)
    let result = try await add(document: document(own.hexadecimal, mirror: "http://m/a"))
    #expect(result.status == .done && result.messages.contains("; applied: mirrors\n"))
    #expect(try record().mirrors == ["http://m/a"])
  }

  @Test(arguments: ["file name=\".ssh/authorized_keys\"", "file name=\"a/.config/b\""])
  func `a document may not name a hidden folder`(element: String) async throws {
    let result = try await add(
      document: """
        <metalink xmlns="urn:ietf:params:xml:ns:metalink"><\(element)>
        <url>\(url)</url></file></metalink>
        """
    )
    #expect(result.status == .failed && result.messages.contains("hidden folder"))
  }

  @Test func `a download has at most 100 mirrors`() async throws {
    let mirrors = (1...40_000).map { "<url priority=\"\($0 + 1)\">http://m\($0)/a</url>" }.joined()
    let result = try await add(
      document: """
        <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a">
        <url priority="1">\(url)</url>\(mirrors)</file></metalink>
        """
    )
    #expect(result.status == .done)
    #expect(try record().mirrors == (1...100).map { "http://m\($0)/a" })
    let notice = ": 39900 mirrors are not kept for 'a': a download has at most 100\n"
    #expect(result.messages.contains(notice), "\(result.messages)")
  }

  @Test func `mirrors beyond the limit are refused, or said not to be kept`() async throws {
    let mirrors = (0...100).map { "http://m\($0)/a" }
    let options = mirrors.flatMap { ["--mirror", $0] }
    let message = "a download has at most 100 mirrors, and 101 are given"
    for command in ["add", "get", "set"] {
      let result = await dlstore(["--store", store, command, url] + options)
      #expect(result.status == .usage && result.messages.contains(message), "\(result.messages)")
    }
    let list = try folder.makeFile("list", ([url] + mirrors).joined(separator: "\t"))
    let added = await dlstore("--store", store, "add", "--input-file", list)
    #expect(added.status == .done)
    let notice = ": 1 mirror is not kept for 'a': a download has at most 100\n"
    #expect(added.messages.contains(notice), "\(added.messages)")
    #expect(try record().mirrors == Array(mirrors.dropLast()))
    // A known download has no room for another one, either.
    let more = await dlstore("--store", store, "add", url, "--mirror", "http://m200/a")
    #expect(more.status == .done && more.messages.contains(notice), "\(more.messages)")
    let known = await dlstore("--store", store, "add", url, "--mirror", mirrors[3])
    #expect(known.status == .done && !known.messages.contains("not kept"))
    let changed = await dlstore(["--store", store, "set", url] + options.dropLast(2))
    #expect(changed.status == .done, "\(changed.messages)")
  }
}
