import DownloadStore
import FaultServer
import Foundation
import TestSupport
import Testing

/// Finished files whose bytes other downloads need, as `get` shows them.
@Suite(.timeLimit(.minutes(10)))
struct EqualFilesOptionTests: ToolSuite {
  let fixture: ToolFixture
  private let body = Body.generated(byteCount: 2_500_000, seed: 9)

  init() throws {
    fixture = try ToolFixture()
    for path in ["/a", "/b", "/c"] { server.route(path, Resource(body)) }
  }

  private var checksum: String {
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
    return hasher.digest.text
  }

  private func get(
    _ path: String,
    _ options: String...
  ) async throws -> (status: Int32, output: String, messages: String) {
    let arguments = [
      "get", server.url(path), "--checksum", checksum, "--output-folder", folder.path("files"),
    ]
    let process = try DLStoreProcess(arguments + options, store: store, in: folder.path)
    return (try await process.status(), process.output, process.messages)
  }

  private func requestCount(_ path: String) -> Int {
    server.requests.count { $0.target == path }
  }

  @Test func `get copies the file of another download, and says from where`() async throws {
    #expect(try await get("/a").status == 0)
    let second = try await get("/b")
    #expect(second.status == 0, "\(second.messages)")
    let file = folder.path("files/a")
    #expect(second.messages.contains("copying b from \(file), which has the required digest"))
    #expect(second.messages.contains("completed \(folder.path("files/b"))"), "\(second.messages)")
    #expect(requestCount("/b") == 0 && body.matches(file: folder.path("files/b")))
    let events = try await get("/c", "--json-events")
    #expect(events.status == 0)
    #expect(events.output.contains(#""event":"copying""#), "\(events.output)")
    #expect(events.output.contains(#""copied":1"#))
    // The file of one download is never that of another one.
    let purge = try await dlstore("remove", server.url("/a"), "--with-file", "--yes")
    #expect(purge.status == 0, "\(purge.messages)")
    #expect(!FileManager.default.fileExists(atPath: file))
    #expect(body.matches(file: folder.path("files/b")))
    #expect(try await dlstore("verify").status == 0)
  }

  @Test func `the counts at the end of a run say what was copied`() async throws {
    #expect(try await get("/a").status == 0)
    for path in ["/b", "/c"] {
      let added = try await dlstore(
        "add",
        server.url(path),
        "--checksum",
        checksum
      )
      #expect(added.status == 0, "\(added.messages)")
    }
    let run = try await dlstore("run", "--until-idle")
    #expect(run.status == 0)
    #expect(run.messages.contains("2 of them copied (4.8 MiB), 0 failed"), "\(run.messages)")
    #expect(server.requests.allSatisfy { $0.target == "/a" })
  }

  @Test func `--equal-files download requests the bytes`() async throws {
    #expect(try await get("/a").status == 0)
    let second = try await get("/b", "--equal-files", "download")
    #expect(second.status == 0 && !second.messages.contains("copying"))
    #expect(requestCount("/b") > 0 && body.matches(file: folder.path("files/b")))
    let wrong = try await get("/c", "--equal-files", "copied")
    #expect(wrong.status == 64)
    #expect(wrong.messages.contains("'copied' is not one of: copy, download"), "\(wrong.messages)")
  }
}
