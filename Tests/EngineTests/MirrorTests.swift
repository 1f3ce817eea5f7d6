import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// Downloads of one file over connections to several servers.
@Suite(.timeLimit(.minutes(10)))
struct MirrorTests {
  private static let size: Int64 = 4_000_000
  private static let body = Body.generated(byteCount: size, seed: 19)
  private static let other = Body.generated(byteCount: size, seed: 20)

  private let fixture: EngineFixture
  private let mirror: FaultServer

  init() throws {
    fixture = try EngineFixture()
    mirror = try FaultServer()
    // The first connection stalls, so that others fetch most of the file.
    fixture.server.route("/a", Self.stalling(Self.body))
  }

  private static func stalling(_ body: Body, tag: String? = "\"1\"") -> Resource {
    var resource = Resource(body, etag: tag)
    resource.faults = [.stallAfter(bytes: 100_000)]
    return resource
  }

  private static func digest(_ bytes: Range<Int64> = 0..<size) -> Digest {
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: bytes.lowerBound, count: bytes.count).span)
    return hasher.digest
  }

  private static var pieces: RequiredPieces {
    let digests = stride(from: 0, to: size, by: 500_000).map { digest($0..<$0 + 500_000) }
    return RequiredPieces(byteCount: size, pieceLength: 500_000, digests: digests)
  }

  private func run(
    perHost: Int = 8,
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) async throws {
    try await fixture.run { options in
      options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: perHost)
      options.split = SplitOptions(maximumConnections: 4, minimumLength: 100_000)
      options.split.measuringTime = .zero
      options.split.stallTime = .seconds(1)
      change(&options)
    }
  }

  /// Runs an engine with one connection beside the first one, which stalls.
  ///
  /// The clock stands still until the engine has the answer of `/b`, so that no unanswered connection
  /// counts as stalled and is opened again.
  private func runWithOneFurtherConnection(to server: FaultServer) async throws {
    let clocks = ManualClocks()
    let engine = try fixture.engine(environment: clocks.environment) { options in
      options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 8)
      options.split = SplitOptions(maximumConnections: 2, minimumLength: 100_000)
      options.split.measuringTime = .zero
      options.split.stallTime = .seconds(10)
    }
    let run = Task { try await engine.run(until: .idle) }
    let own = fixture.server
    try await waitUntil("the answer of the mirror") {
      guard server.deliveries.contains(where: { $0.target == "/b" }) else { return false }
      if own.requests.count(where: { $0.target == "/a" }) > 1 { return true }
      return await engine.currentProgress().allSatisfy { $0.connections <= 1 }
    }
    var seen: Int64 = -1
    try await waitUntil("the end") {
      guard try fixture.record("/a").state != .completed else { return true }
      let received = await engine.currentProgress().first?.received ?? 0
      if received == seen { clocks.advance(by: .seconds(11)) }
      seen = received
      return false
    }
    _ = try await run.value
  }

  private func add(_ change: (inout DownloadRequest) -> Void = { _ in }) throws {
    let url = mirror.url("/b")
    try fixture.add("/a") {
      $0.mirrors = [url]
      change(&$0)
    }
  }

  private func expectComplete() throws {
    #expect(try fixture.record("/a").state == .completed)
    #expect(Self.body.matches(file: fixture.file("a")))
  }

  @Test func `another URL of the same server with the same entity tag serves ranges`() async throws
  {
    fixture.server.route("/b", Resource(Self.body))
    let other = fixture.server.url("/b")
    try fixture.add("/a") { $0.mirrors = [other] }
    try await run()
    try expectComplete()
    let requests = fixture.server.requests.filter { $0.target == "/b" }
    #expect(!requests.isEmpty)
    for request in requests {
      #expect(request["If-Range"] == nil && request["Range"]?.hasSuffix("-") == false)
    }
  }

  @Test func `without a required digest, a mirror at another origin is asked for no range`()
    async throws
  {
    mirror.route("/b", Resource(Self.body))
    try add()
    try await run()
    try expectComplete()
    #expect(mirror.requests.isEmpty)
  }

  @Test(arguments: ["\"1\"", "\"2\"", nil] as [String?])
  func `a mirror that continues the file states the entity tag without being told`(
    tag: String?
  ) async throws {
    let resource = Resource(Self.body, faults: .closeAfter(bytes: 2_000_000))
    let gate = fixture.routeGated("/a", resource)
    mirror.route("/b", Resource(Self.body, etag: tag))
    try add()
    try await fixture.run(opening: gate, at: 2_000_000) { $0.split.maximumConnections = 1 }
    try expectComplete()
    #expect(mirror.requests.allSatisfy { $0["If-Range"] == nil })
    #expect(mirror.requests.first?["Range"] == "bytes=2000000-")
    if tag == "\"1\"" { #expect(mirror.requests.count == 1) }
  }

  @Test func `with a required digest, the entity tag of a mirror may be another one`() async throws
  {
    mirror.route("/b", Resource(Self.body, etag: "\"b\""))
    try add { $0.digest = Self.digest() }
    try await run()
    try expectComplete()
    #expect(!mirror.requests.isEmpty)
    #expect(mirror.requests.allSatisfy { $0["If-Range"] == nil })
  }

  @Test(
    arguments: [
      (Resource(body, etag: "\"2\""), "another entity tag"), (Resource(body, etag: nil), "no tag"),
      (Resource(Body.generated(byteCount: size + 1, seed: 19)), "another size"),
    ]
  )
  func `a mirror that does not prove to have the same file serves nothing`(
    resource: Resource,
    reason: String
  ) async throws {
    fixture.server.route("/b", resource)
    let other = fixture.server.url("/b")
    try fixture.add("/a") { $0.mirrors = [other] }
    try await runWithOneFurtherConnection(to: fixture.server)
    try expectComplete()
    #expect(fixture.server.requests.count { $0.target == "/b" } == 1)
  }

  @Test(arguments: [nil, "W/\"1\""] as [String?])
  func `without a strong entity tag and a digest, no mirror is asked`(tag: String?) async throws {
    fixture.server.route("/a", Resource(Self.body, etag: tag))
    mirror.route("/b", Resource(Self.body, etag: tag))
    try add()
    try await run()
    try expectComplete()
    #expect(mirror.requests.isEmpty)
  }

  @Test(arguments: [404, 429, 503])
  func `a mirror that refuses is not asked again`(status: Int) async throws {
    var resource = Resource(Self.body)
    resource.status = status
    mirror.route("/b", resource)
    try add { $0.digest = Self.digest() }
    try await runWithOneFurtherConnection(to: mirror)
    try expectComplete()
    #expect(mirror.requests.count == 1)
  }

  @Test func `a mirror with other bytes costs an attempt, and then the servers are not mixed`()
    async throws
  {
    mirror.route("/b", Resource(Self.other))
    try add { $0.digest = Self.digest() }
    try await run()
    try expectComplete()
    let attempts = try fixture.record("/a").attempts
    #expect(attempts.first?.failure.code == .entityChanged)
    #expect(mirror.requests.last.map { $0["Range"] } == .some(nil))
  }

  @Test func `with digests of pieces, a mirror with other bytes costs its pieces`() async throws {
    mirror.route("/b", Resource(Self.other))
    try add { $0.pieces = Self.pieces }
    try await run { $0.checkpointBytes = 500_000 }
    try expectComplete()
    let attempts = try fixture.record("/a").attempts
    #expect(attempts.contains { $0.failure.code == .pieceMismatch })
    #expect(!attempts.contains { $0.failure.code == .digestMismatch })
  }

  @Test func `after a failure, a mirror continues where the first server stopped`() async throws {
    let resource = Resource(Self.body, faults: .closeAfter(bytes: 2_000_000))
    let gate = fixture.routeGated("/a", resource)
    mirror.route("/b", Resource(Self.body, etag: "\"b\""))
    try add { $0.digest = Self.digest() }
    try await fixture.run(opening: gate, at: 2_000_000) { $0.split.maximumConnections = 1 }
    try expectComplete()
    #expect(mirror.requests.count == 1)
    #expect(mirror.requests.first?["If-Range"] == nil)
    #expect(mirror.requests.first?["Range"] == "bytes=2000000-")
  }

  @Test func `credentials are not sent to a mirror`() async throws {
    mirror.route("/b", Resource(Self.body))
    try add {
      $0.digest = Self.digest()
      $0.headers = [
        HeaderField(name: "Authorization", value: "Basic abc"),
        HeaderField(name: "X-Unknown", value: "y"), HeaderField(name: "Accept", value: "z"),
      ]
    }
    try await run()
    try expectComplete()
    #expect(!mirror.requests.isEmpty)
    for request in mirror.requests {
      #expect(request["Authorization"] == nil && request["X-Unknown"] == nil)
      #expect(request["Accept"] == "z")
    }
    #expect(fixture.server.requests.allSatisfy { $0["Authorization"] == "Basic abc" })
  }

  @Test func `the limit per host leaves mirrors to the other connections`() async throws {
    mirror.route("/b", Resource(Self.body))
    try add { $0.digest = Self.digest() }
    try await run(perHost: 1)
    try expectComplete()
    #expect(!mirror.requests.isEmpty)
  }

  @Test func `a response lists mirrors`() async throws {
    var resource = Self.stalling(Self.body)
    resource.fields = [Field("Link", "<\(mirror.url("/b"))>; rel=duplicate; pri=1")]
    fixture.server.route("/a", resource)
    mirror.route("/b", Resource(Self.body))
    try fixture.add("/a") { $0.digest = Self.digest() }
    try await run()
    try expectComplete()
    #expect(!mirror.requests.isEmpty)
    #expect(try fixture.record("/a").mirrors.isEmpty)
  }
}
