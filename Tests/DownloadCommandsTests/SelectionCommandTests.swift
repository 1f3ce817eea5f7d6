import CommandTestSupport
import DownloadStore
import DownloadSync
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `pause`, `resume`, `cancel`, `restart`, `remove` and `set` without a running engine.
struct SelectionCommandTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() async throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    _ = await dlstore("add", "--store", store, "--tag", "odd", "http://a/1", "http://a/3")
    _ = await dlstore("add", "--store", store, "--tag", "even", "http://a/2")
  }

  private func run(_ arguments: String...) async -> CommandResult {
    await dlstore([arguments[0], "--store", store] + arguments.dropFirst())
  }

  private func record(_ url: String) throws -> DownloadRecord {
    try RecordStore(at: store, access: .readOnly).record(matching: url)
  }

  private func states() throws -> [String] {
    try ["http://a/1", "http://a/2", "http://a/3"].map { try record($0).state.rawValue }
  }

  @Test(arguments: ["pause", "resume", "cancel", "restart", "remove"])
  func `a missing or ambiguous selection is rejected`(verb: String) async throws {
    for arguments in [
      [], ["--all", "--tag", "x"], ["--all", "http://a/1"], ["--tag", "x", "http://a/1"],
    ] {
      let result = await dlstore([verb, "--store", store] + arguments)
      #expect(result.status == .usage)
      let message = arguments.isEmpty ? "No downloads specified" : "Pass only one of these"
      #expect(result.messages.contains(message))
    }
    #expect(try states() == ["waiting", "waiting", "waiting"])
  }

  @Test(arguments: ["pause", "resume", "cancel", "restart", "remove"])
  func `a command without a store fails and creates none`(verb: String) async {
    let none = folder.path("none")
    let result = await dlstore(verb, "--store", none, "--all")
    #expect(result.status == .notFound)
    #expect(!FileManager.default.fileExists(atPath: none))
  }

  @Test func `each download has a line, and an unknown one is reported and fails the command`()
    async throws
  {
    let id = try record("http://a/2").id
    let result = await run("pause", "http://a/1", "http://none/", String(id.prefix(7)))
    #expect(result.status == .failed)
    #expect(
      result.lines == [
        "\(try record("http://a/1").id)  paused     1", "\(id)  paused     2",
      ]
    )
    #expect(result.messages.contains("http://none/"))
    #expect(try states() == ["paused", "paused", "waiting"])
    let again = await run("pause", "http://a/1")
    #expect(again.status == .done)
    #expect(again.output.contains("unchanged (paused)"))
  }

  @Test func `a command applies to a tag or to all downloads`() async throws {
    #expect(await run("pause", "--tag", "odd").lines.count == 2)
    #expect(try states() == ["paused", "waiting", "paused"])
    #expect(await run("pause", "--all").status == .done)
    #expect(await run("resume", "--all").lines.count == 3)
    #expect(try states() == ["waiting", "waiting", "waiting"])
    let none = await run("pause", "--tag", "none")
    #expect(none.status == .failed && none.messages.contains("'none'"))
  }

  @Test(arguments: [
    ("resume", "no download needs a change"), ("pause", "no download needs a change"),
    ("cancel", "no download needs a change"), ("retry", "no download has failed"),
  ])
  func `a command for all downloads says when none needs a change`(
    _ verb: String,
    _ text: String
  ) async throws {
    for url in ["http://a/1", "http://a/2", "http://a/3"] {
      try change(url) { $0.state = .completed }
    }
    let all = await run(verb, "--all")
    #expect(all.status == .done && all.output.isEmpty)
    #expect(all.messages == "dlstore: \(text)\n")
    #expect(await run(verb, "--all", "-q").messages.isEmpty)
  }

  @Test(arguments: ["resume", "retry", "restart"])
  func `a command that starts downloads says that no engine runs`(_ verb: String) async throws {
    try change("http://a/1") { $0.state = verb == "resume" ? .paused : .failedPermanent }
    let result = await run(verb, "http://a/1")
    #expect(result.status == .done)
    let notice = "dlstore: no engine runs: 'dlstore run --store \(store)' continues it\n"
    #expect(result.messages == notice)
    let again = await run(verb == "restart" ? "resume" : verb, "http://a/1")
    #expect(again.messages.contains("no engine runs") == false, "nothing was changed")
    #expect(await run("pause", "http://a/1").messages.isEmpty)
  }

  @Test(arguments: ["completed", "cancelled"], ["resume", "retry"])
  func `resume of a download that it does not change names restart`(
    _ word: String,
    _ verb: String
  ) async throws {
    let state = try #require(DownloadState(rawValue: word))
    try change("http://a/1") { $0.state = state }
    let result = await run(verb, "http://a/1")
    #expect(result.status == .done && result.output.contains("unchanged (\(word))"))
    let id = try record("http://a/1").id
    #expect(
      result.messages
        == "dlstore: '1' is \(word): 'dlstore restart \(id) --store \(store)' downloads it again\n"
    )
  }

  @Test(arguments: [["--dry-run"], ["--yes"]])
  func `a purge of a selection that no download has says so`(_ options: [String]) async throws {
    for selection in [["--tag", "none"], ["--match", "*none*"]] {
      let result = await dlstore(["--store", store, "purge"] + selection + options)
      #expect(result.status == .done, "\(result)")
      #expect(result.messages.hasPrefix("dlstore: no download with \(selection[0]) "))
      #expect(result.messages.hasSuffix(" exists\n"))
      let old = await dlstore(
        ["--store", store, "purge", "--older-than", "1d"] + selection + options
      )
      #expect(old.status == .done && old.messages.hasSuffix(" exists\n"))
    }
    let state = await dlstore(["--store", store, "purge", "--state", "failed"] + options)
    #expect(state.status == .done && state.messages.hasSuffix(" exists\n"))
    let young = await dlstore(
      ["--store", store, "purge", "--older-than", "1d", "--tag", "odd"] + options
    )
    #expect(young.status == .done)
    #expect(young.messages == "dlstore: no download with --tag 'odd' is old enough\n")
    #expect(try states().count == 3)
  }

  @Test(arguments: ["add", "get"])
  func `an empty list is a usage error, and a missing one is named`(_ verb: String) async throws {
    let empty = try folder.makeFile("empty", "# nothing\n\n")
    let none = await run(verb, "--input-file", empty)
    #expect(none.status == .usage)
    #expect(none.messages == "dlstore: \(empty) contains no URL: there is nothing to download\n")
    let missing = await run(verb, "--input-file", folder.path("missing"))
    #expect(missing.status == .notFound && missing.messages.contains("missing"), "\(missing)")
  }

  @Test func `--quiet of set, backup and purge prints errors only`() async throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    for name in ["a", "b"] {
      _ = await dlstore("--store", store, "add", "http://h/\(name)", "-o", "x")
    }
    for words in [
      ["set", "http://h/a", "--priority", "3"], ["set", "--host", "h", "--tag", "t"],
      ["set", "http://h/a", "--filename", ".y"], ["backup", folder.path("copy")],
      ["purge", "http://h/a", "--yes"], ["purge", "--tag", "none", "--yes"],
    ] {
      let result = await dlstore(["--store", store] + words + ["-q"])
      #expect(result.status == .done && result.output.isEmpty, "\(words) \(result.output)")
      #expect(result.messages.isEmpty, "\(words) \(result.messages)")
    }
    // A preview prints what it was asked for, and an error is none that is hidden.
    let preview = await dlstore("--store", store, "purge", "--match", "*", "--dry-run", "--quiet")
    #expect(preview.output.contains("to remove: 1 record"), "\(preview.output)")
    for words in [
      ["set", "none", "--priority", "1"], ["backup", store], ["purge", "none", "--yes"],
    ] {
      let result = await dlstore(["--store", store] + words + ["--quiet"])
      #expect(result.status != .done && !result.messages.isEmpty, "\(words)")
    }
  }

  @Test func `--quiet prints errors only`() async throws {
    for words in [
      ["pause", "http://a/1"], ["resume", "http://a/1"], ["retry"], ["restart", "http://a/1"],
      ["cancel", "http://a/1"], ["remove", "http://a/1"], ["add", "http://a/1"],
      ["add", "http://a/1", "--paused", "-q"],
    ] {
      let result = await dlstore(["--store", store] + words + ["--quiet"])
      #expect(result.status == .done && result.output + result.messages == "", "\(words)")
    }
    let unknown = await run("pause", "http://a/none", "--quiet")
    #expect(unknown.status == .failed && unknown.messages.contains("no download has"))
    let tag = await run("pause", "--tag", "none", "--quiet")
    #expect(tag.status == .failed && tag.messages.contains("no download with"))
  }

  @Test func `a new link says that no engine runs, and other changes do not`() async throws {
    try change("http://a/1") { $0.state = .failedPermanent }
    #expect(await run("set", "http://a/1", "--priority", "3").messages.isEmpty)
    let result = await run("set", "http://a/1", "--url", "http://a/new")
    let notice = "dlstore: no engine runs: 'dlstore run --store \(store)' continues it\n"
    #expect(result.messages == notice)
  }

  @Test func `with an engine nothing is said about running one`() throws {
    let record = try record("http://a/1")
    let done = CommandOutcome(name: record.url, effect: .done(record))
    for engineRuns in [true, false] {
      let report = CommandReport(verb: "resumed", outcomes: [done, done], engineRuns: engineRuns)
      #expect(report.notice == (engineRuns ? nil : "no engine runs: 'dlstore run' continues them"))
    }
  }

  @Test func `resume --now is stored for the next engine`() async throws {
    let result = await run("resume", "--now", "http://a/3")
    #expect(result.status == .done && result.output.contains("starting"))
    #expect(try record("http://a/3").startsImmediately)
    let inspected = await run("inspect", "http://a/3")
    #expect(inspected.output.contains("immediately, before all others"))
  }

  @Test func `cancel deletes the partial file before it exits`() async throws {
    let partial = try partialFile(of: "http://a/1")
    #expect(await run("cancel", "http://a/1").status == .done)
    #expect(!FileManager.default.fileExists(atPath: partial))
    let record = try record("http://a/1")
    #expect(record.state == .cancelled && record.received == 0)
    let again = await run("cancel", "http://a/1")
    #expect(again.output.contains("unchanged (cancelled)"))
    #expect(await run("restart", "http://a/1").output.contains("restarted"))
    #expect(try states()[0] == "waiting")
  }

  @Test func `remove deletes a download that a killed engine left running`() async throws {
    let partial = try partialFile(of: "http://a/1")
    try change("http://a/1") { $0.state = .running }
    #expect(await run("remove", "http://a/1").status == .done)
    #expect(!FileManager.default.fileExists(atPath: partial))
    #expect(throws: RecordStoreError.self) { try record("http://a/1") }
  }

  @Test(arguments: [false, true])
  func `remove deletes the finished file only on request and only if it is ours`(
    withFile: Bool
  )
    async throws
  {
    let ours = try finishedFile(of: "http://a/1")
    let theirs = try finishedFile(of: "http://a/2")
    try FileManager.default.removeItem(atPath: theirs)
    try Data("theirs".utf8).write(to: URL(filePath: theirs))
    let options = withFile ? ["--with-file"] : []
    let result = await dlstore(
      ["remove", "--store", store, "--yes"] + options + ["http://a/1", "http://a/2"]
    )
    #expect(result.status == .done)
    #expect(result.lines.allSatisfy { $0.contains("removed") })
    #expect(FileManager.default.fileExists(atPath: ours) == !withFile)
    #expect(FileManager.default.fileExists(atPath: theirs))
    #expect(await run("list", "--format", "jsonl").lines.count == 1)
    #expect(await run("remove", "http://a/1").status == .failed)
  }

  @Test(arguments: [false, true])
  func `remove keeps a record whose folder is missing, says so and fails`(
    isComplete: Bool
  ) async throws {
    let path =
      isComplete ? try finishedFile(of: "http://a/1") : try partialFile(of: "http://a/1")
    try change("http://a/1") { record in
      record.received = 5
      record.completedAt = isComplete ? Date(timeIntervalSince1970: 1) : nil
    }
    let folder = (path as NSString).deletingLastPathComponent
    try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
    let result = await run("remove", "--with-file", "http://a/1")
    #expect(result.status == .failed && !result.output.contains("removed"))
    #expect(result.messages.contains("the folder \(folder) is missing"), "\(result.messages)")
    #expect(try record("http://a/1").state == .removed)
    try FileManager.default.moveItem(atPath: folder + "-away", toPath: folder)
    let again = await run("remove", "--with-file", "http://a/1")
    #expect(again.status == .done, "\(again.messages)")
    #expect(!FileManager.default.fileExists(atPath: path))
    #expect(throws: RecordStoreError.self) { try record("http://a/1") }
  }

  // MARK: set

  @Test func `set changes the given fields`() async throws {
    let result = await run(
      "set",
      "http://a/1",
      "--filename",
      "one.bin",
      "--type",
      "film",
      "--tag",
      "x",
      "--untag",
      "odd",
      "--priority",
      "-4"
    )
    #expect(result.status == .done)
    #expect(result.output.contains("changed") && result.output.contains("one.bin"))
    let record = try record("http://a/1")
    #expect(record.filename == "one.bin" && record.type == "film")
    #expect(record.tags == ["x"] && record.priority == -4)
  }

  @Test func `set renames the finished file`() async throws {
    let file = try finishedFile(of: "http://a/1")
    #expect(await run("set", "http://a/1", "--filename", "one").status == .done)
    #expect(!FileManager.default.fileExists(atPath: file))
    let json = await run("inspect", "http://a/1", "--json").output
    #expect(json.contains(#""fileStatus": "present""#))
    let taken = await run("set", "http://a/1", "--filename", "2")
    #expect(taken.status == .failed && taken.messages.contains("'2'"))
  }

  @Test func `set says if it renames only the record`() async throws {
    let file = try finishedFile(of: "http://a/1")
    try FileManager.default.removeItem(atPath: file)
    try Data("another file".utf8).write(to: URL(filePath: file))
    let result = await run("set", "http://a/1", "--filename", "one")
    #expect(result.status == .done)
    #expect(result.messages.contains("only the record was renamed"))
    #expect(FileManager.default.fileExists(atPath: file))
  }

  @Test func `set --url keeps the id and the bytes`() async throws {
    _ = try partialFile(of: "http://a/1")
    let before = try record("http://a/1")
    #expect(await run("set", "http://a/1", "--url", "http://b/1").status == .done)
    let after = try record("http://b/1")
    #expect(after.id == before.id && after.received == before.received)
    let taken = await run("set", "http://b/1", "--url", "http://a/2")
    #expect(taken.status == .failed && taken.messages.contains("another download"))
  }

  @Test func `set --mirror replaces the mirrors, and none removes them`() async throws {
    for mirrors in [["http://m/1"], ["http://m/2", "http://m/3"]] {
      let options = mirrors.flatMap { ["--mirror", $0] }
      let result = await dlstore(["set", "--store", store, "http://a/1"] + options)
      #expect(result.status == .done && result.output.contains("changed"), "\(result.messages)")
      #expect(try record("http://a/1").mirrors == mirrors)
    }
    #expect(await run("set", "http://a/1", "--mirror", "none").status == .done)
    #expect(try record("http://a/1").mirrors.isEmpty)
    let many = await run("set", "http://a/1", "http://a/2", "--mirror", "http://m/1")
    #expect(many.status == .usage && many.messages.contains("the name of one download"))
  }

  @Test func `set changes filename and URL together or neither`() async throws {
    let file = try finishedFile(of: "http://a/1")
    let before = try record("http://a/1")
    let taken = await run("set", "http://a/1", "--filename", "new", "--url", "http://a/2")
    #expect(taken.status == .failed)
    #expect(try record("http://a/1") == before)
    #expect(FileManager.default.fileExists(atPath: file))
    let both = await run("set", "http://a/1", "--filename", "new", "--url", "http://b/1")
    #expect(both.status == .done)
    #expect(try record("http://b/1").filename == "new")
    #expect(!FileManager.default.fileExists(atPath: file))
  }

  @Test func `set needs an option and a valid filename`() async {
    for arguments in [
      [], ["--filename", "a/b"], ["--url", "ftp://x/"], ["--priority", "x"],
      ["--mirror", "ftp://x/"],
    ] {
      let result = await dlstore(["set", "--store", store, "http://a/1"] + arguments)
      #expect(result.status == .usage, "\(arguments)")
    }
    #expect(await run("set", "http://none/", "--priority", "1").status == .failed)
  }

  // MARK: Files

  /// Creates a partial file of 40 bytes for a record, and counts its bytes.
  private func partialFile(of url: String) throws -> String {
    let store = try RecordStore(at: store)
    let layout = try store.roots().layout(of: try store.record(matching: url))
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data(count: 40).write(to: URL(filePath: layout.partialPath))
    try change(url) { $0.received = 40 }
    return layout.partialPath
  }

  /// Creates the finished file of a record, and completes the record.
  private func finishedFile(of url: String) throws -> String {
    let store = try RecordStore(at: store)
    let path = try store.roots().layout(of: try store.record(matching: url)).finalPath
    try FileManager.default.createDirectory(
      atPath: URL(filePath: path).deletingLastPathComponent().path,
      withIntermediateDirectories: true
    )
    try Data("ours".utf8).write(to: URL(filePath: path))
    let fileIdentity = FileIdentity(ofFileAt: path)
    try change(url) { record in
      record.state = .completed
      record.fileIdentity = fileIdentity
      record.received = 4
      record.expected = 4
    }
    return path
  }
}
