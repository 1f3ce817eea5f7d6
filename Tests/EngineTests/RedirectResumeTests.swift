import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Downloads whose URL redirects to other servers, and that continue after a failure.
@Suite(.timeLimit(.minutes(10)))
struct RedirectResumeTests {
  private static let size: Int64 = 2_000_000
  private static let body = Body.generated(byteCount: size, seed: 51)
  private static let other = Body.generated(byteCount: size, seed: 52)
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  private let fixture: EngineFixture
  private let first: FaultServer
  private let second: FaultServer

  init() throws {
    fixture = try EngineFixture()
    first = try FaultServer()
    second = try FaultServer()
    fixture.server.route("/a", Resource(redirectTo: first.url("/b")))
  }

  /// A resource that answers each range with other bytes, and repeats the validator of the request.
  private static let echo = Resource(rawReply: { request in
    let told = request["If-Range"] ?? "\"unknown\""
    let start = request["Range"].flatMap { $0.firstMatch(of: /bytes=([0-9]+)-/) }
      .flatMap { Int64($0.1) }
    let end =
      request["Range"].flatMap { $0.wholeMatch(of: /bytes=[0-9]+-([0-9]+)/) }
      .flatMap { Int64($0.1) }.map { $0 + 1 } ?? size
    let from = start ?? 0
    var head = start == nil ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 206 Partial Content\r\n"
    if start != nil { head += "Content-Range: bytes \(from)-\(end - 1)/\(size)\r\n" }
    head += told.hasPrefix("\"") ? "ETag: \(told)\r\n" : "Last-Modified: \(told)\r\n"
    head += "Content-Length: \(end - from)\r\n\r\n"
    return RawReply(Array(head.utf8) + other.bytes(at: from, count: Int(end - from)))
  })

  /// Downloads 700,000 bytes from the first target, which closes the connection then.
  private func breakOff(_ resource: Resource) async throws {
    let gate = Gate()
    var resource = resource
    resource.faults = [.closeAfter(bytes: 700_000)]
    resource.endGate = gate
    first.route("/b", resource)
    try fixture.add("/a")
    try await fixture.run(opening: gate, at: 700_000) { $0.retry = RetryPolicy(maximumAttempts: 1) }
    #expect(try fixture.record("/a").received == 700_000)
    try fixture.add("/a")
  }

  private func ranges(_ server: FaultServer) -> [String?] { server.requests.map { $0["Range"] } }

  @Test(arguments: ["\"1\"", nil] as [String?])
  func `a target that repeats what it is told is not told, and mixes no bytes`(
    tag: String?
  ) async throws {
    second.route("/b", Self.echo)
    fixture.server.route("/a", Resource(redirectTo: second.url("/b")))
    // Its own server stated the validator.
    try fixture.interrupted("/a", Self.body, entityTag: tag, lastModified: Self.date)
    try await fixture.run()
    #expect(try fixture.record("/a").state == .completed)
    #expect(Self.other.matches(file: fixture.file("a")))
    #expect(second.requests.allSatisfy { $0["If-Range"] == nil })
    #expect(fixture.server.requests.first?["If-Range"] == tag ?? Self.date)
  }

  @Test func `each target of a link that changes its server states the entity tag by itself`()
    async throws
  {
    try await breakOff(Resource(Self.body))
    #expect(try fixture.record("/a").validatorOrigin != nil)
    second.route("/c", Resource(Self.body))
    fixture.server.route("/a", Resource(redirectTo: second.url("/c")))
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(ranges(second) == ["bytes=700000-"])
    #expect((fixture.server.requests + second.requests).allSatisfy { $0["If-Range"] == nil })
  }

  @Test func `a target that stated a date is asked with it`() async throws {
    try await breakOff(Resource(Self.body, etag: nil, lastModified: Self.date))
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(ranges(first) == [nil, "bytes=700000-"])
    #expect(first.requests.map { $0["If-Range"] } == [nil, Self.date])
    #expect(fixture.server.requests.allSatisfy { $0["If-Range"] == nil })
  }

  @Test func `the date of one target proves nothing about the file of another`() async throws {
    try await breakOff(Resource(Self.body, etag: nil, lastModified: Self.date))
    second.route("/c", Resource(Self.other, etag: nil, lastModified: Self.date))
    fixture.server.route("/a", Resource(redirectTo: second.url("/c")))
    try await fixture.run()
    #expect(Self.other.matches(file: fixture.file("a")))
    #expect(ranges(second) == ["bytes=700000-", nil])
  }

  @Test func `a new URL at another origin is not told the validator of the old one`() async throws {
    try fixture.interrupted("/a", Self.body)
    second.route("/c", Self.echo)
    let url = second.url("/c")
    try await fixture.store.replaceURL(matching: fixture.server.url("/a"), with: url)
    try await fixture.run()
    #expect(try fixture.store.record(matching: url).state == .completed)
    #expect(Self.other.matches(file: fixture.file("a")))
    #expect(second.requests.allSatisfy { $0["If-Range"] == nil })
  }

  @Test(arguments: [true, false])
  func `further connections that are redirected elsewhere must prove the file by themselves`(
    isEcho: Bool
  ) async throws {
    var stalling = Resource(Self.body)
    stalling.faults = [.stallAfter(bytes: 100_000)]
    first.route("/b", stalling)
    second.route("/c", isEcho ? Self.echo : Resource(Self.body))
    let (one, two) = (first.url("/b"), second.url("/c"))
    fixture.server.route(
      "/a",
      Resource(rawReply: { request in
        // The stalled connection is replaced at its own server at the end.
        let isPart = request["Range"]?.hasSuffix("-") == false
        let target = isPart ? two : one
        return RawReply(
          Array("HTTP/1.1 302 Found\r\nLocation: \(target)\r\nContent-Length: 0\r\n\r\n".utf8)
        )
      })
    )
    try fixture.add("/a")
    try await fixture.run { options in
      options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 8)
      options.split = SplitOptions(maximumConnections: 4, minimumLength: 100_000)
      options.split.measuringTime = .zero
      options.split.stallTime = .seconds(1)
    }
    #expect(try fixture.record("/a").state == .completed)
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(!second.requests.isEmpty)
    #expect(second.requests.allSatisfy { $0["If-Range"] == nil })
  }
}
