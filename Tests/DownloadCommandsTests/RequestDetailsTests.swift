import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The options of `add` and `get` that take header fields and digests from files.
@Suite(.timeLimit(.minutes(10)))
struct RequestDetailsTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func add(_ arguments: [String]) async -> CommandResult {
    await dlstore(["--store", store, "add"] + arguments)
  }

  private func headers(of url: String) throws -> [HeaderField] {
    let records = try RecordStore(at: store, access: .readOnly)
    return try records.headers(of: records.record(matching: url))
  }

  @Test func `user agent and referer are stored with each download`() async throws {
    let list = try folder.makeFile("list", "http://b/1\n referer=http://own/\n")
    let result = await add([
      "http://a/1", "--input-file", list, "--user-agent", "Tester/1.0 (x)", "--referer",
      "http://user:secret@page/?token=t#f",
    ])
    #expect(result.status == .done)
    let agent = HeaderField(name: "User-Agent", value: "Tester/1.0 (x)")
    let referer = HeaderField(name: "Referer", value: "http://page/?token=t")
    #expect(try headers(of: "http://a/1") == [agent, referer])
    let own = HeaderField(name: "Referer", value: "http://own/")
    #expect(try headers(of: "http://b/1") == [own, agent])
    let shown = await dlstore("--store", store, "inspect", "http://a/1")
    #expect(shown.output.contains("token=•••") && !shown.output.contains("secret"))
  }

  @Test func `a list precedes --header, which precedes files, by the names of fields`()
    async throws
  {
    let list = try folder.makeFile(
      "list",
      "http://a/1\n header=authorization: line\n header=X: 1\n header=X: 2\nhttp://a/2\n"
    )
    let netrc = try folder.makeFile("netrc", "default login l password p")
    let result = await add([
      "--input-file", list, "--header", "Authorization: option", "--header", "x: 3", "--header",
      "Y: 1", "--header", "y: 2",
    ])
    #expect(result.status == .done, "\(result.messages)")
    func texts(_ url: String) throws -> [String] {
      try headers(of: url).map { "\($0.name): \($0.value)" }
    }
    #expect(try texts("http://a/1") == ["authorization: line", "X: 1", "X: 2", "Y: 1", "y: 2"])
    #expect(try texts("http://a/2") == ["Authorization: option", "x: 3", "Y: 1", "y: 2"])
    let other = try folder.makeFile("other", "http://a/3\n header=authorization: line\nhttp://a/4")
    let added = await add(["--input-file", other, "--netrc-file", netrc])
    #expect(added.status == .done, "\(added.messages)")
    #expect(try texts("http://a/3") == ["authorization: line"])
    #expect(try texts("http://a/4") == ["Authorization: Basic bDpw"])
  }

  @Test(arguments: [
    ("http://u:p@h/x#f", "http://h/x"), ("http://h/x#\u{FE0F}\u{20E3}", "http://h/x"),
    ("http://u:p@\u{301}h/x", "http://\u{301}h/x"), ("http://h/\u{301}a@b", "http://h/\u{301}a@b"),
  ])
  func `a referer has neither user info nor a fragment`(url: String, sent: String) {
    #expect(RefererText.sent(url) == sent)
  }

  @Test(arguments: [
    ["--user-agent", "x", "--header", "user-agent: y"], ["--referer", "x"], ["--user-agent", ""],
    ["--referer", "http://a/", "--header", "Referer: y"], ["--user-agent", "a\nb"],
    ["--netrc", "--netrc-file", "x"], ["--netrc-file", "x", "--header", "Authorization: y"],
    ["--cookie-file", "x", "--header", "Cookie: y"],
    ["--checksum-file", "x", "--checksum", "md5:9e107d9d372bb6826bd81d3542a419d6"],
    ["--checksum-file", "https://a/SHA256SUMS"], ["--cookie-file", "-", "--netrc-file", "-"],
  ])
  func `options that contradict each other are refused`(options: [String]) async throws {
    let result = await dlstore(["--store", store, "add", "http://a/1"] + options)
    #expect(result.status == .usage, "\(result.messages)")
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test(arguments: [
    ("--metalink", "htps://u:hunter2@h/a.meta4?token=hunter2"),
    ("--metalink", "https://u:hun/ter2@h/a.meta4"), ("--metalink", "file://u:hunter2@h/a.meta4"),
    ("--input-file", "https://u:hunter2@h/list.txt?token=hunter2"),
    ("--input-file", "htp://u:hunt/hunter2@h/list.txt"),
    ("--checksum-file", "https://u:hunter2@h/SHA256SUMS?token=hunter2"),
    ("--netrc-file", "https://u:hunter2@h/netrc"), ("--cookie-file", "https://u:hunter2@h/cookies"),
    ("--adopt", "https://u:hunter2@h/a"),
  ])
  func `a message about a file that is a URL repeats no credentials`(
    option: String,
    value: String
  ) async {
    let result = await dlstore("--store", store, "add", "http://a/1", option, value)
    #expect(result.status != .done)
    #expect(!result.messages.contains("hunter2") && !result.messages.contains("ter2"))
    #expect(!result.messages.isEmpty)
  }

  @Test(arguments: ["bücher.example", "xn--bcher-kva.example"])
  func `files name hosts in Unicode or in ASCII`(name: String) async throws {
    let netrc = try folder.makeFile("netrc", "machine \(name) login l password p")
    let cookies = try folder.makeFile("cookies", "\(name)\tFALSE\t/\tFALSE\t0\tn\tv")
    let options = ["--netrc-file", netrc, "--cookie-file", cookies]
    let url = "http://bücher.example/x"
    let result = await dlstore(["--store", store, "add", url] + options)
    #expect(result.status == .done, "\(result.messages)")
    #expect(try headers(of: url).map(\.name) == ["Authorization", "Cookie"])
  }

  @Test(arguments: [(".env", "env"), ("x.part ", nil), ("a.iso", nil)])
  func `a file name that is changed is reported`(name: String, stored: String?) async {
    let result = await dlstore("--store", store, "add", "http://a/1", "-o", name)
    #expect(result.status == .done)
    #expect(stored.map { result.messages.contains("stored as '\($0)'") } ?? true)
    #expect(result.messages.contains("is stored as") == (name != "a.iso"))
    let changed = await dlstore("--store", store, "set", "http://a/1", "--filename", "..x.iso")
    #expect(changed.messages.contains("--filename: the file name is stored as 'x.iso'"))
  }

  @Test func `a number out of range is refused with its range`() async {
    let added = await dlstore("--store", store, "add", "http://a/1", "--priority", "2147483648")
    #expect(added.status == .usage && added.messages.contains("-2147483648 to 2147483647"))
    let count = "--connections-per-download"
    let many = await dlstore("--store", store, "add", "http://a/1", count, "2147483648")
    #expect(many.status == .usage && many.messages.contains("from 1 to 2147483647"))
  }

  @Test func `a netrc file gives each host its own login`() async throws {
    let netrc = try folder.makeFile(
      "netrc",
      "machine a login l password p\nmachine b login m password q\n"
    )
    let list = try folder.makeFile("list", "http://a/2\n header=Authorization: own\n")
    let result = await add([
      "http://a/1", "http://b/1", "http://c/1", "http://u:v@a/3", "--input-file", list,
      "--netrc-file", netrc,
    ])
    #expect(result.status == .done)
    #expect(try headers(of: "http://a/1").map(\.value) == ["Basic bDpw"])
    #expect(try headers(of: "http://b/1").map(\.value) == ["Basic bTpx"])
    #expect(try headers(of: "http://c/1").isEmpty)
    #expect(try headers(of: "http://u:v@a/3").isEmpty)
    #expect(try headers(of: "http://a/2").map(\.value) == ["own"])
    let listing = await dlstore("--store", store, "inspect", "http://a/1", "--json")
    #expect(!listing.output.contains("bDpw"))
  }

  /// The options with the contents of their file, `nil` if it is missing, and the exit code.
  private static let unusableFiles: [(String, String?, Int32)] = [
    ("--netrc-file", "machine a login \"l", 65), ("--netrc-file", nil, 66),
    ("--netrc-file", "machine a login x:y password p", 64), ("--cookie-file", nil, 66),
    ("--cookie-file", "<html>", 65), ("--checksum-file", nil, 66),
    ("--checksum-file", "<html>", 65),
    ("--checksum-file", "9e107d9d372bb6826bd81d3542a419d6  other", 1),
    ("--checksum-file", "9e107d9d372bb6826bd81d3542a419d6  1\n\(zeros)  1", 1),
  ]
  private static let zeros = String(repeating: "0", count: 32)

  @Test(arguments: unusableFiles)
  func `an unusable file adds nothing`(
    option: String,
    text: String?,
    status: Int32
  ) async throws {
    let file = folder.path("file")
    if let text { try folder.makeFile("file", text) }
    let result = await add(["http://a/1", option, file])
    #expect(result.status.rawValue == status, "\(result.messages)")
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `a checksum file gives digests by the name in the URL, or else by the given name`()
    async throws
  {
    let one = String(repeating: "1", count: 64)
    let two = String(repeating: "2", count: 64)
    let sums = try folder.makeFile("SHA256SUMS", "\(one)  a b.iso\n\(two) *named.iso\n")
    let own = "9e107d9d372bb6826bd81d3542a419d6"
    let list = try folder.makeFile(
      "list",
      "http://a/named.iso\nhttp://a/x\n checksum=md5=\(own)\nhttp://a/unknown\n"
    )
    let added = await add(["http://a/a%20b.iso?x=1", "--checksum-file", sums, "--input-file", list])
    #expect(added.status == .failed)
    #expect(added.messages.contains("list:4: the checksum files have no checksum of 'unknown'"))
    let renamed = await add(["http://a/latest", "-o", "named.iso", "--checksum-file", sums])
    #expect(renamed.status == .done)
    let records = try RecordStore(at: store, access: .readOnly).records()
    let digests = Dictionary(uniqueKeysWithValues: records.map { ($0.url, $0.expectedDigest) })
    #expect(
      digests == [
        "http://a/a%20b.iso?x=1": "sha256:\(one)", "http://a/named.iso": "sha256:\(two)",
        "http://a/x": "md5:\(own)", "http://a/latest": "sha256:\(two)",
      ]
    )
  }

  @Test func `a checksum file gives digests by the folders in the URL, as they are requested`()
    async throws
  {
    let one = String(repeating: "1", count: 64)
    let two = String(repeating: "2", count: 64)
    let sums = try folder.makeFile("SHA256SUMS", "\(one)  b c/x.iso\n\(two)  d/x.iso\n")
    let added = await add(["http://a/[v1]/b%20c/x.iso", "--checksum-file", sums])
    #expect(added.status == .done, "\(added.messages)")
    let records = try RecordStore(at: store, access: .readOnly).records()
    #expect(records.map(\.expectedDigest) == ["sha256:\(one)"])
  }

  @Test(arguments: TransportChoice.available)
  func `credentials and cookies reach their own host, and no other after a redirect`(
    transport: TransportChoice
  ) async throws {
    let target = try FaultServer()
    target.route("/file", Resource(.text("data")))
    let server = try FaultServer()
    var redirect = Resource(.text(""))
    redirect.redirect = Resource.Redirect(to: target.url("/file"))
    server.route("/start", redirect)
    let netrc = try folder.makeFile("netrc", "machine 127.0.0.1 login l password p")
    let cookies = try folder.makeFile(
      "cookies",
      "127.0.0.1\tFALSE\t/start\tFALSE\t0\tsession\tsecret\n"
    )
    let process = try DLStoreProcess(
      [
        "get", server.url("/start"), "--netrc-file", netrc, "--cookie-file", cookies,
        "--user-agent", "Tester/1", "--transport", transport.rawValue,
      ],
      store: store,
      in: folder.path
    )
    #expect(try await process.status() == 0, "\(process.messages)")
    let first = try #require(server.requests.first)
    #expect(first["authorization"] == "Basic bDpw")
    #expect(first["cookie"] == "session=secret")
    #expect(first["user-agent"] == "Tester/1")
    // The same host on another port is another origin.
    let second = try #require(target.requests.first)
    #expect(second["authorization"] == nil)
    #expect(second["cookie"] == nil)
    #expect(second["user-agent"] == "Tester/1")
  }
}
