import CommandTestSupport
import DownloadStore
import DownloadSync
import FaultServer
import Foundation
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// `dlstore limit`.
@Suite(.timeLimit(.minutes(10)))
struct LimitCommandTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private func limit(_ arguments: String...) async -> CommandResult {
    await dlstore(["--store", store, "limit"] + arguments)
  }

  @Test func `limit shows and changes the limit of the store`() async throws {
    #expect(await limit().status == .notFound)
    #expect(await limit("2M").status == .notFound)
    _ = await dlstore("--store", store, "add", "http://a/1")
    #expect(await limit().output == "none\n")
    #expect(
      await limit("2M").output
        == "the limit is 2M (before: none); it applies to the next 'run' or 'get'\n"
    )
    #expect(await limit().output == "2M\n")
    #expect(await limit("--json").output == "{\"bytesPerSecond\":2097152}\n")
    let lock = try EngineLock(storePath: store)
    let changed = await limit("1000")
    #expect(
      changed.output
        == "the limit is 1000 (before: 2M); the running engine (process \(getpid())) follows it, "
        + "unless its --limit-rate is lower\n"
    )
    withExtendedLifetime(lock) {}
    #expect(await limit("none").status == .done)
    #expect(await limit("--json").output == "{\"bytesPerSecond\":null}\n")
    #expect(await limit("5K").status == .done)
    #expect(await limit("0").status == .done)
    #expect(try RecordStore(at: store).rateLimit() == nil)
  }

  @Test(arguments: [["fast"], ["-1"], ["1", "2"], ["1M", "--immutable"]])
  func `an invalid limit is a usage error`(arguments: [String]) async {
    #expect(await dlstore(["--store", store, "limit"] + arguments).status == .usage)
  }

  @Test func `an import does not change the limit`() async throws {
    _ = await dlstore("--store", store, "add", "http://a/1")
    _ = await limit("5K")
    let export = await dlstore("--store", store, "export").output
    let file = try folder.makeFile("export.jsonl", export)
    let other = folder.path("other")
    let result = await dlstore("--store", other, "import", file)
    #expect(result.status == .done, "\(result.messages)")
    #expect(await dlstore("--store", other, "limit").output == "none\n")
    #expect(await dlstore("--store", other, "list").lines.count == 2)
  }

  @Test func `the limit reaches an engine in another process`() async throws {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 4_000_000, seed: 4)
    server.route("/a", Resource(body))
    _ = await dlstore("--store", store, "add", server.url("/a"))
    _ = await limit("1K")
    // Its own limit is higher, so that of the store counts.
    let process = try DLStoreProcess(
      ["run", "--until-idle", "--limit-rate", "1G"],
      store: store,
      in: folder.path
    )
    try await process.message("started a")
    #expect(await limit("none").output.contains("the running engine"))
    #expect(try await process.status() == 0, "\(process.messages)")
  }
}
