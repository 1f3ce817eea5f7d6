import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The options that select downloads, which are the same for all commands.
struct SelectionOptionsTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String
  private let urls = [
    "http://one.example/a.iso", "http://one.example:8080/b.iso", "http://two.example/c.iso",
    "http://two.example/d.txt",
  ]

  init() async throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    _ = await dlstore("add", "--store", store, "--tag", "odd", urls[0], urls[2])
    _ = await dlstore("add", "--store", store, "--tag", "even", urls[1], urls[3])
    // Without the folder of its bytes, a removed download stays.
    let files = "\(store)/files"
    try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    // Without bytes a restart changes nothing.
    for url in urls { try change(url) { $0.received = 5 } }
    try change(urls[0]) { $0.state = .failedPermanent }
  }

  private func run(_ arguments: String...) async -> CommandResult {
    await dlstore([arguments[0], "--store", store] + arguments.dropFirst())
  }

  private func record(_ url: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: url)
  }

  private func states() throws -> [String] { try urls.map { try record($0).state.rawValue } }

  /// The ids that `list -q` prints.
  private func listed(_ arguments: [String]) async throws -> Set<String> {
    let result = await dlstore(["list", "--store", store, "-q"] + arguments)
    #expect(result.status == .done)
    return Set(result.lines)
  }

  private static let selections: [(arguments: [String], positions: [Int])] = [
    (["--state", "failed"], [0]), (["--state", "waiting,failed"], [0, 1, 2, 3]),
    (["--tag", "odd"], [0, 2]), (["--match", "*.iso"], [0, 1, 2]),
    (["--host", "one.example"], [0, 1]), (["--host", "ONE.example."], [0, 1]),
    (["--host", "*.example"], [0, 1, 2, 3]), (["--host", "http://two.example/x"], [2, 3]),
    (["--host", "example"], []), (["--type", "txt"], [3]),
    (["--tag", "odd", "--host", "two.example"], [2]), (["a.iso", "d.txt"], [0, 3]),
    (["--state", "failed", "--tag", "even"], []), (["--tag", "odd,even"], []),
    (["--host", "one.example:8080"], [1]), (["--host", "*.example:80"], [0, 2, 3]),
    (["--host", "one.example:81"], []),
  ]

  @Test(arguments: Self.selections)
  func `each command selects the same downloads`(arguments: [String], positions: [Int]) async throws
  {
    let ids = Set(try positions.map { try record(urls[$0]).id })
    #expect(try await listed(arguments) == ids)
    for verb in ["cancel", "restart", "remove"] {
      let preview = await dlstore([verb, "--store", store, "--dry-run"] + arguments)
      let changed = preview.lines.filter { $0.contains("would be") }.map { $0.prefix(16) }
      #expect(Set(changed.map(String.init)) == ids, "\(verb)")
      #expect(preview.status == (positions.isEmpty ? .failed : .done))
    }
    let inspected = await dlstore(["inspect", "--store", store, "--json"] + arguments)
    #expect(Set(try objects(inspected.output).compactMap { $0["id"] as? String }) == ids)
    let purged = await dlstore(["purge", "--store", store, "--dry-run"] + arguments)
    #expect(purged.output.contains("to remove: \(ids.count) record"))
    #expect(try states() == ["failedPermanent", "waiting", "waiting", "waiting"])
    _ = await dlstore(["pause", "--store", store] + arguments)
    let paused = try urls.filter { try record($0).state == .paused }
    #expect(paused == positions.filter { $0 != 0 }.map { urls[$0] })
  }

  @Test func `set changes all selected downloads`() async throws {
    let result = await run("set", "--host", "two.example", "--priority", "3")
    #expect(result.status == .done && result.lines.count == 2)
    #expect(try urls.map { try record($0).priority } == [0, 0, 3, 3])
    #expect(await run("set", "--with-tag", "odd", "--tag", "new").lines.count == 2)
    #expect(try record(urls[0]).tags == ["odd", "new"])
    #expect(await run("set", "a.iso", "b.iso", "--priority", "4").lines.count == 2)
    let none = await run("set", "a.iso", "none.iso", "--priority", "5")
    #expect(none.status == .failed && none.messages.contains("'none.iso'"))
    #expect(try record(urls[0]).priority == 5)
    let two = await run("set", "a.iso", "b.iso", "--filename", "x")
    #expect(two.status == .usage && two.messages.contains("require the name of one download"))
    #expect(await run("set", "--state", "paused", "--priority", "1").status == .failed)
  }

  @Test func `several tags are separated by commas, and none is empty`() async throws {
    #expect(await run("set", "a.iso", "--tag", "x,y", "--untag", "odd,none").status == .done)
    #expect(try record(urls[0]).tags == ["x", "y"])
    #expect(try await listed(["--tag", "y,x"]) == [record(urls[0]).id])
    #expect(await run("set", "--with-tag", "x,y", "--priority", "2").lines.count == 1)
    for words in [
      ["add", "http://h/x", "--tag", ""], ["list", "--tag", "a,"], ["set", "a.iso", "--untag", ""],
      ["set", "--with-tag", "", "--priority", "1"], ["run", "--until-idle", "--tag", ","],
    ] {
      let result = await dlstore([words[0], "--store", store] + words.dropFirst())
      #expect(result.status == .usage, "\(words)")
      #expect(result.messages.contains("has an empty tag"), "\(result.messages)")
    }
  }

  @Test func `the preview of a command that deletes has the files and their size`() async throws {
    let record = try record(urls[1])
    let layout = try RecordStore(at: store, access: .readOnly).roots().layout(of: record)
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data("12345".utf8).write(to: URL(filePath: layout.partialPath))
    for verb in ["cancel", "remove"] {
      let result = await run(verb, "b.iso", "c.iso", "--dry-run")
      #expect(
        result.lines.suffix(2) == ["file  5  \(layout.partialPath)", "to delete: 1 file, 5 bytes"]
      )
    }
    try FileManager.default.moveItem(atPath: layout.partialPath, toPath: layout.finalPath)
    try change(urls[1]) { record in
      record.state = .completed
      record.fileIdentity = FileIdentity(ofFileAt: layout.finalPath)
    }
    for option in ["--with-file", "--with-files"] {
      let removed = await run("remove", "b.iso", option, "--dry-run")
      #expect(removed.lines.last == "to delete: 1 file, 5 bytes")
      #expect(removed.output.contains("file  5  \(layout.finalPath)\n"))
      let purged = await run("purge", "b.iso", option, "--dry-run")
      #expect(purged.output.contains("file  5  \(layout.finalPath)\n"))
    }
    let kept = await run("remove", "b.iso", "--dry-run")
    #expect(kept.lines.last == "to delete: 0 files, 0 bytes")
    #expect(FileManager.default.fileExists(atPath: layout.finalPath))
  }

  // MARK: Names

  @Test func `a unique file name names a download`() async throws {
    let id = try record(urls[1]).id
    #expect(await run("pause", "b.iso").lines == ["\(id)  paused     b.iso"])
    _ = await run("add", "--folder", "other", "http://three.example/b.iso")
    let twice = await run("pause", "b.iso")
    #expect(twice.status == .failed)
    #expect(twice.messages.contains("several downloads have the file name 'b.iso'"))
    for verb in ["pause", "inspect", "list", "set"] {
      let words = verb == "set" ? ["--priority", "1"] : []
      let result = await dlstore([verb, "--store", store, "b.iso"] + words)
      #expect(
        result.messages.contains("; give the id, which 'dlstore list --store \(store)' shows"),
        "\(verb)"
      )
    }
  }

  @Test func `a short id prefix that is another download's file name is ambiguous`() async throws {
    let id = try record(urls[2]).id
    let prefix = String(id.prefix(4))
    #expect(await run("pause", prefix).status == .done)
    _ = await run("add", "http://three.example/\(prefix)")
    let result = await run("remove", prefix)
    #expect(result.status == .failed)
    #expect(result.messages.contains("is the beginning of the id \(id)"))
    #expect(await run("resume", String(id.prefix(8))).status == .done)
  }

  @Test func `names and options cannot be combined`() async {
    for verb in ["list", "inspect", "pause", "purge", "verify-file"] {
      let result = await run(verb, "a.iso", "--state", "failed")
      #expect(result.status == .usage && result.messages.contains("Pass only one of these"))
    }
  }

  @Test func `an unknown name is reported, and purge then removes nothing`() async throws {
    let list = await run("list", "-q", "a.iso", "none.iso")
    let id = try record(urls[0]).id
    #expect(list.status == .failed && list.lines == [id])
    #expect(list.messages.contains("'none.iso'"))
    let purge = await run("purge", "--yes", "a.iso", "none.iso")
    #expect(purge.status == .failed && purge.output.isEmpty)
    #expect(try states().count == 4)
  }

  // MARK: Confirmation

  @Test(arguments: ["cancel", "restart", "remove"])
  func `several downloads are changed only with --yes`(verb: String) async throws {
    let before = try states()
    for selection in [["--all"], ["--tag", "odd"], ["a.iso", "b.iso"]] {
      let result = await dlstore([verb, "--store", store] + selection)
      #expect(result.status == .usage)
      #expect(result.messages.contains("pass --yes to \(verb) them, or --dry-run to preview"))
      #expect(result.output.isEmpty)
    }
    #expect(try states() == before)
    // One download needs no question, and neither do names of the same one.
    #expect(await run(verb, "a.iso").status == .done)
    #expect(await run(verb, "b.iso", urls[1]).status != .usage)
    #expect(await run(verb, "--tag", "even", "--yes").status == .done)
    #expect(await run(verb, "--all", "-y").status == .done)
  }

  // MARK: retry

  @Test func `retry resumes only failed downloads`() async throws {
    try change(urls[1]) {
      $0.state = .failedRetryable
      $0.nextRetryAt = Date(timeIntervalSinceNow: 3600)
      $0.failedAttempts = 3
    }
    #expect(await run("pause", "c.iso").status == .done)
    let named = await run("retry", "c.iso")
    #expect(named.status == .done && named.output.contains("unchanged (paused)"))
    let all = await run("retry")
    #expect(all.status == .done && all.lines.count == 2)
    #expect(try states() == ["waiting", "waiting", "paused", "waiting"])
    #expect(try record(urls[1]).failedAttempts == 0)
    let none = await run("retry")
    #expect(none.status == .done && none.messages.contains("no download has failed"))
    #expect(await run("retry", "--host", "none").status == .failed)
  }

  // MARK: Output and aliases

  @Test func `list -q prints ids, and --json is --format json`() async throws {
    let ids = try [0, 2, 1, 3].map { try record(urls[$0]).id }
    #expect(await run("list", "-q").lines == ids)
    #expect(await run("list", "--json").output == (await run("list", "--format", "json")).output)
    for wrong in [["-q", "--json"], ["--json", "--format", "csv"], ["-q", "--columns", "id"]] {
      #expect(await dlstore(["list", "--store", store] + wrong).status == .usage)
    }
  }

  @Test func `commands have the names that users type`() async throws {
    let list = await run("list").output
    #expect(await run("ls").output == list)
    #expect(await run("status").output == list)
    #expect(await run("show", "a.iso").output.contains(urls[0]))
    #expect(await run("rm", "a.iso").status == .done)
    #expect(await run("list", "-q").lines.count == 3)
  }

  #if os(Linux)
    @Test func `run --until-idle --tag runs only the downloads of the tag`() async throws {
      let server = try FaultServer()
      for name in ["x", "y"] {
        server.route("/\(name)", Resource(.text(name)))
        let words = ["add", server.url("/\(name)"), "--tag", name == "x" ? "mine" : "other"]
        #expect(await dlstore(["--store", store] + words).status == .done)
      }
      let words = ["run", "--until-idle", "--tag", "mine"]
      let run = try DLStoreProcess(words, store: store, in: folder.path)
      #expect(try await run.status() == 0, "\(run.messages)")
      #expect(try record(server.url("/x")).state == .completed)
      #expect(try record(server.url("/y")).state == .waiting)
      #expect(server.requests.map(\.target) == ["/x"])
      #expect(!run.messages.contains("/y"))
      let none = ["run", "--until-idle", "--tag", "mine,none"]
      let other = try DLStoreProcess(none, store: store, in: folder.path)
      #expect(try await other.status() == 1)
      #expect(other.messages == "dlstore: no download with --tag 'mine' --tag 'none' exists\n")
    }
  #endif

  @Test func `run --tag requires --until-idle`() async {
    let result = await run("run", "--tag", "odd")
    #expect(result.status == .usage && result.messages.contains("--tag requires --until-idle"))
  }
}
