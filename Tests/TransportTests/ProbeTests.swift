import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// What a server says about a file before it is downloaded.
@Suite(.timeLimit(.minutes(10)))
struct ProbeTests {
  private let server: FaultServer
  private let transport = TransportUnderTest.make()
  private let date = "Tue, 03 Nov 2026 07:28:00 GMT"

  init() throws {
    server = try FaultServer()
  }

  @Test func `one HEAD shows size, name, validators, ranges and the URL after redirects`()
    async throws
  {
    var resource = Resource(.generated(byteCount: 100_000), lastModified: date)
    resource.fields = [Field("Content-Disposition", "attachment; filename=\"../new.bin\"")]
    server.route("/old", Resource(redirectTo: server.url("/new")))
    server.route("/new", resource)
    let probe = try await transport.probe(server.url("/old"))
    #expect(probe.byteCount == 100_000 && probe.filename == "new.bin")
    #expect(probe.entityTag == "\"1\"" && probe.lastModified == date)
    #expect(probe.acceptsRanges == true && probe.url == server.url("/new"))
    #expect(server.requests.map(\.method) == ["HEAD", "HEAD"])
  }

  @Test(arguments: [400, 401, 403, 404, 405, 500, 501, 503])
  func `a server that refuses HEAD is asked for the first byte`(_ status: Int) async throws {
    var resource = Resource(.generated(byteCount: 100_000))
    resource.refusal = { $0.method == "HEAD" ? status : nil }
    server.route("/a.bin", resource)
    let probe = try await transport.probe(server.url("/a.bin"))
    #expect(probe.byteCount == 100_000 && probe.acceptsRanges == true)
    #expect(server.requests.map(\.method) == ["HEAD", "GET"])
    #expect(server.requests.last?["Range"] == "bytes=0-0")
    resource.honoursRange = false
    server.route("/a.bin", resource)
    let whole = try await transport.probe(server.url("/a.bin"))
    #expect(whole.byteCount == 100_000 && whole.acceptsRanges == false)
  }

  @Test func `an empty file whose server refuses HEAD has no bytes`() async throws {
    var resource = Resource(.text(""))
    resource.refusal = { $0.method == "HEAD" ? 405 : nil }
    server.route("/a", resource)
    #expect(try await transport.probe(server.url("/a")).byteCount == 0)
  }

  @Test func `a missing file, and a coded body, fail as a download does`() async throws {
    server.route("/a", Resource(.text("x"), faults: .status(404), then: .repeatLast))
    let missing = await #expect(throws: DownloadFailure.self) {
      try await transport.probe(server.url("/a"))
    }
    #expect(missing?.code == .notFound)
    #expect(server.requests.map(\.method) == ["HEAD", "GET"])
    var coded = Resource(.text("x"))
    coded.fields = [Field("Content-Encoding", "br")]
    server.route("/b", coded)
    let failure = await #expect(throws: DownloadFailure.self) {
      try await transport.probe(server.url("/b"))
    }
    #expect(failure?.code == .unexpectedCoding)
  }

  @Test func `a server that states nothing leaves everything but the name open`() async throws {
    var resource = Resource(.text("x"), etag: nil)
    resource.framing = .chunked
    resource.honoursRange = false
    server.route("/dir/a.bin", resource)
    let probe = try await transport.probe(server.url("/dir/a.bin"))
    #expect(probe.byteCount == nil && probe.entityTag == nil && probe.lastModified == nil)
    #expect(probe.filename == "a.bin")
  }
}
