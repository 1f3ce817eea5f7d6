import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Files that are named by their server.
@Suite(.timeLimit(.minutes(10)))
struct ServerFilenameTests {
  private static let body = Body.generated(byteCount: 300_000, seed: 41)

  private func serve(_ fixture: EngineFixture, _ path: String, _ disposition: String) {
    var resource = Resource(Self.body)
    resource.fields = [Field("Content-Disposition", disposition)]
    fixture.server.route(path, resource)
  }

  /// The files in the standard root.
  private func files(_ fixture: EngineFixture) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: fixture.file("")).sorted()
  }

  @Test(arguments: [
    ("attachment; filename=\"a b.zip\"", "a b.zip"),
    ("attachment; filename*=UTF-8''%e2%82%ac.zip", "€.zip"),
    ("attachment; filename=\"=?UTF-8?B?4oKsLnR4dA==?=\"", "€.txt"),
    ("attachment; filename=\"naïve.zip\"", "naïve.zip"),
    ("attachment; filename=\"../../../etc/passwd\"", "passwd"),
    ("attachment; filename*=UTF-8''..%2F..%2F.ssh%2Fid", "id"),
    ("attachment; filename=\"..\"", "get.php"),
    ("inline", "get.php"),
  ])
  func `a file gets the name that its server sends`(
    _ disposition: String,
    _ name: String
  ) async throws {
    let fixture = try EngineFixture()
    serve(fixture, "/get.php", disposition)
    try fixture.add("/get.php")
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(try fixture.record("/get.php").filename == name)
    #expect(Self.body.matches(file: fixture.file(name)))
    #expect(try files(fixture) == [name])
  }

  @Test(
    arguments: [
      // GBK, and Latin-1.
      [0xC9, 0xCC, 0xC6, 0xB7], [0x72, 0xE9, 0x73, 0x75, 0x6D, 0xE9],
    ] as [[UInt8]]
  )
  func `a name in raw bytes of another encoding never becomes one with U+FFFD`(
    name: [UInt8]
  ) async throws {
    let fixture = try EngineFixture()
    let head =
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Disposition: attachment; filename=\""
    let response = Array(head.utf8) + name + Array(".xls\"\r\n\r\nhello".utf8)
    fixture.server.route("/own.xls", Resource(.text("hello"), faults: .rawResponse(response)))
    try fixture.add("/own.xls")
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    let stored = try fixture.record("/own.xls").filename
    // A transport that reads fields as Latin-1 gives the name in Latin-1 rightly.
    let latin = String(String.UnicodeScalarView(name.map { Unicode.Scalar($0) })) + ".xls"
    #expect(stored == "own.xls" || stored == latin, "\(stored)")
    #expect(try files(fixture) == [stored])
  }

  @Test func `a requested name is not changed`() async throws {
    let fixture = try EngineFixture()
    serve(fixture, "/get.php", "attachment; filename=theirs.zip")
    try fixture.add("/get.php") { $0.filename = "mine.zip" }
    try await fixture.run()
    #expect(try files(fixture) == ["mine.zip"])
  }

  @Test func `two files of the same name are both kept`() async throws {
    let fixture = try EngineFixture()
    serve(fixture, "/one", "attachment; filename=a.zip")
    serve(fixture, "/two", "attachment; filename=a.zip")
    try fixture.add("/one")
    try fixture.add("/two")
    let (summary, _) = try await fixture.run()
    #expect(summary.completed == 2)
    #expect(try files(fixture) == ["a (2).zip", "a.zip"])
  }

  @Test func `a name is stored with the first response`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(Self.body, faults: .resetAfter(bytes: 100_000))
    resource.fields = [Field("Content-Disposition", "attachment; filename=a.zip")]
    let gate = fixture.routeGated("/get.php", resource)
    try fixture.add("/get.php")
    let engine = try fixture.engine()
    let events = engine.events()
    try await fixture.run(engine, opening: gate, at: 100_000)
    let retried = await events.reduce(into: [String]()) { names, event in
      if case .retrying(let record, _, _) = event { names.append(record.filename) }
    }
    #expect(retried == ["a.zip"])
    #expect(Self.body.matches(file: fixture.file("a.zip")))
    #expect(try files(fixture) == ["a.zip"])
  }
}
