import DownloadStore
import FaultServer
import Foundation
import TestSupport
import Testing

/// `--folders-from-url`, and `-o` with fields.
@Suite(.timeLimit(.minutes(10)))
struct PlaceOptionTests: ToolSuite {
  let fixture: ToolFixture

  init() throws {
    fixture = try ToolFixture()
    for path in ["/pub/x/a.bin", "/pub/y/a.bin"] { server.route(path, Resource(.text(path))) }
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: folder.path(name), encoding: .utf8)
  }

  private var host: String { "127.0.0.1+\(server.port)" }

  @Test func `files get the folders of their URLs`() async throws {
    let urls = [server.url("/pub/x/a.bin"), server.url("/pub/y/a.bin")]
    let result = try await dlstore(
      "get",
      "-q",
      "--folders-from-url",
      "--cut",
      "1",
      urls[0],
      urls[1]
    )
    #expect(result.status == 0)
    #expect(try text("\(host)/x/a.bin") == "/pub/x/a.bin")
    #expect(try text("\(host)/y/a.bin") == "/pub/y/a.bin")
    // The same command is no other place.
    let again = try await dlstore("get", "-q", "--folders-from-url", "--cut", "1", urls[0])
    #expect(again.status == 0)
    #expect(try await dlstore("get", "-q", "--folders-from-url", urls[0]).status == 64)
  }

  @Test func `the name of the server stays with a name field of its own`() async throws {
    var resource = Resource(.text("new"))
    resource.fields = [Field("Content-Disposition", "attachment; filename=new.bin")]
    server.route("/latest", resource)
    let list = folder.path("list")
    let lines = "\(server.url("/latest"))\n\(server.url("/pub/x/a.bin"))\n  out=b.bin\n"
    try Data(lines.utf8).write(to: URL(filePath: list))
    let result = try await dlstore("get", "-q", "-i", list, "-o", "{host}/{name}")
    #expect(result.status == 0)
    #expect(try text("\(host)/new.bin") == "new")
    #expect(try text("\(host)/b.bin") == "/pub/x/a.bin")
  }

  @Test func `an absolute path with fields has its root before the first one`() async throws {
    let root = folder.path("root")
    let url = server.url("/pub/x/a.bin")
    let path = "\(root)/{path}/{stem}-1.{ext}"
    #expect(try await dlstore("get", "-q", url, "-o", path).status == 0)
    #expect(try text("root/pub/x/a-1.bin") == "/pub/x/a.bin")
    #expect(try record("/pub/x/a.bin").folder == "pub/x")
  }

  @Test(arguments: [
    (["-o", "{hots}/{name}"], "{host}, {path}, {name}"), (["-o", "{host"], "{{ and }} are braces"),
    (["-o", "/x/{name}", "--folder", "f"], "cannot be combined"),
    (["--cut", "1"], "--cut requires --folders-from-url"),
    (["--folders-from-url", "-o", "{name}"], "plain file name"),
    (["--folders-from-url", "-o", "x/y"], "plain file name"),
  ])
  func `a path that cannot be used is a usage error`(
    _ options: [String],
    _ expected: String
  ) async throws {
    let process = try DLStoreProcess(
      ["get"] + options + [server.url("/pub/x/a.bin")],
      store: store,
      in: folder.path
    )
    #expect(try await process.status() == 64)
    #expect(process.messages.contains(expected), "\(process.messages)")
    #expect(server.requests.isEmpty)
  }
}
