import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The finished file of a completed download that was restarted, until the next file replaces it.
@Suite(.timeLimit(.minutes(10)))
struct PreviousFileTests: StoreSuite {
  private static let size = 50_000

  private let folder: TemporaryFolder
  let store: String
  private let server: FaultServer
  private let file: String

  init() async throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    server = try FaultServer()
    server.route("/a", Resource(.generated(byteCount: Int64(Self.size), seed: 5)))
    file = folder.path("files/a")
    let got = await dlstore(
      "--store",
      store,
      "get",
      server.url("/a"),
      "--output-folder",
      folder.path("files")
    )
    try #require(got.status == .done, "\(got.messages)")
  }

  private func run(_ arguments: String...) async -> CommandResult {
    await dlstore(["--store", store] + arguments)
  }

  private func apply(_ commands: [String]) async {
    for command in commands { #expect(await run(command, "a").status == .done) }
  }

  private var exists: Bool { FileManager.default.fileExists(atPath: file) }

  @Test(arguments: [["restart"], ["restart", "cancel"]])
  func `list, inspect and the previews name the previous file`(_ commands: [String]) async throws {
    await apply(commands)
    let listed = try objects(await run("list", "--format", "json").output)
    #expect(listed.map { $0["fileStatus"] as? String } == ["previous"])
    let inspected = await run("inspect", "a")
    #expect(inspected.output.contains("previous: \(file)"), "\(inspected.output)")
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(await run("inspect", "a", "--json").output.utf8))
        as? [String: Any]
    )
    let files = try #require(json["files"] as? [String: [String: Any]])
    #expect(files["final"]?["status"] as? String == "previous")
    let line = "file  \(Self.size)  \(file)\n"
    let removal = await run("remove", "a", "--with-file", "--dry-run")
    #expect(removal.output.contains(line), "\(removal.output)")
    #expect(removal.output.contains("to delete: 1 file"), "\(removal.output)")
    let purge = await run("purge", "a", "--with-files", "--dry-run")
    #expect(purge.output.contains(line), "\(purge.output)")
    #expect(purge.output.contains("to remove: 1 record, 1 file"), "\(purge.output)")
    #expect(exists)
  }

  @Test(arguments: [["restart"], ["restart", "cancel"]], ["remove", "purge"])
  func `remove and purge do with the previous file what their previews say`(
    _ commands: [String],
    _ removal: String
  ) async throws {
    await apply(commands)
    let option = removal == "remove" ? "--with-file" : "--with-files"
    let result = await run(removal, "a", option, "--yes")
    #expect(result.status == .done && !result.messages.contains("kept"), "\(result.messages)")
    #expect(!exists)
    #expect(await run("list").status == .done)
  }

  @Test(arguments: ["remove", "purge"])
  func `without the option the previous file stays`(_ removal: String) async throws {
    await apply(["restart"])
    let preview = await run(removal, "a", "--dry-run")
    #expect(!preview.output.contains(file), "\(preview.output)")
    #expect(await run(removal, "a", "--yes").status == .done)
    #expect(exists)
  }

  @Test(arguments: ["remove", "purge"])
  func `a previous file that was changed since is kept, and named`(_ removal: String) async throws {
    await apply(["restart"])
    try Data("theirs".utf8).write(to: URL(filePath: file))
    let listed = try objects(await run("list", "--format", "json").output)
    #expect(listed.map { $0["fileStatus"] as? String } == ["absent"])
    let option = removal == "remove" ? "--with-file" : "--with-files"
    for last in ["--dry-run", "--yes"] {
      let result = await run(removal, "a", option, last)
      #expect(!result.output.contains("file  "), "\(result.output)")
      #expect(result.messages.contains("kept \(file): it is not the downloaded file"))
    }
    #expect(exists)
  }
}
