import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `--metalink` of `add` and `get`.
@Suite(.timeLimit(.minutes(10)))
struct MetalinkOptionTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String
  private let server: FaultServer

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
  }

  private func add(_ arguments: String...) async -> CommandResult {
    // The server of a document may be slow because the machine is busy.
    await dlstore(["--store", store, "add", "--timeout", "10m"] + arguments)
  }

  private func document(_ files: String) -> String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <metalink xmlns="urn:ietf:params:xml:ns:metalink">
    \(files)
    </metalink>
    """
  }

  /// A file that the server has at `/good` and not at `/missing`.
  private func file(digest: String) -> String {
    """
    <file name="new/a.txt"><size>5</size><hash type="sha-256">\(digest)</hash>
    <url priority="1">\(server.url("/missing"))</url>
    <url priority="2" location="de">\(server.url("/good"))</url></file>
    """
  }

  private static let digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

  @Test func `the files of a document are stored with their mirrors, digests and folders`()
    async throws
  {
    let path = try folder.makeFile("a.meta4", document(file(digest: Self.digest)))
    let result = await add("--metalink", path, "--folder", "in", "--tag", "t", "--header", "X: 1")
    #expect(result.status == .done, "\(result.messages)")
    let records = try RecordStore(at: store, access: .readOnly)
    let record = try records.record(matching: server.url("/missing"))
    #expect(record.mirrors == [server.url("/good")])
    #expect(record.folder == "in/new" && record.filename == "a.txt" && record.tags == ["t"])
    #expect(record.expectedDigest == "sha256:\(Self.digest)")
    #expect(try records.headers(of: record) == [HeaderField(name: "X", value: "1")])
  }

  @Test func `a second file with the URL of another one is reported`() async throws {
    let files = ["one", "two", "three"].map { name in
      "<file name=\"\(name)\"><url>http://h/\(name == "three" ? "3" : "1")</url></file>"
    }
    let path = try folder.makeFile("a.meta4", document(files.joined()))
    let result = await add("--metalink", path)
    #expect(result.status == .failed)
    #expect(
      result.messages.contains("skipped 'two': it has the URL of 'one'"),
      "\(result.messages)"
    )
    let names = try RecordStore(at: store, access: .readOnly).records().map(\.filename)
    #expect(Set(names) == ["one", "three"])
  }

  @Test func `a file that the document says is empty fails with bytes`() async throws {
    server.route("/good", Resource(.text("hello")))
    let path = try folder.makeFile(
      "a.meta4",
      document("<file name=\"a\"><size>0</size><url>\(server.url("/good"))</url></file>")
    )
    let result = await dlstore(
      "--store",
      store,
      "get",
      "--metalink",
      path,
      "--max-attempts",
      "1",
      "--quiet",
      "--output-folder",
      folder.path("out")
    )
    #expect(result.status == .failed, "\(result.messages)")
    #expect(!FileManager.default.fileExists(atPath: folder.path("out/a")))
  }

  @Test func `an empty file without a checksum has no correct one`() async throws {
    server.route("/empty", Resource(.text("")))
    let path = try folder.makeFile(
      "a.meta4",
      document("<file name=\"a\"><size>0</size><url>\(server.url("/empty"))</url></file>")
    )
    let place = ["--output-folder", folder.path("out")]
    let result = await dlstore(["--store", store, "get", "--metalink", path] + place)
    #expect(result.status == .done, "\(result.messages)")
    #expect(result.messages.contains("completed ") && !result.messages.contains("correct"))
  }

  @Test func `mirrors in a preferred country come first`() async throws {
    let path = try folder.makeFile("a.meta4", document(file(digest: Self.digest)))
    #expect(await add("--metalink", path, "--metalink-location", "fr, DE").status == .done)
    let records = try RecordStore(at: store, access: .readOnly)
    #expect(try records.record(matching: server.url("/good")).mirrors == [server.url("/missing")])
  }

  @Test(arguments: TransportChoice.available)
  func `a document is fetched from a URL`(_ transport: TransportChoice) async throws {
    server.route("/r.meta4", Resource(.text(document(file(digest: Self.digest)))))
    server.route("/latest", Resource(redirectTo: "/r.meta4"))
    let url = server.url("/latest")
    let result = await add("--metalink", url, "--transport", transport.rawValue)
    #expect(result.status == .done, "\(result.messages)")
    #expect(result.output.contains("a.txt"))
  }

  @Test(arguments: TransportChoice.available)
  func `credentials given with a document's URL stay with its origin`(
    _ transport: TransportChoice
  ) async throws {
    let other = try FaultServer()
    let files = """
      <file name="own"><url>\(server.url("/own"))</url></file>
      <file name="other"><url>\(other.url("/other"))</url></file>
      """
    server.route("/r.meta4", Resource(.text(document(files))))
    let netrc = try folder.makeFile("netrc", "default login l password p")
    let result = await add(
      "--metalink",
      server.url("/r.meta4"),
      "--header",
      "Private-Token: hush",
      "--header",
      "Accept: */*",
      "--referer",
      "\(server.url("/page"))?token=hush",
      "--netrc-file",
      netrc,
      "--transport",
      transport.rawValue
    )
    #expect(result.status == .done, "\(result.messages)")
    #expect(result.messages.contains("Private-Token") && !result.messages.contains("hush"))
    // The document itself may need them.
    #expect(server.requests.first?["Private-Token"] == "hush")
    #expect(server.requests.first?["Authorization"] == "Basic bDpw")
    let records = try RecordStore(at: store, access: .readOnly)
    func names(_ url: String) throws -> [String] {
      try records.headers(of: records.record(matching: url)).map(\.name)
    }
    #expect(
      try names(server.url("/own")) == ["Private-Token", "Accept", "Referer", "Authorization"]
    )
    #expect(try names(other.url("/other")) == ["Accept"])
  }

  @Test func `get downloads the files of a document from a mirror and checks the digest`()
    async throws
  {
    server.route("/good", Resource(.text("hello")))
    let path = try folder.makeFile("a.meta4", document(file(digest: Self.digest)))
    let process = try DLStoreProcess(["get", "--metalink", path], store: store, in: folder.path)
    #expect(try await process.status() == 0, "\(process.messages)")
    #expect(try String(contentsOfFile: folder.path("new/a.txt"), encoding: .utf8) == "hello")
  }

  @Test func `only the damaged piece of a file is downloaded again`() async throws {
    let body = Body.generated(byteCount: 2_500_000, seed: 12)
    var resource = Resource(body)
    resource.faults = [.damage(at: 1_500_000)]
    server.route("/p", resource)
    func digest(_ start: Int64, _ count: Int, _ algorithm: Digest.Algorithm) -> String {
      var hasher = DigestHasher(algorithm)
      hasher.update(body.bytes(at: start, count: count).span)
      return hasher.digest.hexadecimal
    }
    let pieces = stride(from: 0 as Int64, to: 2_500_000, by: 1_000_000)
      .map { "<hash>\(digest($0, 1_000_000, .sha1))</hash>" }
    let path = try folder.makeFile(
      "a.meta4",
      document(
        """
        <file name="p"><size>2500000</size>
        <hash type="sha-256">\(digest(0, 2_500_000, .sha256))</hash>
        <pieces length="1000000" type="sha-1">\(pieces.joined())</pieces>
        <url>\(server.url("/p"))</url></file>
        """
      )
    )
    let process = try DLStoreProcess(["get", "--metalink", path], store: store, in: folder.path)
    #expect(try await process.status() == 0, "\(process.messages)")
    #expect(body.matches(file: folder.path("p")))
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=1000000-1999999"])
  }

  @Test func `a file that cannot be used is reported with its line, and the others are stored`()
    async throws
  {
    let path = try folder.makeFile(
      "a.meta4",
      document("<file name=\"../b\"><url>http://h/b</url></file>\n" + file(digest: Self.digest))
    )
    let result = await add("--metalink", path)
    #expect(result.status == .failed)
    #expect(result.messages.contains("a.meta4:3: skipped a file: '../b'"), "\(result.messages)")
    #expect(result.output.split(separator: "\n").count == 1)
  }

  @Test func `a document that is not Metalink, or not there, stores nothing`() async throws {
    let closed = try ClosedPort()
    let text = try folder.makeFile("a.meta4", "http://h/a\n")
    let failures: [(place: String, status: CommandLineSupport.ExitStatus)] = [
      (text, .damaged), (folder.path("none"), .notFound), (server.url("/none"), .failed),
      (closed.url("/a.meta4"), .unreachable),
    ]
    for (place, status) in failures {
      let result = await add("--metalink", place, "http://h/a")
      #expect(result.status == status, "\(place): \(result.messages)")
    }
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `messages show no secret of a document's URL`() async throws {
    let url = server.url("/none?token=hush").replacing("//", with: "//me:hush@")
    let result = await add("--metalink", url)
    #expect(result.status == .failed)
    #expect(!result.messages.contains("hush") && result.messages.contains("404"))
  }

  @Test(arguments: [
    ["--metalink-location", "de", "http://h/a"], ["--metalink", "a", "--metalink-location", "x"],
    ["--metalink", "a", "http://h/a", "-o", "b"], ["--metalink", "-", "--input-file", "-"],
  ])
  func `options that contradict each other are refused`(arguments: [String]) async {
    #expect(await dlstore(["--store", store, "add"] + arguments).status == .usage)
  }
}
