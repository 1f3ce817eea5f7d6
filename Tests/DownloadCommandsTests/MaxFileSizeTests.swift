import DownloadStore
import FaultServer
import Foundation
import TestSupport
import Testing

/// `--max-file-size`: files that are too large.
@Suite(.timeLimit(.minutes(10)))
struct MaxFileSizeTests: ToolSuite {
  let fixture: ToolFixture

  init() throws {
    fixture = try ToolFixture()
  }

  @Test(arguments: [Resource.Framing.contentLength, .chunked])
  func `a file that is too large fails with the option that allows it`(
    _ framing: Resource.Framing
  ) async throws {
    var resource = Resource(.generated(byteCount: 3 << 20))
    resource.framing = framing
    server.route("/a", resource)
    let url = server.url("/a")
    let refused = try await dlstore("get", "--no-progress", "--max-file-size", "2M", url)
    #expect(refused.status == 1)
    #expect(refused.messages.contains("--max-file-size sets the limit"), "\(refused.messages)")
    #expect(server.requests.count == 1)
    #expect(try record("/a").received <= 2 << 20)
    #expect(try await dlstore("get", "-q", "--max-file-size", "3M", url).status == 0)
    #expect(try record("/a").state == .completed)
  }

  @Test func `a dry run says which files are too large`() async throws {
    server.route("/a", Resource(.generated(byteCount: 3 << 20)))
    let url = server.url("/a")
    let result = try await dlstore("get", "--dry-run", "--max-file-size", "2M", url)
    #expect(result.status == 1 && result.messages.contains("at most 2097152 are allowed"))
    #expect(try await dlstore("get", "--dry-run", "--max-file-size", "none", url).status == 0)
  }
}
