import CommandTestSupport
import DownloadStore
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// What `dlstore run --until-idle` says about the downloads that it leaves.
@Suite(.timeLimit(.minutes(10)))
struct RunCommandTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func run(_ arguments: String...) async -> CommandResult {
    await dlstore(["--store", store, "run", "--until-idle"] + arguments)
  }

  @Test func `the downloads that wait for a command are counted`() async throws {
    let server = try FaultServer()
    server.route("/a", Resource(.text("a")))
    let place = folder.path("files")
    _ = await dlstore("--store", store, "add", "http://h/1", "--paused", "--tag", "later")
    let one = await run("--output-folder", place)
    #expect(one.status == .done)
    let resume = "'dlstore resume --all --store \(store)'"
    #expect(one.messages.contains("1 download is paused: \(resume) continues it\n"))
    _ = await dlstore("--store", store, "add", "http://h/2", "--paused")
    _ = await dlstore("--store", store, "add", "http://h/3")
    try await RecordStore(at: store).objects.write { tx in
      try tx.update(DownloadRecord.self, key: "http://h/3") { $0.isHeld = true }
    }
    _ = await dlstore("--store", store, "add", server.url("/a"))
    let more = await run()
    #expect(more.messages.contains("completed"))
    #expect(
      more.messages.contains(
        "1 download is held and 2 are paused: \(resume) continues them\n"
      )
    )
    let tagged = await run("--tag", "later").messages
    let resumeTag = "'dlstore resume --tag later --store \(store)'"
    #expect(tagged.contains("1 download is paused: \(resumeTag) continues it\n"))
    #expect(await run("--quiet").messages == "")
  }

  @Test func `nothing is said when no download waits for a command`() async throws {
    _ = await dlstore("--store", store, "add", "http://h/1")
    _ = await dlstore("--store", store, "cancel", "http://h/1")
    #expect(await run().messages == "")
  }
}
