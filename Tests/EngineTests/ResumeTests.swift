import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Resuming a partial file, with servers that answer in unusual ways.
@Suite(.timeLimit(.minutes(10)))
struct ResumeTests {
  static let body = Body.generated(byteCount: 2_000_000, seed: 21)
  static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  /// Returns a raw reply that ignores the request.
  private func reply(_ head: String..., body: [UInt8]) -> Fault {
    .rawResponse(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
  }

  @Test func `a weak entity tag is not used as a validator; the date is`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, etag: "W/\"1\"", lastModified: Self.date))
    try fixture.interrupted("/a", Self.body, entityTag: "W/\"1\"", lastModified: Self.date)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-"])
    #expect(fixture.server.requests.first?["If-Range"] == Self.date)
  }

  // The last has a byte that is not UTF-8.
  @Test(arguments: ["W/\"1\"", "\"\u{FFFD}\""])
  func `an entity tag that promises no identical bytes is not trusted alone`(
    tag: String
  ) async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, etag: tag))
    try fixture.interrupted("/a", Self.body, entityTag: tag)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == [nil])
  }

  @Test func `a server that ignores If-Range is detected by its entity tag`() async throws {
    let fixture = try EngineFixture()
    let other = Body.generated(byteCount: 2_000_000, seed: 22)
    var resource = Resource(other, etag: "\"2\"")
    resource.honoursIfRange = false
    fixture.server.route("/a", resource)
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(other.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-", nil])
    let record = try fixture.record("/a")
    #expect(record.attempts.map(\.failure.code) == [.entityChanged])
  }

  @Test func `two versions whose entity tags differ in a byte that is not UTF-8 are not mixed`()
    async throws
  {
    let fixture = try EngineFixture()
    func reply(_ tag: UInt8, _ bytes: [UInt8]) -> Fault {
      let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nETag: \"".utf8)
      return .rawResponse(head + [tag] + Array("\"\r\n\r\n".utf8) + bytes)
    }
    let other = [UInt8](repeating: 2, count: 300_000)
    let faults = [reply(0xE9, [UInt8](repeating: 1, count: 200_000)), reply(0xE8, other)]
    var resource = Resource(.bytes(other), etag: nil)
    resource.faults = faults
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    #expect(try await fixture.run().0 == RunSummary(completed: 1))
    #expect(Body.bytes(other).matches(file: fixture.file("a")))
    // URLSession refuses both heads, and receives the file with a third request.
    #expect(fixture.ranges("/a").allSatisfy { $0 == nil })
  }

  @Test func `a changed file is not mixed if its server states no validator for ranges`()
    async throws
  {
    let fixture = try EngineFixture()
    let other = Body.generated(byteCount: 2_000_000, seed: 22)
    var resource = Resource(other, etag: "\"2\"")
    resource.honoursIfRange = false
    resource.repeatsValidators = false
    fixture.server.route("/a", resource)
    try fixture.interrupted("/a", Self.body)
    let (_, events) = try await fixture.run()
    #expect(other.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-", nil])
    #expect(events.contains { if case .rolledBack(_, 1_000_000, _) = $0 { true } else { false } })
  }

  @Test func `dropped bytes are reported if the server sends another version`() async throws {
    let fixture = try EngineFixture()
    let other = Body.generated(byteCount: 2_000_000, seed: 22)
    fixture.server.route("/a", Resource(other, etag: "\"2\""))
    try fixture.interrupted("/a", Self.body)
    let (_, events) = try await fixture.run()
    #expect(other.matches(file: fixture.file("a")))
    #expect(events.contains { if case .rolledBack(_, 1_000_000, _) = $0 { true } else { false } })
  }

  @Test(arguments: [true, false], [true, false])
  func `a body that is longer than its range is not stored`(
    hasLength: Bool,
    continues: Bool
  ) async throws {
    let fixture = try EngineFixture()
    let fault = Fault.longBody(declared: 65_536, hasLength: hasLength)
    fixture.server.route("/a", Resource(Self.body, faults: fault))
    if continues { try fixture.interrupted("/a", Self.body) } else { try fixture.add("/a") }
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a").count == 2)
  }

  @Test func `a server that disregards entity tags in If-Range is asked without it`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(Self.body, lastModified: Self.date)
    resource.honoursIfRangeTags = false
    resource.faults = [.closeAfter(bytes: 700_000)]
    let gate = fixture.routeGated("/a", resource)
    try fixture.add("/a")
    try await fixture.run(opening: gate, at: 700_000) { $0.retry = RetryPolicy(maximumAttempts: 2) }
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == [nil, "bytes=700000-", "bytes=700000-"])
    #expect(fixture.server.requests.map { $0["If-Range"] } == [nil, "\"1\"", nil])
    #expect(try fixture.record("/a").attempts.count == 1)
  }

  @Test func `the same file from a server without ranges costs no byte on disk`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(Self.body)
    resource.honoursRange = false
    resource.faults = [.none, .closeAfter(bytes: 500_000)]
    resource.endGate = Gate()
    resource.endGate?.open()
    fixture.server.route("/a", resource)
    try fixture.interrupted("/a", Self.body)
    let (summary, events) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a").allSatisfy { $0 == "bytes=1000000-" })
    #expect(!events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  @Test func `an empty body in answer to a range does not empty the file`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .emptyBody))
    try fixture.interrupted("/a", Self.body)
    let (summary, events) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-", "bytes=1000000-"])
    #expect(!events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  @Test(arguments: [
    Fault.emptyBody,
    .rawResponse("HTTP/1.1 200 OK\r\nETag: \"1\"\r\nConnection: close\r\n\r\nshort"),
  ])
  func `a whole body without a length that ends within the bytes on disk is not the file`(
    _ fault: Fault
  ) async throws {
    let fixture = try EngineFixture()
    var resource = Resource(Self.body, faults: .closeAfter(bytes: 700_000), fault, fault)
    resource.framing = .chunked
    let gate = fixture.routeGated("/a", resource)
    try fixture.add("/a")
    let summary = try await fixture.run(opening: gate, at: 700_000)
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(try fixture.record("/a").attempts.map(\.failure.code).last == .wrongLength)
  }

  @Test(arguments: [true, false], ["\"1\"", nil] as [String?])
  func `an empty partial response keeps the bytes on disk`(
    hasLength: Bool,
    tag: String?
  ) async throws {
    let fixture = try EngineFixture()
    var resource = Resource(
      Self.body,
      faults: .emptyRange(hasLength: hasLength),
      .emptyRange(hasLength: hasLength)
    )
    resource.etag = tag
    resource.lastModified = Self.date
    fixture.server.route("/a", resource)
    try fixture.interrupted("/a", Self.body, entityTag: tag, lastModified: Self.date)
    let (summary, events) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == Array(repeating: "bytes=1000000-", count: 3))
    #expect(!events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  private static func digest(_ body: Body) -> Digest {
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
    return hasher.digest
  }

  @Test func `with a required digest, an edge with another entity tag continues the file`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, etag: "\"edge 2\""))
    try fixture.interrupted("/a", Self.body, entityTag: "\"edge 1\"")
    try fixture.add("/a") { $0.digest = Self.digest(Self.body) }
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-"])
    #expect(fixture.server.requests.first?["If-Range"] == nil)
  }

  @Test func `bytes of two versions do not have the required digest, and are downloaded again`()
    async throws
  {
    let fixture = try EngineFixture()
    let other = Body.generated(byteCount: 2_000_000, seed: 22)
    fixture.server.route("/a", Resource(other, etag: "\"2\""))
    try fixture.interrupted("/a", Self.body)
    try fixture.add("/a") { $0.digest = Self.digest(other) }
    let (summary, events) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(other.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-", nil])
    #expect(events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  @Test func `a part that begins before the resumed offset is written at its own offset`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .wrongOffset(400_000)))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-"])
  }

  @Test func `a partial body sent with status 200 and Content-Range is accepted as a part`()
    async throws
  {
    let fixture = try EngineFixture()
    let part = Self.body.bytes(at: 1_000_000, count: 1_000_000)
    let fault = reply(
      "HTTP/1.1 200 OK",
      "Content-Range: bytes 1000000-1999999/2000000",
      "ETag: \"1\"",
      "Content-Length: 1000000",
      body: part
    )
    fixture.server.route("/a", Resource(Self.body, faults: fault))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.server.requests.count == 1)
  }

  @Test(arguments: [
    "HTTP/1.1 412 Precondition Failed",
    "HTTP/1.1 206 Partial Content\r\nContent-Type: multipart/byteranges; boundary=x",
    "HTTP/1.1 206 Partial Content\r\nContent-Range: nonsense",
  ])
  func `a server that cannot resume is asked for the whole file`(_ head: String) async throws {
    let fixture = try EngineFixture()
    let fault = reply(head, "Content-Length: 5", body: Array("hello".utf8))
    fixture.server.route("/a", Resource(Self.body, faults: fault))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-", nil])
  }

  @Test func `an entity that changes with every response fails the download`() async throws {
    let fixture = try EngineFixture()
    let faults = (0..<8).map { index in
      reply(
        "HTTP/1.1 200 OK",
        "ETag: \"\(index)\"",
        "Content-Length: \(2_000_000 + index)",
        body: Self.body.bytes(at: 0, count: 1_000)
      )
    }
    var resource = Resource(Self.body)
    resource.faults = faults
    resource.afterFaults = .repeatLast
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    let (summary, _) = try await fixture.run {
      $0.retry = RetryPolicy(maximumAttempts: 4, base: .milliseconds(1), cap: .milliseconds(5))
    }
    #expect(summary.failed == 1)
    #expect(try fixture.record("/a").state == .failedPermanent)
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
  }

  @Test(arguments: [
    Fault.stallAfter(bytes: 700_000), .resetAfter(bytes: 700_000), .closeAfter(bytes: 700_000),
  ])
  func `a broken body without a length is resumed`(_ fault: Fault) async throws {
    let fixture = try EngineFixture()
    // While a slow machine pauses the server, the idle timeout also ends attempts without a byte.
    var resource = Resource(Self.body, faults: fault, then: .repeatLast)
    resource.framing = .chunked
    let gate = fixture.routeGated("/a", resource)
    try fixture.add("/a")
    let engine = try fixture.engine(idleTimeout: .seconds(5)) { $0.retry.maximumAttempts = 1_000 }
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("bytes") { try fixture.record("/a").received >= 700_000 }
    resource.faults = []
    fixture.server.route("/a", resource)
    gate.open()
    #expect(try await run.value == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a").first == .some(nil))
    #expect(fixture.ranges("/a").last??.hasPrefix("bytes=") == true)
  }

  @Test func `each attempt follows the redirect again, because its target may expire`() async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(redirectTo: "/signed?sig=1"))
    fixture.server.route("/signed", Resource(Self.body, faults: .resetAfter(bytes: 700_000)))
    try fixture.add("/a")
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    let targets = fixture.server.requests.map(\.target)
    #expect(targets == ["/a", "/signed?sig=1", "/a", "/signed?sig=1"])
    #expect(try fixture.record("/a").url == fixture.server.url("/a"))
  }

  @Test func `a login page in the place of the rest keeps the received bytes`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(Self.body)
    resource.faults = [page, page]
    fixture.server.route("/a.bin", resource)
    try fixture.interrupted("/a.bin", Self.body)
    try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 4, base: .milliseconds(1)) }
    let record = try fixture.record("/a.bin")
    #expect(record.state == .completed)
    #expect(record.attempts.map(\.failure.code) == [.badResponse, .badResponse])
    #expect(Self.body.matches(file: fixture.file("a.bin")))
    #expect(fixture.ranges("/a.bin") == Array(repeating: "bytes=1000000-", count: 3))
  }

  private var page: Fault {
    reply(
      "HTTP/1.1 200 OK",
      "Content-Type: text/html",
      "Content-Length: 6",
      body: Array("<html>".utf8)
    )
  }

  @Test func `a login page after the bytes were dropped is not the file`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(Self.body, lastModified: Self.date)
    // The server has no such range, so the next attempt asks for all bytes.
    resource.faults = [.rangeNotSatisfiable, page, page]
    fixture.server.route("/a.bin", resource)
    try fixture.interrupted("/a.bin", Self.body)
    try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 8, base: .milliseconds(1)) }
    let record = try fixture.record("/a.bin")
    #expect(record.state == .completed)
    let codes = record.attempts.map(\.failure.code)
    #expect(codes == [.entityChanged, .badResponse, .badResponse])
    #expect(Self.body.matches(file: fixture.file("a.bin")))
    #expect(fixture.ranges("/a.bin") == ["bytes=1000000-", nil, nil, nil])
  }

  @Test func `a mirror's login page is not the file, also without a proof at the mirror`()
    async throws
  {
    let fixture = try EngineFixture()
    let mirror = try FaultServer()
    var resource = Resource(Self.body, etag: nil, lastModified: Self.date)
    // The mirror cannot continue the file of a date: its bytes are dropped before the request.
    resource.faults = [.status(503)]
    fixture.server.route("/a.bin", resource)
    mirror.route("/b.bin", Resource(Self.body, faults: page, then: .repeatLast))
    try fixture.interrupted("/a.bin", Self.body, entityTag: nil, lastModified: Self.date)
    let url = mirror.url("/b.bin")
    try fixture.add("/a.bin") { $0.mirrors = [url] }
    try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 8, base: .milliseconds(1)) }
    #expect(mirror.requests.map { $0["Range"] } == [nil])
    #expect(try fixture.record("/a.bin").state == .completed)
    #expect(Self.body.matches(file: fixture.file("a.bin")))
  }

  @Test func `a redirect to a login page keeps the received bytes`() async throws {
    let fixture = try EngineFixture()
    let portal = try FaultServer()
    portal.route("/login", Resource(Self.body, faults: page, then: .repeatLast))
    let redirect = reply(
      "HTTP/1.1 302 Found",
      "Location: \(portal.url("/login"))",
      "Content-Length: 0",
      body: []
    )
    var resource = Resource(Self.body, etag: nil, lastModified: Self.date)
    resource.faults = [redirect, redirect]
    fixture.server.route("/a.bin", resource)
    try fixture.interrupted("/a.bin", Self.body, entityTag: nil, lastModified: Self.date)
    let (_, events) = try await fixture.run {
      $0.retry = RetryPolicy(maximumAttempts: 8, base: .milliseconds(1))
    }
    #expect(try fixture.record("/a.bin").state == .completed)
    #expect(Self.body.matches(file: fixture.file("a.bin")))
    #expect(!events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  @Test func `a login page is not a file whose name has no extension`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: page, page))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 4, base: .milliseconds(1)) }
    #expect(try fixture.record("/a").state == .completed)
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == Array(repeating: "bytes=1000000-", count: 3))
  }

  /// The file cannot be continued; the login page is recognized by what the server had sent before.
  @Test(arguments: [nil, "W/\"1\""], [nil, "application/octet-stream"])
  func `a login page is not the file of a server without validators`(
    tag: String?,
    type: String?
  ) async throws {
    let fixture = try EngineFixture()
    var resource = Resource(Self.body, etag: tag)
    resource.fields = type.map { [Field("Content-Type", $0)] } ?? []
    resource.faults = [.closeAfter(bytes: 700_000), page, page]
    fixture.server.route("/a.bin", resource)
    try fixture.add("/a.bin")
    try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 8, base: .milliseconds(1)) }
    let record = try fixture.record("/a.bin")
    #expect(record.state == .completed)
    #expect(record.attempts.map(\.failure.code).suffix(2) == [.badResponse, .badResponse])
    #expect(Self.body.matches(file: fixture.file("a.bin")))
    #expect(fixture.ranges("/a.bin") == [nil, nil, nil, nil])
  }

  @Test(arguments: [true, false], [true, false])
  func `a script's file without a validator is downloaded, although it is called a page`(
    hasDigest: Bool,
    isRedirected: Bool
  ) async throws {
    let fixture = try EngineFixture()
    let target = try FaultServer()
    var resource = Resource(Self.body, etag: nil)
    // Only its size shows that the page is the file if a digest is required.
    if !hasDigest { resource.framing = .chunked }
    resource.honoursRange = false
    resource.fields = [Field("Content-Type", "text/html")]
    resource.faults = [.closeAfter(bytes: 700_000)]
    if isRedirected {
      target.route("/b.bin", resource)
      fixture.server.route("/a.bin", Resource(redirectTo: target.url("/b.bin")))
    } else {
      fixture.server.route("/a.bin", resource)
    }
    try fixture.add("/a.bin") { if hasDigest { $0.digest = Self.digest(Self.body) } }
    try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 3, base: .milliseconds(1)) }
    #expect(try fixture.record("/a.bin").state == .completed)
    #expect(Self.body.matches(file: fixture.file("a.bin")))
  }

  @Test(arguments: [401, 403])
  func `a link that expires during the transfer keeps the received bytes`(
    _ status: Int
  ) async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .status(status), then: .repeatLast))
    try fixture.interrupted("/a", Self.body)
    let (summary, _) = try await fixture.run()
    #expect(summary.failed == 1)
    let refused = try fixture.record("/a")
    #expect(refused.state == .failedPermanent && refused.received == 1_000_000)
    #expect(refused.attempts.last?.failure.code == .needsURL)
    // Once access is restored, the download resumes.
    fixture.server.route("/a", Resource(Self.body))
    try fixture.add("/a")
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-", "bytes=1000000-"])
  }
}
