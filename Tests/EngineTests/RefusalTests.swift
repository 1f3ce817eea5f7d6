import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Responses without the file: which are retried, and which are final.
@Suite(.timeLimit(.minutes(10)))
struct RefusalTests {
  static let body = Body.generated(byteCount: 200_000, seed: 31)

  @Test(arguments: [408, 425, 429, 500, 502, 503, 504])
  func `a busy server is asked again`(_ status: Int) async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .status(status), .status(status)))
    try fixture.add("/a")
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(fixture.server.requests.count == 3)
    #expect(Self.body.matches(file: fixture.file("a")))
    let codes = try fixture.record("/a").attempts.map(\.failure.code)
    #expect(codes == [.serverBusy, .serverBusy])
  }

  @Test(arguments: ["1", "3600", "Fri, 31 Dec 2100 23:59:59 GMT"])
  func `a server's Retry-After is honored, up to its bound`(_ text: String) async throws {
    let fixture = try EngineFixture()
    let fault = Fault.status(429, retryAfter: text)
    fixture.server.route("/a", Resource(Self.body, faults: fault))
    try fixture.add("/a")
    let start = ContinuousClock.now
    let (_, events) = try await fixture.run()
    #expect(ContinuousClock.now - start >= .seconds(1))
    let waits = events.compactMap { event -> Duration? in
      if case .retrying(_, _, let wait) = event { wait } else { nil }
    }
    // The bound of the fixture's policy.
    #expect(waits == [.seconds(1)])
  }

  @Test(arguments: [400, 402, 405, 409, 411, 413, 414, 451, 204, 205])
  func `a permanent failure is not retried`(_ status: Int) async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .status(status), then: .repeatLast))
    try fixture.add("/a")
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 0, failed: 1))
    #expect(fixture.server.requests.count == 1)
    #expect(try fixture.record("/a").attempts.map(\.failure.code) == [.rejected])
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
  }

  @Test func `a redirect without a usable target fails the download`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/loop", Resource(redirectTo: "/loop"))
    fixture.server.route("/none", Resource(redirectTo: nil, status: 302))
    fixture.server.route("/ftp", Resource(redirectTo: "ftp://127.0.0.1/x"))
    for path in ["/loop", "/none", "/ftp"] { try fixture.add(path) }
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 0, failed: 3))
    for path in ["/loop", "/none", "/ftp"] {
      #expect(try fixture.record(path).attempts.map(\.failure.code) == [.badRedirect])
    }
  }

  @Test(arguments: ["gzip, chunked", "chunked, gzip", "gzip"])
  func `a body in another transfer coding than chunked is never stored`(
    _ codings: String
  )
    async throws
  {
    let fixture = try EngineFixture()
    let isChunked = codings.contains("chunked")
    let chunk = Array("\(String(Self.gzipped.count, radix: 16))\r\n".utf8)
    let body =
      isChunked ? chunk + Self.gzipped + Array("\r\n0\r\n\r\n".utf8) : Self.gzipped
    let head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nTransfer-Encoding: \(codings)\r\n\r\n"
    let reply = Fault.rawResponse(Array(head.utf8) + body)
    fixture.server.route("/a", Resource(Self.body, faults: reply, then: .repeatLast))
    try fixture.add("/a")
    let (summary, _) = try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 1) }
    #expect(summary == RunSummary(completed: 0, failed: 1))
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
    // URLSession may recognize the coding before it reports the head.
    let code = try #require(try fixture.record("/a").attempts.first?.failure.code)
    #expect([.unexpectedCoding, .badResponse, .connectionLost].contains(code))
  }

  /// `hello`, compressed.
  private static let gzipped: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xCB, 0x48, 0xCD, 0xC9, 0xC9,
    0x07, 0x00, 0x86, 0xA6, 0x10, 0x36, 0x05, 0x00, 0x00, 0x00,
  ]

  @Test(arguments: [0, 10]) func `a body in a content coding that was not requested is rejected`(
    _ received: Int
  ) async throws {
    let fixture = try EngineFixture()
    var resource = Resource(.bytes(Self.gzipped))
    resource.fields = [Field("Content-Encoding", "gzip")]
    fixture.server.route("/a", resource)
    if received > 0 {
      try fixture.interrupted("/a", Self.body, received: received)
    } else {
      try fixture.add("/a")
    }
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 0, failed: 1))
    #expect(fixture.server.requests.map { $0["Accept-Encoding"] } == ["identity"])
    let record = try fixture.record("/a")
    #expect(record.attempts.map(\.failure.code) == [.unexpectedCoding])
    #expect(record.received == Int64(received))
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
  }

  @Test func `a compressed file is stored as it is`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(.bytes(Self.gzipped))
    resource.fields = [Field("Content-Type", "application/gzip")]
    fixture.server.route("/a.gz", resource)
    try fixture.add("/a.gz")
    try await fixture.run()
    #expect(Body.bytes(Self.gzipped).matches(file: fixture.file("a.gz")))
  }

  /// Servers derive the coding from the name of the file that they store.
  @Test(arguments: [("/a.tar.gz", false), ("/b.tgz?x=1", false), ("/plain", true)])
  func `a stored file in a coding is stored as it is, if its name or a digest says so`(
    _ path: String,
    _ hasDigest: Bool
  ) async throws {
    let fixture = try EngineFixture()
    var resource = Resource(.bytes(Self.gzipped))
    resource.fields = [Field("Content-Encoding", "x-gzip")]
    fixture.server.route(String(path.prefix { $0 != "?" }), resource)
    var hasher = DigestHasher(.sha256)
    hasher.update(Self.gzipped.span)
    let digest = hasher.digest
    try fixture.add(path) { request in
      request.filename = "file"
      if hasDigest { request.digest = digest }
    }
    let (summary, _) = try await fixture.run()
    let record = try fixture.record(path)
    // URLSession gives the decoded body.
    if TransportUnderTest.isURLSession {
      #expect(record.attempts.map(\.failure.code) == [.unexpectedCoding])
      #expect(record.attempts.allSatisfy { $0.failure.message.contains("transport") })
    } else {
      #expect(summary == RunSummary(completed: 1, failed: 0), "\(record.attempts)")
      #expect(Body.bytes(Self.gzipped).matches(file: fixture.file("file")))
    }
  }

  @Test func `a long field of a server is not stored with the failure`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(.bytes(Self.gzipped))
    resource.fields = [
      Field("Content-Encoding", String(repeating: "x", count: 50_000)),
      Field("ETag", "\"\(String(repeating: "e", count: 5_000))\""),
    ]
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    _ = try await fixture.run()
    let record = try fixture.record("/a")
    #expect(record.entityTag == nil)
    #expect(record.attempts.allSatisfy { $0.failure.message.utf8.count < 1_100 })
  }

  @Test(arguments: [
    Fault.stallBeforeHeader, .rawResponse("junk\r\n\r\n"), .emptyReply,
    .rawForEver("", repeating: "HTTP/1.1 102 Processing\r\n\r\n", everyMilliseconds: 100),
  ])
  func `a misbehaving server does not affect other downloads`(_ fault: Fault) async throws {
    let fixture = try EngineFixture()
    fixture.idleTimeout = .seconds(10)
    fixture.server.route("/wild", Resource(.text("x"), faults: fault, then: .repeatLast))
    fixture.server.route("/good", Resource(Self.body))
    try fixture.add("/wild")
    try fixture.add("/good")
    // The idle timeout may end attempts of both downloads while a slow machine pauses the server.
    let engine = try fixture.engine(idleTimeout: fixture.idleTimeout) {
      $0.retry = RetryPolicy(maximumAttempts: .max, base: .milliseconds(1), cap: .milliseconds(5))
    }
    let first = try await engine.run(until: .finished(.matching(fixture.server.url("/good"))))
    #expect(Self.body.matches(file: fixture.file("good")))
    let second = try await fixture.run {
      $0.retry = RetryPolicy(maximumAttempts: 2, base: .milliseconds(1), cap: .milliseconds(5))
    }
    .summary
    #expect(first.completed == 1 && second.completed == 0)
    #expect(first.failed + second.failed == 1)
    #expect(try fixture.record("/wild").state == .failedPermanent)
  }
}
