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

/// The command `root`.
struct RootCommandTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  @Test func `root list shows the default root first, and whether folders exist`() async throws {
    let files = try Folder.made(at: folder.path("archive"))
    _ = await dlstore("--store", store, "add", "http://a/1")
    let name = try RecordStore(at: store).root(at: files)
    let text = await dlstore("--store", store, "root", "list", "--json").output
    let roots = try objects(text)
    #expect(roots.map { $0["name"] as? String } == ["default", name])
    #expect(roots.map { $0["path"] as? String } == ["\(store)/files", files])
    #expect(roots.map { $0["exists"] as? Bool } == [false, true])
    let lines = await dlstore("--store", store, "root", "list").lines
    #expect(await dlstore("--store", store, "root").lines == lines, "the command without a word")
    #expect(lines.count == 3 && lines[2].hasSuffix("yes     \(files)"))
  }

  @Test func `the folder of temporary files is not one that a user moves`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    let output = try RecordStore(at: store).temporaryFolder
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: false)
    // As an earlier version has stored it.
    try RecordStore(at: store).setRoot(folder.path("output"), named: RootName.temporary)
    #expect(await dlstore("--store", store, "root", "list").lines.count == 2)
    let all = try objects(await dlstore("--store", store, "root", "list", "--json").output)
    #expect(all.map { $0["name"] as? String } == ["default", RootName.temporary])
    #expect(all.last?["path"] as? String == output)
    let set = await dlstore("--store", store, "root", "set", RootName.temporary, folder.path)
    #expect(set.status == .failed && set.messages.contains("no root named"), "\(set.messages)")
  }

  @Test func `root set refuses what would lose files`() async throws {
    let files = try Folder.made(at: folder.path("archive"))
    func set(_ arguments: String...) async -> CommandResult {
      await dlstore(["--store", store, "root", "set"] + arguments)
    }
    #expect(await set(files).status == .notFound)
    #expect(!FileManager.default.fileExists(atPath: store))
    _ = await dlstore("--store", store, "add", "http://a/1")
    #expect(await set(folder.path("none")).status == .notFound)
    #expect(await set(try folder.makeFile("file", "x")).status == .cannotCreate)
    let unknown = await set("defalt", files)
    #expect(unknown.status == .failed && unknown.messages.contains("Did you mean 'default'?"))
    _ = try RecordStore(at: store).root(at: files)
    #expect(await set(files).messages.contains("already the path of the root"))
    #expect(await set("").status == .usage)
    let lock = try EngineLock(storePath: store)
    #expect(await set(folder.path).status == .engineRuns)
    withExtendedLifetime(lock) {}
    #expect(try RecordStore(at: store).roots().all.first?.path == "\(store)/files")
  }

  /// Lets a server reset a connection when the engine has stored some bytes: a client that was slow
  /// would lose them.
  private func reset(_ url: String, opening gate: Gate) async throws {
    while try RecordStore(at: store, access: .readOnly).record(matching: url).received == 0 {
      try await Task.sleep(for: .milliseconds(20))
    }
    gate.open()
  }

  @Test func `the files of a moved folder are found again, and a download resumes there`()
    async throws
  {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 3_000_000, seed: 5)
    server.route("/done", Resource(body))
    let gate = Gate()
    var part = Resource(body, faults: .resetAfter(bytes: 1_500_000), .status(404))
    part.endGate = gate
    server.route("/part", part)
    let (old, new) = (folder.path("old"), folder.path("new"))
    let run = ["run", "--until-idle", "--output-folder", old]
    for path in ["/done", "/part"] {
      let added = try await DLStoreProcess.run("add", server.url(path), store: store)
      #expect(added.status == 0)
    }
    let process = try DLStoreProcess(run, store: store, in: folder.path)
    try await reset(server.url("/part"), opening: gate)
    #expect(try await process.status() == 1)
    try FileManager.default.moveItem(atPath: old, toPath: new)
    func status(_ path: String) async throws -> String? {
      let words = ["--store", store, "inspect", server.url(path), "--json"]
      let text = await dlstore(words).output
      let record = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
      return record?["fileStatus"] as? String
    }
    #expect(try await status("/done") == "missing")
    #expect(try await status("/part") == "absent")
    let moved = try await DLStoreProcess.run("root", "set", new, store: store)
    #expect(moved.status == 0, "\(moved.messages)")
    #expect(try await status("/done") == "present")
    #expect(try await status("/part") == "partial")
    let resumed = try await DLStoreProcess.run("resume", server.url("/part"), store: store)
    #expect(resumed.status == 0)
    let again = try await DLStoreProcess.run("run", "--until-idle", store: store)
    #expect(again.status == 0, "\(again.messages)")
    #expect(body.matches(file: new + "/part"))
    #expect(server.requests.last?["Range"]?.hasPrefix("bytes=") == true)
    #expect(!FileManager.default.fileExists(atPath: old))
    #expect(try await DLStoreProcess.run("verify", store: store).status == 0)
  }

  @Test func `another output folder is for files from now on`() async throws {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 3_000_000, seed: 6)
    server.route("/done", Resource(body))
    let gate = Gate()
    var part = Resource(body, faults: .resetAfter(bytes: 1_500_000), .status(404))
    part.endGate = gate
    server.route("/part", part)
    for path in ["/done", "/part"] {
      #expect(try await DLStoreProcess.run("add", server.url(path), store: store).status == 0)
    }
    let first = try DLStoreProcess(["run", "--until-idle"], store: store, in: "/")
    try await reset(server.url("/part"), opening: gate)
    #expect(try await first.status() == 1)
    server.route("/new", Resource(body))
    for (command, path) in [("add", "/new"), ("resume", "/part")] {
      #expect(try await DLStoreProcess.run(command, server.url(path), store: store).status == 0)
    }
    let out = folder.path("out")
    let second = try await DLStoreProcess.run(
      "run",
      "--until-idle",
      "--output-folder",
      out,
      store: store
    )
    #expect(second.status == 0, "\(second.messages)")
    #expect(second.messages.contains("2 downloads stay in \(store)/files"))
    #expect(body.matches(file: "\(store)/files/part"))
    #expect(body.matches(file: "\(out)/new"))
    let requests = server.requests.filter { $0.path == "/part" }
    #expect(requests.last?["Range"]?.hasPrefix("bytes=") == true)
    #expect(try await DLStoreProcess.run("verify", store: store).status == 0)
    let orphans = try await DLStoreProcess.run("purge", "--orphans", "--dry-run", store: store)
    #expect(!orphans.output.contains("dlstore-part"))
  }
}
