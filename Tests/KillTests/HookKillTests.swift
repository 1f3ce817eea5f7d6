import DownloadStore
import FaultServer
import Foundation
import TestSupport
import Testing

/// Kills the engine between the completion of a download and the success of its hook.
@Suite(.timeLimit(.minutes(10)))
struct HookKillTests {
  @Test func `a hook runs after a kill, with the same key, and not again after it succeeded`()
    async throws
  {
    let folder = try TemporaryFolder()
    let server = try FaultServer()
    server.route("/a", Resource(.text("a")))
    let path = folder.path("store")
    _ = try RecordStore(at: path).addNow([DownloadRequest(url: server.url("/a"))])
    let keys = folder.path("keys")
    func run(_ command: String) async throws -> Int32? {
      try await BuiltProcess.run(
        [
          "--store", path, "run", "--until-idle", "--timeout", "86400", "--on-complete", command,
        ],
        output: folder.path("log")
      )
    }
    let note = "echo \"$DLSTORE_KEY\" >> '\(keys)'"
    // The parent of the command is the worker with the engine.
    #expect(try await run("\(note); kill -KILL $PPID") == 1)
    let record = try RecordStore(at: path).record(matching: server.url("/a"))
    #expect(record.state == .completed && record.pendingHooks == [.completion])
    #expect(try await run(note) == 0)
    #expect(try await run(note) == 0)
    let key = record.endKey
    #expect(try String(contentsOfFile: keys, encoding: .utf8) == "\(key)\n\(key)\n")
    #expect(server.requests.count == 1, "the download is not repeated")
  }
}
