import CommandTestSupport
import DownloadReports
import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What people read about servers that are slow, break off or send people elsewhere, and about disks.
@Suite(.timeLimit(.minutes(10)))
struct TransferMessageTests {
  private let folder: TemporaryFolder
  private let store: String
  private let server: FaultServer
  private let body = Body.generated(byteCount: 100_000, seed: 1)

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
  }

  private func get(_ url: String, _ options: String...) async -> CommandResult {
    let output = ["--output-folder", folder.path("files"), "--transport", "async-http-client"]
    return await dlstore(["--store", store, "get", url] + output + options)
  }

  private func id(_ url: String) throws -> String {
    try RecordStore(at: store, access: .readOnly).record(matching: url).id
  }

  /// The messages that begin with a word, without the program's name.
  private func lines(_ result: CommandResult, _ word: String) -> [String] {
    result.messages.split(separator: "\n").map { String($0.trimmingPrefix("dlstore: ")) }
      .filter { $0.hasPrefix(word) }
  }

  @Test(arguments: [Fault.stallBeforeHeader, .stallAfter(bytes: 20_000)])
  func `a silent server is told apart, with the time that was waited`(_ fault: Fault) async throws {
    server.route("/x", Resource(body, faults: fault, then: .repeatLast))
    let result = await get(server.url("/x"), "--timeout", "1s", "--max-attempts", "1")
    #expect(
      lines(result, "failed") == [
        "failed x: 127.0.0.1 port \(server.port) sent nothing for 1 s; --timeout sets the limit; "
          + "the same command tries again"
      ]
    )
  }

  @Test func `a server that breaks off says so, and the next attempt has its byte`() async throws {
    server.route("/x", Resource(body, faults: .closeAfter(bytes: 60_000)))
    let result = await get(server.url("/x"))
    #expect(result.status == .done)
    let name = "127.0.0.1 port \(server.port)"
    let line = lines(result, "retrying").first ?? ""
    #expect(
      line.hasPrefix("retrying x: \(name) closed the connection before the end of the response; ")
    )
    #expect(line.contains("attempt 2 of 8 "))
  }

  @Test func `bytes that cannot be continued are named, with the reason`() async throws {
    var resource = Resource(body, faults: .closeAfter(bytes: 60_000))
    resource.etag = nil
    server.route("/x", resource)
    let result = await get(server.url("/x"), "--retry-wait", "1ms")
    #expect(result.status == .done)
    let retry = lines(result, "retrying").first ?? ""
    #expect(!retry.contains("from byte"), "\(result.messages)")
    let line = lines(result, "starting over").first ?? ""
    #expect(line.hasPrefix("starting over \(server.url("/x")): its "), "\(result.messages)")
    #expect(
      line.contains(/its [1-9][0-9]* bytes are of no use: the server stated no strong entity tag/)
    )
  }

  @Test func `a file with gaps continues with its missing bytes, and not from a byte`() throws {
    let opened = try RecordStore(at: store)
    var record = try opened.addNow([DownloadRequest(url: "http://h/x")])[0].record
    record.expected = 100
    record.entityTag = "\"1\""
    record.received = 20
    record.failedAttempts = 1
    let ends = { (record: DownloadRecord) in
      let line = EventLine()
      let failure = DownloadFailure(.connectionLost, "lost")
      let entry = DownloadEntry(record, try opened.roots())
      let inspected = InspectionText.lines(of: entry, headers: [], revealsSecrets: false)
      return [
        line.text(for: .started(record, offset: 10)) ?? "",
        line.text(for: .retrying(record, failure, wait: .seconds(1))) ?? "",
        inspected.first { $0.hasPrefix("resume") } ?? "",
      ]
    }
    let whole = try ends(record)
    #expect(whole[0].hasSuffix("x from byte 10") && whole[1].hasSuffix("in 1 s, from byte 20"))
    #expect(whole[2].hasSuffix("from byte 20, if the file is still \"1\""))
    record.ranges = ByteRanges([0..<10, 50..<60]).encoded
    let gaps = try ends(record)
    #expect(gaps[0].hasSuffix("x with 20 bytes on disk"))
    #expect(gaps[1].hasSuffix("in 1 s, with 20 bytes on disk"))
    #expect(
      gaps[2].hasSuffix(
        "with the missing bytes: 20 bytes in 2 ranges are on disk, if the file is still \"1\""
      )
    )
  }

  @Test func `the end of a refresh says what has become of the finished file`() async throws {
    server.route("/x", Resource(body))
    _ = await get(server.url("/x"))
    let opened = try RecordStore(at: store)
    let failure = DownloadFailure(.notFound, "the server answered with status 404")
    var record = try opened.record(matching: server.url("/x"))
    record.failedAttempts = 1
    record.attempts = [Attempt(at: Date(), url: record.url, failure: failure, received: 0)]
    let path = folder.path("files/x")
    for fate in ["stays", "was changed", "is missing"] {
      if fate == "was changed" { try Data("other".utf8).write(to: URL(filePath: path)) }
      if fate == "is missing" { try FileManager.default.removeItem(atPath: path) }
      let line = EventLine(of: opened)
      let entry = DownloadEntry(record, try opened.roots())
      let inspected = InspectionText.lines(of: entry, headers: [], revealsSecrets: false)
      for text in [
        line.text(for: .failed(record, failure)), line.text(for: .released(url: record.url)),
        inspected.first { $0.hasPrefix("refresh ") },
      ] {
        #expect(text?.contains("the finished file \(fate)") == true, "\(text ?? "")")
      }
    }
  }

  @Test func `a running download is not described by what a stopped one would need`() throws {
    let opened = try RecordStore(at: store)
    var record = try opened.addNow([DownloadRequest(url: "http://h/x")])[0].record
    record.state = .running
    let next = { (engineRuns: Bool) in
      let entry = DownloadEntry(record, try opened.roots(), engineRuns: engineRuns)
      return InspectionText.lines(of: entry, headers: [], revealsSecrets: false)
        .first { $0.hasPrefix("next") } ?? ""
    }
    #expect(try next(true).hasSuffix("  the engine downloads the rest"))
    #expect(try !next(false).hasSuffix("  the engine downloads the rest"))
  }

  @Test func `inspect says what happened, and what to do`() async throws {
    server.route("/x", Resource(body, faults: .status(404), then: .repeatLast))
    _ = await get(server.url("/x"))
    let id = try id(server.url("/x"))
    let text = await dlstore("--store", store, "inspect", id).output
    func value(_ name: String) -> String? {
      text.split(separator: "\n").first { $0.hasPrefix("\(name)  ") }
        .map { $0.dropFirst(name.count).trimmingCharacters(in: .whitespaces) }
    }
    #expect(value("state") == "failed")
    #expect(
      value("next")
        == "waits for a command: check the URL: 'dlstore set \(id) --url URL --store \(store)' "
        + "corrects it"
    )
    #expect(value("failed")?.contains("the server has no such file (404 Not Found)") == true)
    _ = await dlstore("--store", store, "add", "http://h.invalid/y")
    let waiting = await dlstore("--store", store, "inspect", "y").output
    #expect(waiting.contains("state         waiting\n"), "\(waiting)")
    _ = await dlstore("--store", store, "pause", "y")
    let paused = await dlstore("--store", store, "inspect", "y").output
    #expect(paused.contains("next          waits for 'dlstore resume "), "\(paused)")
  }

  @Test func `the wait that a server asks for is named and kept`() async throws {
    server.route("/x", Resource(body, faults: .status(503, retryAfter: "1")))
    let result = await get(server.url("/x"))
    #expect(result.status == .done)
    #expect(
      lines(result, "retrying") == [
        "retrying x: the server cannot answer at the moment (503 Service Unavailable); it asks to "
          + "wait 1 s; attempt 2 of 8 in 1 s"
      ]
    )
  }

  @Test func `a server that asks for an hour ends the command`() async throws {
    server.route("/x", Resource(body, faults: .status(429, retryAfter: "3600")))
    let result = await get(server.url("/x"))
    #expect(result.status == .failed)
    let failed = lines(result, "failed")
    #expect(failed.count == 1 && failed[0].contains("it asks to wait 3600 s"), "\(result.messages)")
    #expect(failed[0].hasSuffix("the same command tries again"), "\(failed)")
    // It is no reason to refuse the next attempt.
    #expect(await get(server.url("/x")).status == .done)
  }

  @Test func `a circle of redirects names its last URL`() async throws {
    var resource = Resource(body)
    resource.redirect = Resource.Redirect(to: "/x")
    server.route("/x", resource)
    let url = server.url("/x")
    let result = await get(url)
    let id = try id(url)
    #expect(
      lines(result, "failed") == [
        "failed x: more than 20 redirects, the last one from \(url); 'dlstore set \(id) --url URL "
          + "--store \(store)' sets the address of the file"
      ]
    )
  }

  @Test func `a wrong checksum names both, and what to do`() async throws {
    server.route("/x", Resource(.text("x")))
    let required = "md5:" + String(repeating: "0", count: 32)
    let result = await get(server.url("/x"), "--checksum", required)
    #expect(
      lines(result, "failed") == [
        "failed x: the digest of the file is md5:9dd4e461268c8034f5c8564e155c67a6, but \(required) is "
          + "required; the bytes are deleted; if another checksum is published, 'dlstore get URL "
          + "--checksum ALGORITHM:HEX --store \(store)' requires that one; "
          + "the same command downloads the file again"
      ]
    )
  }

  @Test func `a Metalink document that states a size of 0 is named so`() async throws {
    server.route("/x", Resource(.text("x")))
    let document = try folder.makeFile(
      "x.meta4",
      """
      <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="x"><size>0</size>
      <url>\(server.url("/x"))</url></file></metalink>
      """
    )
    let output = ["--output-folder", folder.path("files"), "--transport", "async-http-client"]
    let result = await dlstore(["--store", store, "get", "--metalink", document] + output)
    let line = lines(result, "failed x: ").first ?? ""
    #expect(line.hasPrefix("failed x: the file is not empty, but a size of 0 bytes is required; "))
    #expect(!line.contains("sha256"))
  }

  @Test func `the login of a URL is sent`() async throws {
    server.route("/x", Resource(body))
    let url = server.url("/x").replacing("http://", with: "http://me:hush@")
    #expect(await get(url).status == .done)
    let sent = server.requests.first?.fields.first { $0.name.lowercased() == "authorization" }
    #expect(sent?.value == "Basic bWU6aHVzaA==")
  }

  #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "this process may not mount a file system"))
    func `a full disk is named once, with what to do`() async throws {
      let disk = try #require(SmallDisk(kilobytes: 2_048))
      server.route("/x", Resource(.generated(byteCount: 8_000_000, seed: 2)))
      let output = ["--output-folder", disk.path, "--transport", "async-http-client"]
      let result = await dlstore(["--store", store, "get", server.url("/x")] + output)
      #expect(result.status == .inputOutput)
      let line = lines(result, "the disk with ").first ?? ""
      #expect(line.contains(disk.path) && line.contains("free some space"), "\(result.messages)")
      #expect(line.contains(/; 1 unfinished download has [0-9.]+ MiB left to download$/), "\(line)")
      #expect(line.components(separatedBy: "free ").count == 2)
      // The store on a full disk.
      let full = try #require(SmallDisk(kilobytes: 16))
      let added = await dlstore("--store", "\(full.path)/store", "add", "http://h/x")
      #expect(added.status == .inputOutput && added.messages.contains("the disk is full"))
      #expect(!added.messages.contains("fallocate") && !added.messages.contains("mdb_"))
    }
  #endif
}
