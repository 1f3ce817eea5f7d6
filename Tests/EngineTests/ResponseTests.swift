import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

/// Responses of a server, and their effect on the download.
@Suite(.timeLimit(.minutes(10)))
struct ResponseTests {
  static let size: Int64 = 2_000_000
  static let body = Body.generated(byteCount: size, seed: 7)

  @Test(.requirements("SC4")) func `a partial file is resumed with Range and If-Range`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    let request = try #require(fixture.server.requests.first)
    #expect(fixture.server.requests.count == 1)
    #expect(request["Range"] == "bytes=1000000-")
    #expect(request["If-Range"] == "\"1\"")
    #expect(request["Accept-Encoding"] == "identity")
  }

  @Test func `a server that ignores the range sends the whole file, which is stored correctly`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .ignoreRange, then: .repeatLast))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    // The second request shows that the server does not only disregard the tag in `If-Range`.
    #expect(fixture.server.requests.map { $0["If-Range"] } == ["\"1\"", nil])
    #expect(try fixture.record("/a").attempts.isEmpty)
  }

  @Test func `a changed entity is downloaded from the first byte and never mixed with the old one`()
    async throws
  {
    let fixture = try EngineFixture()
    let other = Body.generated(byteCount: 2_500_000, seed: 8)
    fixture.server.route("/a", Resource(other, etag: "\"2\""))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(other.matches(file: fixture.file("a")))
    #expect(try fixture.record("/a").entityTag == "\"2\"")
  }

  @Test func `a partial response at the wrong offset is not written`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .wrongOffset(1_500_000)))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-", nil])
  }

  @Test func `bytes without a validator are not resumed`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, etag: nil))
    try fixture.interrupted("/a", Self.body, entityTag: nil)
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == [nil])
  }

  @Test func `bytes without a validator are resumed if the options allow it`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, etag: nil))
    try fixture.interrupted("/a", Self.body, entityTag: nil)
    try await fixture.run { $0.continuesUnvalidated = true }
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-"])
  }

  @Test func `a changed size is detected without a validator`() async throws {
    let fixture = try EngineFixture()
    let other = Body.generated(byteCount: 2_500_001, seed: 8)
    fixture.server.route("/a", Resource(other, etag: nil))
    try fixture.interrupted("/a", Self.body, entityTag: nil)
    try await fixture.run { $0.continuesUnvalidated = true }
    #expect(other.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == ["bytes=1000000-", nil])
  }

  @Test func `status 416 with the expected size completes the download`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 1_000_000, seed: 7)
    fixture.server.route("/a", Resource(body))
    try fixture.interrupted("/a", Self.body)
    // The total size is unknown, so the engine has to ask the server.
    let url = fixture.server.url("/a")
    try fixture.store.objects.writeNow { tx in
      try tx.update(DownloadRecord.self, key: url) { $0.expected = nil }
    }
    try await fixture.run()
    #expect(try fixture.record("/a").state == .completed)
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test func `status 416 with another size restarts the download`() async throws {
    let fixture = try EngineFixture()
    let other = Body.generated(byteCount: 500_000, seed: 9)
    fixture.server.route("/a", Resource(other))
    try fixture.interrupted("/a", Self.body)
    try await fixture.run()
    #expect(other.matches(file: fixture.file("a")))
  }

  @Test func `a short body is resumed and never taken for the complete file`() async throws {
    let fixture = try EngineFixture()
    let resource = Resource(Self.body, faults: .closeAfter(bytes: 700_000))
    let gate = fixture.routeGated("/a", resource)
    try fixture.add("/a")
    try await fixture.run(opening: gate, at: 700_000)
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == [nil, "bytes=700000-"])
  }

  @Test func `a failing server is retried until the attempts are used up`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .status(500), then: .repeatLast))
    try fixture.add("/a")
    let (summary, events) = try await fixture.run {
      $0.retry = RetryPolicy(
        maximumAttempts: 3,
        base: .milliseconds(1),
        cap: .milliseconds(10)
      )
    }
    #expect(summary.failed == 1)
    #expect(fixture.server.requests.count == 3)
    let record = try fixture.record("/a")
    #expect(record.state == .failedPermanent)
    #expect(record.attempts.map(\.failure.code) == [.serverBusy, .serverBusy, .serverBusy])
    let ends = events.filter { if case .failed = $0 { true } else { false } }
    #expect(ends.count == 1)
  }

  @Test func `completion after failed attempts resets their count`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .status(503), .emptyReply, .none))
    try fixture.add("/a")
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(try fixture.record("/a").failedAttempts == 0)
  }

  @Test(arguments: [
    (404, DownloadFailure.Code.notFound), (410, .notFound), (401, .refused), (403, .refused),
    (400, .rejected),
  ])
  func `a client error is final, and its error page is not stored as the file`(
    status: Int,
    code: DownloadFailure.Code
  ) async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .status(status), then: .repeatLast))
    try fixture.add("/a")
    let (summary, _) = try await fixture.run()
    #expect(summary.failed == 1)
    #expect(fixture.server.requests.count == 1)
    #expect(try fixture.record("/a").attempts.last?.failure.code == code)
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
  }

  @Test func `a mirror is requested when the first source does not have the file`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body, faults: .status(404), then: .repeatLast))
    fixture.server.route("/b", Resource(Self.body))
    let mirror = fixture.server.url("/b")
    try fixture.add("/a") { $0.mirrors = [mirror] }
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
  }

  @Test func `an empty body becomes an empty file`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.bytes([])))
    try fixture.add("/a")
    try await fixture.run()
    #expect(try fixture.record("/a").state == .completed)
    #expect(try Data(contentsOf: URL(filePath: fixture.file("a"))).isEmpty)
  }

  @Test func `a body of unknown length ends with the connection`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(Self.body)
    resource.framing = .chunked
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try await fixture.run()
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(try fixture.record("/a").expected == Self.size)
  }

  @Test func `a matching digest is recorded, and a mismatch fails the download`() async throws {
    let fixture = try EngineFixture()
    let digest = try Digest(
      "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    fixture.server.route("/right", Resource(.text("abc")))
    fixture.server.route("/wrong", Resource(.text("abd")))
    try fixture.add("/right") { $0.digest = digest }
    try fixture.add("/wrong") { $0.digest = digest }
    // The bytes of the right one are not copied.
    let (summary, _) = try await fixture.run { $0.equalFiles = .download }
    #expect(summary == RunSummary(completed: 1, failed: 1))
    #expect(try fixture.record("/right").verifiedDigest == digest.text)
    let wrong = try fixture.record("/wrong")
    #expect(wrong.attempts.last?.failure.code == .digestMismatch)
    #expect(wrong.received == 0)
    #expect(!FileManager.default.fileExists(atPath: fixture.file("wrong")))
  }

  @Test func `request headers are sent`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a") { $0.headers = [HeaderField(name: "X-Mark", value: "seven")] }
    try await fixture.run()
    #expect(fixture.server.requests.first?["X-Mark"] == "seven")
  }
}
