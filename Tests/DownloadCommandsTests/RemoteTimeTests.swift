import DownloadStore
import FaultServer
import Foundation
import TestSupport
import Testing

/// `--remote-time`: finished files with the time of their servers.
@Suite(.timeLimit(.minutes(10)))
struct RemoteTimeTests: ToolSuite {
  let fixture: ToolFixture
  private let time = Date(timeIntervalSince1970: 1_580_608_922)

  init() throws {
    fixture = try ToolFixture()
    let text = "Sun, 02 Feb 2020 02:02:02 GMT"
    server.route("/a", Resource(.generated(byteCount: 3 << 20), lastModified: text))
  }

  private func modificationTime(_ name: String) throws -> Date? {
    let path = folder.path(name)
    return try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
  }

  @Test func `a file with the server's time is the download's for every command`() async throws {
    #expect(try await dlstore("get", "-q", "-R", server.url("/a")).status == 0)
    #expect(try modificationTime("a") == time)
    #expect(try await dlstore("verify").status == 0)
    #expect(try await dlstore("verify-file", server.url("/a")).status == 0)
    let refreshed = try await dlstore("refresh", "--all", "--remote-time")
    #expect(refreshed.status == 0)
    #expect(try modificationTime("a") == time)
    server.route("/a", Resource(.generated(byteCount: 2 << 20, seed: 2), etag: "\"2\""))
    #expect(try await dlstore("refresh", "--all", "-q", "-R").status == 0)
    #expect(try await dlstore("verify").status == 0)
    #expect(try await dlstore("purge", "--match", "*", "--with-files", "--yes").status == 0)
    #expect(!FileManager.default.fileExists(atPath: folder.path("a")))
  }

  @Test func `the last of both options counts, and none is the time of the download`() async throws
  {
    let url = server.url("/a")
    #expect(try await dlstore("get", "-q", "-R", "--no-remote-time", url).status == 0)
    #expect(try modificationTime("a") != time)
  }
}
