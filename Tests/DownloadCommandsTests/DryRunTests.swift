import FaultServer
import Foundation
import TestSupport
import Testing

/// `add --dry-run` and `get --dry-run`: what servers say, without a download.
@Suite(.timeLimit(.minutes(10)))
struct DryRunTests: ToolSuite {
  let fixture: ToolFixture

  init() throws {
    fixture = try ToolFixture()
    server.route("/a.bin", Resource(.generated(byteCount: 3 << 20)))
  }

  @Test(arguments: ["add", "get"], ["--dry-run", "--spider"])
  func `a dry run prints what the server says, and stores nothing`(
    _ command: String,
    _ option: String
  ) async throws {
    server.route("/latest", Resource(redirectTo: server.url("/a.bin")))
    let result = try await dlstore(command, option, server.url("/latest"), "--folder", "new")
    #expect(result.status == 0 && result.messages == "")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first == server.url("/latest"))
    #expect(lines.contains("  name           new/latest"))
    #expect(lines.contains("  size           3.0 MiB (3145728 bytes)"))
    #expect(lines.contains("  validator      ETag \"1\""))
    #expect(lines.contains("  redirected to  \(server.url("/a.bin"))"))
    #expect(server.requests.allSatisfy { $0.method == "HEAD" })
    #expect(!FileManager.default.fileExists(atPath: store))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
  }

  @Test func `the exit code is that of get`() async throws {
    server.route("/gone", Resource(.text("x"), faults: .status(410), then: .repeatLast))
    let some = try await dlstore("get", "--dry-run", server.url("/a.bin"), server.url("/gone"))
    #expect(some.status == 1)
    #expect(some.output.hasSuffix("2 files: 3.0 MiB, 1 failed\n"))
    #expect(some.messages.contains("failed \(server.url("/gone")): the file was removed"))
    let closed = try ClosedPort()
    let none = try await dlstore("get", "--spider", closed.url("/a"))
    #expect(none.status == 69 && none.output == "")
    let quiet = try await dlstore("get", "-q", "--spider", server.url("/a.bin"))
    #expect(quiet.status == 0 && quiet.output == "" && quiet.messages == "")
  }

  @Test func `a dry run of a list asks for each entry, and reports those it cannot use`()
    async throws
  {
    let list = folder.path("list")
    let text = "\(server.url("/a.bin"))\n  out=b.bin\nnonsense\n"
    try Data(text.utf8).write(to: URL(filePath: list))
    let result = try await dlstore("add", "--dry-run", "--input-file", list)
    #expect(result.status == 1)
    #expect(result.output.contains("  name           b.bin\n"))
    #expect(result.messages.contains("list:3: "))
  }

  @Test func `a dry run and options that need a download cannot be combined`() async throws {
    let url = server.url("/a.bin")
    #expect(try await dlstore("get", "--dry-run", "--json-events", url).status == 64)
    #expect(try await dlstore("add", "--dry-run", "--adopt", "x", url).status == 64)
    #expect(server.requests.isEmpty)
  }
}
