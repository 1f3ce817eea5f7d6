import ArgumentParser
import CommandTestSupport
import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Options and values as users of curl, wget and aria2c type them.
@Suite(.timeLimit(.minutes(10)))
struct TypedWordsTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func run(_ arguments: String...) async -> CommandResult {
    await dlstore([arguments[0], "--store", store] + arguments.dropFirst())
  }

  private func record(_ url: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: url)
  }

  // MARK: Short options

  @Test func `short options of other programs have their meaning`() async throws {
    let list = try folder.makeFile("urls.txt", "http://h/listed\n")
    let added = await run(
      "add",
      "http://h/x",
      "-H",
      "Accept: text/plain",
      "-A",
      "agent",
      "-e",
      "http://r/"
    )
    #expect(added.status == .done)
    // A store that is open for reading only cannot be opened for writing in the same process.
    let fields = try {
      let opened = try RecordStore(at: store, access: .readOnly)
      return try opened.headers(of: try opened.record(matching: "http://h/x"))
    }()
    #expect(Set(fields.map(\.name)) == ["Accept", "User-Agent", "Referer"])
    #expect(await run("add", "-i", list).output.contains("listed"))
    for option in ["-o", "--output", "--out"] {
      let name = "file\(option)"
      #expect(await run("add", "http://h/\(name)-url", option, name).output.contains(name))
    }
    let get = try GetCommand.parse(["http://h/x", "-j", "7", "--dir", "d"])
    #expect(get.limits.concurrency.maximumRunning == 7 && get.outputFolder == "d")
  }

  // MARK: Rates

  @Test(arguments: [("1.5M", 1_572_864), ("2MiB", 2_097_152), ("1KB", 1024)])
  func `a rate has the units that users type`(text: String, rate: Int64) async throws {
    #expect(await run("add", "http://h/x", "--limit-rate-per-download", text).status == .done)
    #expect(try record("http://h/x").bytesPerSecond == rate)
    #expect(try GetCommand.parse(["http://h/x", "--limit-rate", text]).limits.limitRate == rate)
  }

  @Test(arguments: ["0", "none"])
  func `no rate limit is 0 or none`(text: String) async throws {
    _ = await run("add", "http://h/x", "--limit-rate-per-download", "1K")
    #expect(await run("set", "x", "--limit-rate-per-download", text).status == .done)
    #expect(try record("http://h/x").bytesPerSecond == nil)
    #expect(await run("add", "http://h/y", "--limit-rate-per-download", text).status == .done)
    #expect(try record("http://h/y").bytesPerSecond == nil)
    #expect(try RunCommand.parse(["--limit-rate", text]).limits.limitRate == 0)
  }

  // MARK: Paths of files

  @Test func `a relative path of -o is a folder below the root, and a name`() async throws {
    #expect(await run("add", "http://h/x", "-o", "sub/deep/name").status == .done)
    let added = try record("http://h/x")
    #expect(added.folder == "sub/deep" && added.filename == "name" && added.isNameGiven)
    _ = await run("add", "http://h/y", "-o", "./b", "--folder", "f")
    #expect(try record("http://h/y").folder == "f")
    _ = await run("add", "http://h/z", "-o", "g/c", "--folder", "f")
    #expect(try record("http://h/z").destination.hasSuffix("f/g/c"))
  }

  @Test func `an absolute path of -o is a root and a name`() async throws {
    let path = folder.path("elsewhere/deep/name")
    #expect(await run("add", "http://h/x", "-o", path).status == .done)
    let added = try record("http://h/x")
    let roots = try RecordStore(at: store, access: .readOnly).roots()
    #expect(try roots.layout(of: added).finalPath == path)
    let again = await run("add", "http://h/x", "-o", folder.path("other/name"))
    #expect(again.status == .usage && again.messages.contains("is known as"))
    let both = await run("add", "http://h/y", "-o", path, "--folder", "f")
    #expect(both.status == .usage && both.messages.contains("cannot be combined"))
    let get = await run("get", "http://h/y", "-o", path, "--output-folder", folder.path)
    #expect(get.status == .usage && get.messages.contains("cannot be combined"))
  }

  @Test(arguments: [
    ("-", "only 'get' writes to standard output"), ("a/", "must end with a file name"),
    ("..", "must end with a file name"), ("../a", "must not leave the folder"),
    ("/", "must end with a file name"), ("/tmp/.", "must end with a file name"),
  ])
  func `a path of -o that names no file is refused`(path: String, message: String) async throws {
    let result = await run("add", "http://h/x", "-o", path)
    #expect(result.status == .usage && result.messages.contains(message), "\(result.messages)")
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `the path of -o that is a folder is named as a user writes it`() async throws {
    let result = await run("add", "http://h/x", "-o", "/tmp")
    let message = "-o must end with a file name, and /tmp is a folder: write -o '/tmp/NAME'"
    #expect(result.status == .usage && result.messages == "dlstore: \(message)\n")
  }

  @Test(arguments: ["", "# comment\n\n"])
  func `a list without a download is named`(text: String) async throws {
    let list = try folder.makeFile("list.txt", text)
    let result = await run("add", "--input-file", list)
    let message = "dlstore: \(list) contains no URL: there is nothing to download\n"
    #expect(result.status == .usage && result.messages == message)
  }

  // MARK: URLs

  @Test(arguments: [
    ("example.com/x", "https://example.com/x"), ("localhost:8080/x", "https://localhost:8080/x"),
    ("192.0.2.1/x?a=b", "https://192.0.2.1/x?a=b"), ("example.com", "https://example.com"),
  ])
  func `a URL without a scheme is one of https`(text: String, url: String) async throws {
    let result = await run("add", text)
    #expect(result.status == .done)
    #expect(result.messages.contains("\(text) is taken as \(url)"))
    #expect(try record(url).url == url)
  }

  @Test(arguments: [
    "x", "/x", "./a.b", "me@example.com", "example.com:http/x", "a b.c", "-", "a..b",
  ])
  func `a text that begins with no host is not completed`(text: String) {
    #expect(URLText.completed(text) == nil)
  }

  @Test func `a file in the place of a URL gets a hint`() async throws {
    let path = try folder.makeFile("urls.txt", "http://h/x\n")
    // Only a relative path can look like a host.
    #expect(URLText.completed("urls.txt") == "https://urls.txt")
    let result = try await DLStoreProcess.run("add", "urls.txt", store: store, in: folder.path)
    #expect(result.status == 64)
    #expect(result.messages.contains("'urls.txt' is a file"), "\(path): \(result.messages)")
  }

  // MARK: Connections

  @Test func `more connections raise the limits that are not given`() throws {
    func limits(_ arguments: String...) throws -> EngineLimits {
      try RunCommand.parse(arguments).limits
    }
    let usual = try limits()
    #expect(usual.concurrency == ConcurrencyLimits() && usual.connectionNotice == nil)
    let eight = try limits("--connections", "8").concurrency
    #expect(eight.maximumRunning == 8 && eight.maximumPerHost == 8)
    let four = try limits("--connections", "8", "--per-host", "4")
    #expect(four.concurrency.maximumPerHost == 4 && four.concurrency.maximumRunning == 8)
    #expect(
      four.connectionNotice
        == "a file uses at most 4 of the 8 --connections, because --per-host is 4"
    )
    #expect(
      try limits("--connections", "8", "-j", "2").connectionNotice
        == "a file uses at most 2 of the 8 --connections, because --max-concurrent is 2"
    )
    #expect(try limits("--connections", "2").concurrency == ConcurrencyLimits())
    // The default number of connections needs no message.
    #expect(try limits("-j", "2").connectionNotice == nil)
  }

  @Test func `more downloads at a time raise the limit per host that is not given`() throws {
    func limits(_ arguments: String...) throws -> ConcurrencyLimits {
      try RunCommand.parse(arguments).limits.concurrency
    }
    #expect(try limits("-j", "8") == ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 8))
    #expect(try limits("-j", "2") == ConcurrencyLimits(maximumRunning: 2, maximumPerHost: 4))
    #expect(
      try limits("-j", "8", "--per-host", "3")
        == ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 3)
    )
  }

  // MARK: get

  #if os(Linux)
    @Test func `get reads a list from a pipe`() async throws {
      let server = try FaultServer()
      for name in ["a", "b"] { server.route("/\(name)", Resource(.text(name))) }
      let urls = ["a", "b"].map { server.url("/\($0)") }.joined(separator: "\\n")
      let result = try await DLStoreProcess.run(
        store: store,
        in: folder.path,
        shell: "printf '\(urls)\\n' | dlstore get --input-file -"
      )
      #expect(result.status == 0, "\(result.messages)")
      for name in ["a", "b"] {
        #expect(try String(contentsOfFile: folder.path(name), encoding: .utf8) == name)
      }
    }

    @Test func `a part of several downloads that cannot be reached exits with 1, all with 69`()
      async throws
    {
      let server = try FaultServer()
      server.route("/a", Resource(.text("a")))
      // Nothing listens on port 1.
      let refused = "http://127.0.0.1:1/x"
      let both = try await DLStoreProcess.run(
        "get",
        server.url("/a"),
        refused,
        store: store,
        in: folder.path
      )
      #expect(both.status == 1)
      let one = try await DLStoreProcess.run("get", refused, store: store, in: folder.path)
      #expect(one.status == 69)
    }
  #endif
}
