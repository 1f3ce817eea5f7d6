import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import Testing

/// Downloads that a key identifies, as an engine runs them.
@Suite(.timeLimit(.minutes(10)))
struct KeyedDownloadRunTests {
  private static let body = Body.generated(byteCount: 500_000, seed: 48)
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @Test func `an expired URL is replaced by the one that was given last, and the bytes stay`()
    async throws
  {
    try fixture.interrupted("/old", Self.body, received: 200_000)
    try fixture.add("/old") { $0.key = "model@v1" }
    fixture.server.route("/old", Resource(.text("x"), faults: .status(403), then: .repeatLast))
    fixture.server.route("/new", Resource(Self.body))
    try fixture.add("/new") { $0.key = "model@v1" }
    try await fixture.run()
    let record = try fixture.store.record(matching: "model@v1")
    #expect(record.state == .completed && record.keys == ["model@v1"])
    #expect(try fixture.store.records().count == 1)
    #expect(Self.body.matches(file: try fixture.store.roots().layout(of: record).finalPath))
    let new = fixture.server.requests.filter { $0.path == "/new" }
    #expect(new.count == 1 && new[0]["Range"] == "bytes=200000-")
  }

  @Test func `a corrected digest is downloaded from the URL of the wrong one`() async throws {
    fixture.server.route("/a", Resource(Self.body))
    let wrong = try Digest(String(repeating: "ab", count: 32))
    var hasher = DigestHasher(.sha256)
    hasher.update(Self.body.bytes(at: 0, count: Int(Self.body.byteCount)).span)
    let right = hasher.digest
    for digest in [wrong, right] {
      try fixture.store.addNow([DownloadRequest(digest: digest, urls: [fixture.server.url("/a")])])
      try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 1) }
    }
    #expect(try fixture.store.record(matching: wrong.text).state == .failedPermanent)
    let record = try fixture.store.record(matching: right.text)
    #expect(record.state == .completed)
    #expect(Self.body.matches(file: try fixture.store.roots().layout(of: record).finalPath))
    // The fragment of its URL is not sent.
    #expect(fixture.server.requests.allSatisfy { $0.target == "/a" })
  }

  @Test func `waiting for a key ends with its download`() async throws {
    fixture.server.route("/a", Resource(Self.body))
    try fixture.add("/b") { $0.key = "k" }
    let engine = try fixture.engine()
    var request = DownloadRequest(url: fixture.server.url("/a"))
    request.key = "k"
    let handle = try await engine.download(request)
    _ = try await engine.run(until: .finished(.matching("k")))
    _ = try await handle.value()
    let record = try fixture.store.record(matching: "k")
    #expect(record.keys == ["k"] && record.url == fixture.server.url("/b"))
  }
}
