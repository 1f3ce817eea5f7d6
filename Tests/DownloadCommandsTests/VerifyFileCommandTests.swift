import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The command `verify-file`.
@Suite(.timeLimit(.minutes(10)))
struct VerifyFileCommandTests: StoreSuite {
  private static let body = Body.generated(byteCount: 3_500_000, seed: 5)

  private let folder: TemporaryFolder
  let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
    server.route("/a", Resource(Self.body))
  }

  private var file: String { folder.path("files/a") }

  /// Downloads the file.
  private func get(_ options: String...) async throws {
    let arguments = ["--store", store, "get", server.url("/a"), "--quiet"]
    let result = await dlstore(arguments + ["--output-folder", folder.path("files")] + options)
    try #require(result.status == .done, "\(result.messages)")
  }

  private func verify(_ options: String...) async -> CommandResult {
    await dlstore(["--store", store, "verify-file", server.url("/a")] + options)
  }

  private func overwrite(_ offset: UInt64) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: file))
    defer { try? handle.close() }
    try handle.seek(toOffset: offset)
    try handle.write(contentsOf: Data("damaged".utf8))
  }

  private var ranges: [String?] { server.requests.map { $0["Range"] } }

  @Test func `an intact file is correct`() async throws {
    try await get()
    let result = await verify()
    #expect(result.status == .done)
    #expect(result.output == "\(file): correct\n")
    #expect(await verify("--repair").status == .done)
    #expect(ranges == [nil])
  }

  @Test func `damaged pieces are found, and only they are downloaded again`() async throws {
    try await get()
    try overwrite(1_500_000)
    let found = await verify()
    #expect(found.status == .damaged)
    #expect(found.output == "\(file): damaged: 1048576 bytes, 1048576-2097151\n")
    #expect(!Self.body.matches(file: file))
    let repaired = await verify("--repair", "--quiet")
    #expect(repaired.status == .done, "\(repaired.messages)")
    #expect(Self.body.matches(file: file))
    #expect(ranges == [nil, "bytes=1048576-2097151"])
    #expect(server.requests.last?["If-Range"] == "\"1\"")
    #expect(await verify().status == .done)
  }

  @Test(arguments: [false, true])
  func `a repair never mixes the file with another version of the same entity tag`(
    hasChecksum: Bool
  ) async throws {
    var hasher = DigestHasher(.sha256)
    hasher.update(Self.body.bytes(at: 0, count: 3_500_000).span)
    try await get(hasChecksum ? "--checksum=\(hasher.digest.text)" : "--quiet")
    try overwrite(1_500_000)
    let damaged = try Data(contentsOf: URL(filePath: file))
    let other = Body.generated(byteCount: 3_500_000, seed: 6)
    server.route("/a", Resource(other))
    let result = await verify("--repair", "--quiet", "--max-attempts", "3")
    #expect(ranges.prefix(3) == [nil, "bytes=1048576-2097151", nil])
    #expect(!result.messages.contains("changed on disk"), "\(result.messages)")
    if hasChecksum {
      #expect(result.status == .damaged)
      #expect(try Data(contentsOf: URL(filePath: file)) == damaged)
      let attempts = try RecordStore(at: store).record(matching: server.url("/a")).attempts
      #expect(attempts.map(\.failure.code) == [.entityChanged, .digestMismatch], "\(attempts)")
    } else {
      #expect(result.status == .done, "\(result.messages)")
      #expect(other.matches(file: file))
      #expect(ranges.count == 3)
      #expect(await verify().status == .done)
    }
  }

  @Test func `a file that cannot be repaired does not keep others from it`() async throws {
    server.route("/b", Resource(Self.body))
    try await get(server.url("/b"))
    try overwrite(1_500_000)
    let other = folder.path("files/b")
    let handle = try FileHandle(forWritingTo: URL(filePath: other))
    try handle.write(contentsOf: Data("damaged".utf8))
    try handle.close()
    // Nothing can be copied to a folder.
    let opened = try RecordStore(at: store)
    let layout = try opened.roots().layout(of: opened.record(matching: server.url("/a")))
    try FileManager.default.createDirectory(
      atPath: layout.partialPath,
      withIntermediateDirectories: false
    )
    let result = await dlstore("--store", store, "verify-file", "--all", "--repair", "--quiet")
    #expect(result.status == .damaged, "\(result.messages)")
    #expect(result.messages.contains("not repaired: "), "\(result.messages)")
    #expect(Self.body.matches(file: other))
    #expect(!Self.body.matches(file: file))
  }

  @Test func `a named download that is not complete does not keep others from their repair`()
    async throws
  {
    server.route("/b", Resource(Self.body))
    try await get(server.url("/b"))
    let other = folder.path("files/b")
    try overwrite(1_500_000)
    let handle = try FileHandle(forWritingTo: URL(filePath: other))
    try handle.write(contentsOf: Data("damaged".utf8))
    try handle.close()
    _ = await dlstore("--store", store, "add", server.url("/waits"))
    let words = ["--store", store, "verify-file"] + ["/a", "/waits", "/b"].map { server.url($0) }
    let found = await dlstore(words)
    #expect(found.status == .damaged && found.lines.count == 2, "\(found.output)")
    let repaired = await dlstore(words + ["--repair", "--quiet"])
    #expect(repaired.status == .failed)
    let text = "waits is not complete yet (waiting)"
    #expect(repaired.messages.contains(text), "\(repaired.messages)")
    #expect(Self.body.matches(file: file) && Self.body.matches(file: other))
    #expect(!server.requests.contains { $0.target == "/waits" })
  }

  #if os(Linux)
    @Test func `a file that cannot be read does not keep others from their repair`() async throws {
      try await get()
      try overwrite(1_500_000)
      // The kernel refuses to read the first page, also to root.
      let url = server.url("/unreadable")
      let opened = try RecordStore(at: store)
      try await opened.add([DownloadRequest(url: url)])
      try opened.setRoot("/proc/self", named: "proc")
      let digest = DigestHasher(.md5).digest.text
      try change(url) { record in
        (record.root, record.filename, record.destination) = ("proc", "mem", "proc/mem")
        record.state = .completed
        record.expected = 0
        record.completedAt = Date()
        record.fileIdentity = FileIdentity(size: 0, inode: 1, modified: 1)
        record.verifiedDigest = digest
      }
      let words = ["--store", store, "verify-file", url, server.url("/a")]
      let found = await dlstore(words)
      #expect(found.status == .damaged && found.lines.count == 1, "\(found.output)")
      #expect(found.messages.contains("reading /proc/self/mem: "), "\(found.messages)")
      let repaired = await dlstore(words + ["--repair", "--quiet"])
      #expect(repaired.status == .inputOutput, "\(repaired.messages)")
      #expect(Self.body.matches(file: file))
    }
  #endif

  @Test func `a repair runs also if its report cannot be written`() async throws {
    try await get()
    try overwrite(1_500_000)
    let words = ["--store", store, "verify-file", server.url("/a"), "--repair", "--quiet"]
    let failure = CommandFailure(.inputOutput, "cannot write the output: disk full")
    let result = await dlstore(words, failingWith: failure)
    #expect(result.status == .inputOutput)
    #expect(result.messages.contains("the change was made, but cannot write the output"))
    #expect(Self.body.matches(file: file))
  }

  @Test func `a repair that fails makes the exit code 65, and the damaged file stays`() async throws
  {
    try await get()
    try overwrite(1_500_000)
    var refused = Resource(.text("gone"))
    refused.status = 404
    server.route("/a", refused)
    let result = await verify("--repair", "--quiet", "--max-attempts", "1")
    #expect(result.status == .damaged, "\(result.messages)")
    #expect(FileManager.default.fileExists(atPath: file))
    #expect(try RecordStore(at: store).record(matching: server.url("/a")).state != .completed)
  }

  @Test func `the result is available as JSON`() async throws {
    try await get()
    try overwrite(0)
    let result = await verify("--json")
    #expect(result.status == .damaged)
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any]
    #expect(json?["result"] as? String == "damaged")
    #expect(json?["damagedBytes"] as? Int == 1_048_576)
    #expect(json?["damaged"] as? [[Int]] == [[0, 1_048_575]])
    #expect(json?["path"] as? String == file)
  }

  @Test func `a file that was truncated is repaired from its end`() async throws {
    try await get()
    let handle = try FileHandle(forWritingTo: URL(filePath: file))
    try handle.truncate(atOffset: 2_500_000)
    try handle.close()
    #expect(await verify("--repair", "--quiet").status == .done)
    #expect(Self.body.matches(file: file))
    #expect(ranges == [nil, "bytes=2097152-"])
  }

  @Test func `a longer file is replaced without a request`() async throws {
    try await get()
    let handle = try FileHandle(forWritingTo: URL(filePath: file))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("more".utf8))
    try handle.close()
    let found = await verify()
    #expect(found.output == "\(file): damaged: longer than the download\n")
    #expect(await verify("--repair", "--quiet").status == .done)
    #expect(Self.body.matches(file: file))
    #expect(ranges == [nil])
  }

  @Test func `a missing file is downloaded again`() async throws {
    try await get()
    try FileManager.default.removeItem(atPath: file)
    let found = await verify()
    #expect(found.status == .damaged)
    #expect(found.output.hasPrefix("\(file): missing; 'dlstore restart "))
    #expect(found.output.hasSuffix("' downloads it again\n"), "\(found.output)")
    let repaired = await verify("--repair", "--quiet")
    #expect(repaired.status == .done && repaired.output == "\(file): missing\n")
    #expect(Self.body.matches(file: file))
    #expect(ranges == [nil, nil])
  }

  @Test func `a short file is compared with the digest of the download`() async throws {
    let text = Body.text("hello")
    server.route("/a", Resource(text))
    try await get("--checksum", "md5:5d41402abc4b2a76b9719d911017c592")
    #expect(await verify().output == "\(file): correct\n")
    try Data("jello".utf8).write(to: URL(filePath: file))
    #expect(await verify().status == .damaged)
    #expect(await verify("--repair", "--quiet").status == .done)
    #expect(text.matches(file: file))
  }

  @Test func `a file of unknown contents makes the exit code 1`() async throws {
    server.route("/a", Resource(.text("hello")))
    try await get()
    let result = await verify()
    #expect(result.status == .failed)
    #expect(
      result.output
        == "\(file): unknown: there is no checksum to compare its contents with, but its size and "
        + "time are those of the downloaded file; a download with --checksum can be compared\n"
    )
    #expect(await verify("--json").output.contains("\"result\":\"unknown\""))
  }

  @Test func `what has changed of a file without a checksum is said, with what to do`() async throws
  {
    server.route("/a", Resource(.text("hello")))
    try await get()
    let place = URL(filePath: file)
    func expect(_ change: String) async {
      let result = await verify()
      #expect(result.status == .failed)
      #expect(result.output.hasPrefix("\(file): unknown: \(change); "), "\(result.output)")
      #expect(
        result.output.contains("there is no checksum")
          && result.output.contains("'dlstore restart ")
      )
    }
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 1e9)],
      ofItemAtPath: file
    )
    await expect("it was written or touched after the download")
    try Data("hello you".utf8).write(to: place)
    await expect("it has 9 bytes, and the downloaded file had 5")
    try Data("other".utf8).write(to: place, options: .atomic)
    await expect(
      "another file of the same size is in the place of the downloaded one, perhaps a copy"
    )
  }

  @Test func `finished files are selected by a tag, or all are compared`() async throws {
    let files = ["--output-folder", folder.path("files"), "--quiet"]
    for (name, tag) in [("x", "odd"), ("y", "even"), ("z", "odd")] {
      server.route("/\(name)", Resource(.text(name)))
      var hasher = DigestHasher(.md5)
      hasher.update(Array(name.utf8).span)
      let words = ["get", server.url("/\(name)"), "--tag", tag, "--checksum", hasher.digest.text]
      #expect(await dlstore(["--store", store] + words + files).status == .done)
    }
    _ = await dlstore("--store", store, "add", server.url("/waits"), "--tag", "odd")
    func compared(_ options: String...) async -> [String] {
      let result = await dlstore(["--store", store, "verify-file"] + options)
      #expect(result.status == .done, "\(result.messages)")
      return result.lines.sorted()
    }
    let lines = ["x", "y", "z"].map { "\(folder.path("files/\($0)")): correct" }
    #expect(await compared("--tag", "odd") == [lines[0], lines[2]])
    #expect(await compared("--all") == lines)
    let waiting = await dlstore("--store", store, "verify-file", "--state", "waiting")
    #expect(waiting.status == .done && waiting.output.isEmpty)
    #expect(waiting.messages == "dlstore: no completed download is selected\n")
    for command in ["verify-file", "refresh"] {
      let none = await dlstore("--store", store, command, "--tag", "none")
      #expect(none.status == .failed && none.output.isEmpty)
      #expect(none.messages == "dlstore: no download with --tag 'none' exists\n")
    }
    try Data("Y".utf8).write(to: URL(filePath: folder.path("files/y")))
    #expect(await dlstore("--store", store, "verify-file", "--all").status == .damaged)
    #expect(await compared("--tag", "odd") == [lines[0], lines[2]])
  }

  @Test func `a download that is not complete has no finished file`() async throws {
    _ = await dlstore("--store", store, "add", server.url("/a"))
    let result = await verify()
    #expect(result.status == .failed)
    #expect(
      result.messages.contains(
        "a is not complete yet (waiting): 'dlstore run --store \(store)' downloads it"
      )
    )
    // As after a repair that a full disk has ended.
    try change(server.url("/a")) {
      $0.replacedFileIdentity = FileIdentity(size: 1, inode: 2, modified: 3)
    }
    let text =
      "a is not checked: a new file is to replace it, which 'dlstore run --store \(store)' continues"
    let named = await verify()
    #expect(named.status == .failed && named.messages.contains(text), "\(named.messages)")
    // A nightly check must not pass because the damaged file is to be replaced.
    let all = await dlstore("--store", store, "verify-file", "--all")
    #expect(all.status == .failed && all.messages.contains(text), "\(all.messages)")
    #expect(await verify("--repair", "--quiet").status == .done)
    #expect(await dlstore("--store", store, "verify-file", "--all").status == .done)
  }

  @Test(arguments: [true, false])
  func `another file with the name of the finished one is not replaced`(isLong: Bool) async throws {
    let text = Body.text("hello")
    if !isLong { server.route("/a", Resource(text)) }
    try await get(isLong ? "--quiet" : "--checksum=md5:5d41402abc4b2a76b9719d911017c592")
    // The user has moved the finished file, and written another one.
    try FileManager.default.moveItem(atPath: file, toPath: folder.path("moved"))
    try Data("the user's notes".utf8).write(to: URL(filePath: file))
    let result = await verify("--repair", "--quiet")
    #expect(result.status == .damaged)
    #expect(result.messages.contains("is not the downloaded file"), "\(result.messages)")
    #expect(try Data(contentsOf: URL(filePath: file)) == Data("the user's notes".utf8))
    #expect(ranges == [nil])
    // As the message says.
    try FileManager.default.removeItem(atPath: file)
    #expect(await verify("--repair", "--quiet").status == .done)
    #expect(isLong ? Self.body.matches(file: file) : text.matches(file: file))
  }
}
