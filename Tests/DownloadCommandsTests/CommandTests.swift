import ArgumentParser
import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import ResumeData
import TestSupport
import TestTraits
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// Commands that need no network, run in this process.
struct CommandTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  // MARK: The command line

  @Test func `--store is accepted before and after the command`() async {
    #expect(await dlstore("--store", store, "add", "http://a/1").status == .done)
    #expect(await dlstore("list", "--store", store).lines.count == 2)
    #expect(await dlstore("--store=\(store)", "list").lines.count == 2)
  }

  @Test(arguments: [
    ["nonsense"], ["list", "--state", "nonsense"], ["list", "--state", "removed"],
    ["list", "--sort", "nonsense"], ["list", "--sort", "id:up"], ["list", "--limit", "-1"],
    ["list", "--format", "xml"], ["add"], ["add", "http://a/1", "http://a/2", "-o", "x"],
    ["add", "http://a/1", "-o", "../x"], ["add", "http://a/1", "--folder", "../x"],
    ["add", "http://a/1", "http://a/2", "--mirror", "http://b/1"],
    ["add", "http://a/1", "http://a/2", "--checksum", "sha256:00"],
    ["add", "http://a/1", "--checksum", "md5:00"], ["add", "http://a/1", "--header", "nonsense"],
    ["add", "http://a/1", "--header", "A b: c"], ["add", "http://a/1", "--header", "A: b\nC: d"],
    ["add", "http://a/1", "--header", "Range: bytes=1-"], ["purge"], ["purge", "--yes"],
    ["purge", "--with-files"], ["purge", "--older-than", "7"], ["run", "--max-concurrent", "0"],
    ["run", "--per-host", "0"], ["run", "--limit-rate", "-1"], ["run", "--limit-rate", "fast"],
    ["get"], ["get", "--input-file", "-", "--metalink", "-"], ["inspect"], ["list", "--store", ""],
    ["abandon", "http://a/1"], ["backup"], ["root", "set"], ["store", "query"],
    ["store", "get", "Note"],
  ])
  func `invalid arguments are rejected`(arguments: [String]) async throws {
    let words = arguments + (arguments.contains("--store") ? [] : ["--store", store])
    let error = #expect(throws: (any Error).self) { try DLStoreCommand.parseAsRoot(words) }
    #expect(error.map { DLStoreCommand.exitCode(for: $0).rawValue } == 64)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `the default store path follows the environment`() {
    #if os(Linux)
      #expect(StoreLocation.usualPath(["XDG_DATA_HOME": "/x"]) == "/x/dlstore")
      #expect(
        StoreLocation.usualPath(["XDG_DATA_HOME": "x", "HOME": "/h"])
          == "/h/.local/share/dlstore"
      )
    #endif
  }

  @Test func `relative paths are made absolute`() {
    #expect(Folder.absolutePath("a/./b/../c", current: "/x") == "/x/a/c")
    #expect(Folder.absolutePath("/../a//b/", current: "/x") == "/a/b")
    #expect(Folder.absolutePath("/a/\u{301}b/../c", current: "/x") == "/a/c")
    #expect(Folder.absolutePath("/\u{301}a", current: "/x") == "/\u{301}a")
    // The current folder was deleted.
    #expect(Folder.absolutePath("a/b", current: "") == "a/b")
    #expect(Folder.absolutePath("/a/b", current: "") == "/a/b")
  }

  @Test(arguments: [
    ["list"], ["inspect", "http://a/1"], ["purge", "--orphans", "--yes"], ["stats"], ["verify"],
    ["verify", "--repair"], ["backup", "/none/copy"], ["compact"], ["root", "list"],
    ["store", "models"],
  ])
  func `a read-only command creates no store`(arguments: [String]) async throws {
    #expect(await dlstore(["--store", store] + arguments).status == .notFound)
    #expect(!FileManager.default.fileExists(atPath: store))
  }

  @Test func `a file is not accepted as a store`() async throws {
    let file = try folder.makeFile("file", "x")
    #expect(await dlstore("--store", file, "list").status == .notFound)
    #expect(await dlstore("--store", file, "add", "http://a/1").status == .cannotCreate)
  }

  @Test func `the error for a damaged store names its path`() async throws {
    try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
    let garbage = String(repeating: "no store ", count: 2000)
    try Data(garbage.utf8).write(to: URL(filePath: store + "/data.mdb"))
    let result = await dlstore("--store", store, "list")
    #expect(result.status == .damaged)
    #expect(result.messages.contains(store))
  }

  // MARK: add

  @Test func `add distinguishes new and known URLs`() async {
    let id = RecordIdentity.id(forURL: "http://a/x.zip")
    let first = await dlstore("--store", store, "add", "http://a/x.zip", "http://b/x.zip")
    let other = RecordIdentity.id(forURL: "http://b/x.zip")
    #expect(first.lines == ["\(id)  new    x.zip", "\(other)  new    x (2).zip"])
    let second = await dlstore("--store", store, "add", "http://a/x.zip")
    #expect(second.lines == ["\(id)  known  x.zip"])
  }

  @Test func `add stores its options`() async throws {
    let digest = "sha256:" + String(repeating: "0a", count: 32)
    let result = await dlstore(
      "--store",
      store,
      "add",
      "http://a/1",
      "-o",
      "n.bin",
      "--folder",
      "f/g",
      "--tag",
      "x",
      "--tag",
      "y",
      "--priority",
      "-5",
      "--mirror",
      "http://m/1",
      "--checksum",
      digest,
      "--header",
      "X-A: b",
      "--type",
      "film",
      "--paused"
    )
    #expect(result.status == .done)
    let list = try objects(await dlstore("--store", store, "list", "--format", "json").output)
    let record = try #require(list.first)
    #expect(record["filename"] as? String == "n.bin")
    #expect(record["folder"] as? String == "f/g")
    #expect(record["tags"] as? [String] == ["x", "y"])
    #expect(record["priority"] as? Int == -5)
    #expect(record["mirrors"] as? [String] == ["http://m/1"])
    #expect((record["checksum"] as? [String: Any])?["expected"] as? String == digest)
    #expect(record["type"] as? String == "film")
    #expect(record["state"] as? String == "paused")
  }

  @Test func `add stores nothing if one URL is invalid`() async {
    let result = await dlstore("--store", store, "add", "http://a/1", "ftp://b/2")
    #expect(result.status == .usage)
    #expect(result.messages.contains("ftp://b/2"))
    #expect(await dlstore("--store", store, "list").status == .notFound)
  }

  @Test func `add stores the valid entries of an input file`() async throws {
    let file = try folder.makeFile(
      "list",
      "http://a/1\n  out=one.bin\n  all-proxy=p\nhttp://a/2\n  out=../two\nhttp://\nhttp://a/3"
    )
    let result = await dlstore("--store", store, "add", "--input-file", file)
    #expect(result.status == .failed)
    #expect(result.lines.map { $0.split(separator: " ").last } == ["one.bin", "3"])
    for line in [3, 5, 6] { #expect(result.messages.contains("\(file):\(line): ")) }
    #expect(await dlstore("--store", store, "add", "--input-file", "/none").status == .notFound)
  }

  @Test(.requirements("ZF13")) func `add handles a taken name as --if-exists says`() async throws {
    try folder.makeFile("store/files/a", "theirs")
    try folder.makeFile("store/files/b", "theirs")
    func add(_ url: String, as name: String = "a", _ words: String...) async -> CommandResult {
      await dlstore(["--store", store, "add", url, "-o", name] + words)
    }
    func state(_ url: String) throws -> DownloadState {
      try RecordStore(at: store).record(matching: url).state
    }
    #expect(await add("http://x/1", "--if-exists", "sometimes").status == .usage)
    #expect(await add("http://x/1", "--if-exists", "fail").status == .failed)
    #expect(throws: RecordStoreError.self) { try state("http://x/1") }
    #expect(await add("http://x/2").lines.first?.hasSuffix("a (2)") == true)
    #expect(await add("http://x/3", "--if-exists", "keep").status == .done)
    #expect(try state("http://x/3") == .completed)
    let replacing = await add("http://x/4", as: "b", "--if-exists", "replace")
    #expect(replacing.lines.first?.hasSuffix("b") == true)
    #expect(try state("http://x/4") == .waiting)
  }

  @Test func `add lets a line of an input file decide about a taken name`() async throws {
    let file = try folder.makeFile(
      "list",
      "http://x/a\n allow-overwrite=true\nhttp://x/b\n allow-overwrite=false\nhttp://x/c\n"
    )
    for (words, names) in [
      ([], ["a", "b (2)", "c (2)"]), (["--if-exists", "replace"], ["a", "b (2)", "c"]),
    ] {
      let name = words.isEmpty ? "first" : "second"
      let store = folder.path(name)
      for file in ["a", "b", "c"] { try folder.makeFile("\(name)/files/\(file)", "theirs") }
      let result = await dlstore(["--store", store, "add", "--input-file", file] + words)
      #expect(result.status == .done, "\(result.messages)")
      #expect(try RecordStore(at: store).records().map(\.filename).sorted() == names)
    }
  }

  // MARK: inspect

  @Test func `inspect accepts a URL, an id and a prefix of the id`() async {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let id = RecordIdentity.id(forURL: "http://a/1")
    for name in ["http://a/1", id, String(id.prefix(4))] {
      #expect(await dlstore("--store", store, "inspect", name).status == .done)
    }
    #expect(await dlstore("--store", store, "inspect", "http://a/2").status == .failed)
  }

  @Test func `inspect redacts secrets unless told otherwise`() async throws {
    let url = "http://me:hush@a/1"
    _ = await dlstore(
      "--store",
      store,
      "add",
      url,
      "--header",
      "Cookie: hush2",
      "--header",
      "X-Requested-With: seen"
    )
    for options in [[], ["--json"]] as [[String]] {
      let words = ["--store", store, "inspect", url] + options
      let shown = await dlstore(words).output
      let revealed = await dlstore(words + ["--reveal-secrets"]).output
      #expect(!shown.replacing("\"url\": \"\(url)\"", with: "").contains("hush"))
      #expect(shown.contains("seen"))
      #expect(revealed.contains("hush2") && revealed.contains("me:hush"))
    }
  }

  @Test func `inspect redacts the URLs of the attempts unless told otherwise`() async throws {
    let mirror = "http://me:hush@m/1?X-Amz-Signature=hush"
    _ = await dlstore("--store", store, "add", "http://a/1", "--mirror", mirror)
    try change("http://a/1") { record in
      let failure = DownloadFailure(.serverBusy, "the server answered with status 503")
      record.attempts = [Attempt(at: Date(), url: mirror, failure: failure, received: 0)]
    }
    for options in [[], ["--json"]] as [[String]] {
      let words = ["--store", store, "inspect", "http://a/1"] + options
      let shown = await dlstore(words).output
      #expect(shown.contains("http://•••@m/1?X-Amz-Signature=•••") && !shown.contains("hush"))
      let revealed = await dlstore(words + ["--reveal-secrets"]).output
      #expect(revealed.components(separatedBy: mirror).count == 3)
    }
  }

  @Test func `a key that is a URL is redacted, and commands take the real one`() async throws {
    let key = "https://me:hush@cdn.example/x?token=hush"
    _ = await dlstore("--store", store, "add", "http://a/1", "--key", key)
    for words in [
      ["list", "--format", "json"], ["list", "--format", "csv"], ["list", "--columns", "id,keys"],
      ["inspect", "http://a/1"], ["inspect", key, "--json"],
    ] {
      let shown = await dlstore(["--store", store] + words)
      #expect(shown.status == .done, "\(words): \(shown.messages)")
      #expect(shown.output.contains("https://•••@cdn.example/x?token=•••"), "\(shown.output)")
      #expect(!shown.output.contains("hush"), "\(words)")
    }
    for options in [[], ["--json"]] as [[String]] {
      let words = ["--store", store, "inspect", key, "--reveal-secrets"] + options
      #expect(await dlstore(words).output.contains(key))
    }
    let other = "sha256:" + String(repeating: "1", count: 64)
    let digest = "sha256:" + String(repeating: "0", count: 64)
    _ = await dlstore("--store", store, "add", "http://a/1", "--key", key, "--checksum", digest)
    let taken = await dlstore("--store", store, "add", "http://a/1", "--checksum", other)
    #expect(taken.messages.contains("with the key 'https://•••@cdn.example/x?token=•••'"))
    #expect(!taken.messages.contains("hush"))
  }

  @Test func `a key that is almost a URL is redacted as one`() async throws {
    let keys = [
      "magnet:?xt=urn:btih:00&token=hush": "magnet:?xt=urn:btih:00&token=•••",
      "user:hush@host/x?token=hush": "•••@host/x?token=•••",
      "host/path?access_token=hush": "host/path?access_token=•••",
    ]
    for (index, (key, shown)) in keys.sorted(by: { $0.key < $1.key }).enumerated() {
      let url = "http://a/\(index)"
      _ = await dlstore("--store", store, "add", url, "--key", key)
      for words in [
        ["list", url, "--format", "json"], ["list", url, "--columns", "id,keys"], ["inspect", url],
        ["store", "get", "DownloadRecord", url],
      ] {
        let result = await dlstore(["--store", store] + words)
        #expect(result.output.contains(shown), "\(words): \(result.output) \(result.messages)")
        #expect(!result.output.contains("hush"), "\(words): \(result.output)")
      }
    }
  }

  @Test func `a redacted name is answered with the advice to use the id`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let name = "https://•••@cdn.example/x?token=•••"
    let result = await dlstore("--store", store, "inspect", name)
    #expect(result.status == .failed && result.messages.contains("use the id"))
  }

  @Test func `inspect as JSON has files, resume data, history and the next action`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    try change("http://a/1") { $0.resumeData = Data([1, 2, 3]) }
    let text = await dlstore("--store", store, "inspect", "http://a/1", "--json").output
    let record = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    )
    #expect(
      record["next"] as? [String: String] == [
        "action": "plan; drop resume data; zero", "rule": "Z2+P3+P6",
      ]
    )
    #expect(record["resumeData"] as? [String: Int] == ["byteCount": 3])
    #expect((record["history"] as? [Any])?.isEmpty == true)
    let files = try #require(record["files"] as? [String: [String: Any]])
    #expect(files["final"]?["path"] as? String == "\(store)/files/1")
    #expect(files["partial"]?["status"] as? String == "missing")
  }

  @Test func `inspect shows the contents of resume data without its secrets`() async throws {
    let url = "http://me:hush@a/1"
    _ = await dlstore("--store", store, "add", url)
    var draft = URLSessionResumeData.Draft(
      url: url,
      received: 42,
      file: .temporaryName("CFNetworkDownload_abcdef.tmp"),
      entityTag: "\"1\""
    )
    draft.originalRequest = URLSessionResumeData.Draft.Request(
      url: url,
      headers: [URLRequestArchive.HeaderField(name: "Authorization", value: "hush2")]
    )
    let resumeData = Data(try URLSessionResumeData(draft, form: .keyedArchive).bytes)
    try change(url) { $0.resumeData = resumeData }
    let text = await dlstore("--store", store, "inspect", url).output
    #expect(text.contains("resume data   received: 42 bytes"))
    #expect(text.contains("resume data   partial file: CFNetworkDownload_abcdef.tmp"))
    #expect(!text.contains("hush"))
    let words = ["--store", store, "inspect", url, "--json"]
    let json = await dlstore(words).output
    let record = try #require(
      try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    )
    let shown = try #require(record["resumeData"] as? [String: Any])
    #expect(shown["form"] as? String == "keyedArchive")
    #expect(shown["received"] as? Int == 42)
    #expect(shown["etag"] as? String == "\"1\"")
    #expect(!json.contains("hush2"))
    #expect(await dlstore(words + ["--reveal-secrets"]).output.contains("hush2"))
  }

  @Test func `inspect reports unreadable resume data`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    try change("http://a/1") { $0.resumeData = Data([1, 2, 3]) }
    let text = await dlstore("--store", store, "inspect", "http://a/1").output
    #expect(text.contains("resume data   unusable: "))
  }

  // MARK: purge

  @Test func `purge deletes records and partial files and reports them`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1", "--tag", "x")
    _ = await dlstore("--store", store, "add", "http://a/2")
    let downloads = try RecordStore(at: store)
    let record = try downloads.record(matching: "http://a/1")
    let layout = try downloads.roots().layout(of: record)
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data(count: 7).write(to: URL(filePath: layout.partialPath))
    let plan = await dlstore("--store", store, "purge", "--tag", "x", "--dry-run")
    #expect(
      plan.lines == [
        "record  \(record.id)  waiting  http://a/1", "file  7  \(layout.partialPath)",
        "to remove: 1 record, 1 file, 7 bytes",
      ]
    )
    #expect(FileManager.default.fileExists(atPath: layout.partialPath))
    let done = await dlstore("--store", store, "purge", "--tag", "x", "--yes")
    #expect(done.lines.last == "removed: 1 record, 1 file, 7 bytes")
    #expect(!FileManager.default.fileExists(atPath: layout.partialPath))
    #expect(await dlstore("--store", store, "list").lines.count == 2)
  }

  @Test func `purge shows no secret of a URL`() async throws {
    let url = "http://me:pass@a/1?token=t0ken#sig=s1gn"
    _ = await dlstore("--store", store, "add", url, "--tag", "x")
    for option in ["--dry-run", "--yes"] {
      let result = await dlstore("--store", store, "purge", "--tag", "x", option)
      #expect(result.status == .done && result.output.contains("1 record"))
      for secret in ["me:", "pass", "t0ken", "s1gn"] {
        #expect(!(result.output + result.messages).contains(secret))
      }
    }
  }

  @Test func `purge by age compares the completion date`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1", "http://a/2")
    try change("http://a/1") { record in
      record.state = .completed
      record.completedAt = Date().addingTimeInterval(-8 * 86_400)
    }
    let result = await dlstore("--store", store, "purge", "--older-than", "7d", "--yes")
    #expect(result.lines.last == "removed: 1 record, 0 files, 0 bytes")
    let left = await dlstore("--store", store, "list", "--format", "csv")
    #expect(left.lines.count == 2)
    #expect(left.output.contains("http://a/2"))
  }

  // MARK: get

  @Test(
    arguments: [
      ([nil, nil], .done), ([nil, .notFound], .failed), ([.cannotConnect, nil], .failed),
      ([.cannotConnect], .unreachable),
      ([.cannotConnect, .cannotFindHost], .unreachable), ([.cannotConnect, .timedOut], .failed),
    ] as [([DownloadFailure.Code?], CommandLineSupport.ExitStatus)]
  )
  func `get distinguishes failed downloads from unreachable servers`(
    failures: [DownloadFailure.Code?],
    status: CommandLineSupport.ExitStatus
  ) throws {
    let downloads = try RecordStore(at: store)
    let requests = failures.indices.map { DownloadRequest(url: "http://h/\($0)") }
    var records = try downloads.addNow(requests).map(\.record)
    #expect(GetCommand.status(of: records) == .failed)
    for (index, code) in failures.enumerated() {
      records[index].state = code == nil ? .completed : .failedPermanent
      guard let code else { continue }
      let failure = DownloadFailure(code, "")
      records[index].attempts = [Attempt(at: Date(), url: "", failure: failure, received: 0)]
    }
    #expect(GetCommand.status(of: records) == status)
  }
}
