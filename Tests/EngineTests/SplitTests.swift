import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

/// Downloads of one file over several connections.
@Suite(.timeLimit(.minutes(10)))
struct SplitTests {
  private static let size: Int64 = 4_000_000
  private static let body = Body.generated(byteCount: size, seed: 9)

  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  /// Returns a resource that is slow enough to be split.
  private func slow(_ bytesPerSecond: Int64 = 2_000_000) -> Resource {
    var resource = Resource(Self.body)
    resource.bytesPerSecond = bytesPerSecond
    return resource
  }

  /// Returns a resource whose first connection stalls, so that others fetch most of the file however
  /// slow this machine is.
  ///
  /// Only the engine ends that connection, and not before it has added others.
  private func stalling(_ faults: Fault...) -> Resource {
    var resource = Resource(Self.body)
    resource.faults = [.stallAfter(bytes: 100_000)] + faults
    return resource
  }

  /// Runs an engine that adds connections without measuring.
  @discardableResult
  private func run(
    connections: Int = 4,
    perHost: Int = 8,
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    try await fixture.run { options in
      Self.split(&options, connections, perHost: perHost)
      change(&options)
    }
    .summary
  }

  /// Lets an engine add connections without measuring.
  private static func split(
    _ options: inout EngineOptions,
    _ connections: Int = 4,
    perHost: Int = 8
  ) {
    options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: perHost)
    options.split = SplitOptions(maximumConnections: connections, minimumLength: 100_000)
    options.split.measuringTime = .zero
  }

  private func expectComplete(_ summary: RunSummary) throws {
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    let record = try fixture.record("/a")
    #expect(record.state == .completed && record.ranges == nil && record.received == Self.size)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == ["a"])
  }

  /// The requested ranges with an end.
  private var parts: [Range<Int64>] {
    fixture.ranges("/a").compactMap { field in
      let bounds = field?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int64($0) }
      guard let bounds, bounds.count == 2 else { return nil }
      return bounds[0]..<bounds[1] + 1
    }
  }

  @Test func `a file is fetched over several connections`() async throws {
    fixture.server.route("/a", stalling())
    try fixture.add("/a")
    try expectComplete(try await run())
    #expect(fixture.ranges("/a").first == .some(nil))
    #expect(!parts.isEmpty)
    for request in fixture.server.requests.dropFirst() { #expect(request["If-Range"] == "\"1\"") }
  }

  /// Signs the range of each request.
  private struct RangeSigner: RequestInterceptor {
    func intercept(
      _ request: TaskRequest,
      for record: DownloadRecord
    ) async throws -> TaskRequest {
      var request = request
      let range = "\(request.offset)-\(request.end.map { "\($0 - 1)" } ?? "")"
      request.headers.append(HeaderField(name: "X-Signed", value: "bytes=\(range)"))
      return request
    }
  }

  @Test func `the interceptors receive the request of each connection`() async throws {
    fixture.server.route("/a", stalling())
    try fixture.add("/a")
    try expectComplete(try await run { $0.requestInterceptors = [RangeSigner()] })
    #expect(!parts.isEmpty)
    for request in fixture.server.requests {
      #expect(request["X-Signed"] == request["Range"] ?? "bytes=0-")
      #expect(request.fields.count { $0.name == "X-Signed" } == 1)
    }
  }

  @Test func `the progress has the ranges and the connections of a file`() async throws {
    fixture.server.route("/a", stalling())
    // The number of connections is the record's, not the engine's.
    try fixture.add("/a") { $0.connections = 4 }
    let engine = try fixture.engine { Self.split(&$0, 1) }
    let run = Task { try await engine.run(until: .stopped) }
    let handle = engine.handle(forURL: fixture.server.url("/a"))
    let split = try #require(
      await engine.progress(of: .download(handle), every: .milliseconds(2))
        .first { $0.ranges.count > 1 }
    )
    #expect((1...4).contains(split.connections))
    #expect(split.ranges.reduce(0) { $0 + Int64($1.count) } == split.received)
    engine.stop()
    _ = try await run.value
  }

  @Test func `one connection sends the requests of an engine without parts`() async throws {
    fixture.server.route("/a", slow(8_000_000))
    try fixture.add("/a")
    try expectComplete(try await run(connections: 1))
    #expect(fixture.ranges("/a") == [nil])
  }

  @Test func `connections that stall are replaced, also the last one`() async throws {
    fixture.server.route("/a", stalling(.stallAfter(bytes: 0), .stallAfter(bytes: 50_000)))
    fixture.idleTimeout = .seconds(600)
    try fixture.add("/a")
    try expectComplete(try await run(connections: 2) { $0.split.stallTime = .milliseconds(500) })
    #expect(try fixture.record("/a").attempts.isEmpty)
  }

  @Test func `a digest is computed from the complete file`() async throws {
    fixture.server.route("/a", stalling())
    let bytes = Self.body.bytes(at: 0, count: Int(Self.size))
    var hasher = DigestHasher(.sha256)
    hasher.update(bytes.span)
    let digest = hasher.digest
    try fixture.add("/a") { $0.digest = digest }
    try expectComplete(try await run())
    #expect(!parts.isEmpty)
    #expect(try fixture.record("/a").verifiedDigest == digest.text)
  }

  @Test(arguments: [nil, "W/\"1\""] as [String?])
  func `a file without a strong validator is fetched over one connection`(
    tag: String?
  ) async throws {
    var resource = slow(8_000_000)
    resource.etag = tag
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try expectComplete(try await run())
    #expect(fixture.ranges("/a") == [nil])
  }

  @Test(
    arguments: [
      .ignoreRange, .wrongOffset(5), .rangeNotSatisfiable, .status(503),
      .status(429, retryAfter: "1"),
      .status(403), .resetAfter(bytes: 50_000), .closeAfter(bytes: 10),
      .longBody(declared: 65_536), .longBody(declared: 65_536, hasLength: false), .emptyBody,
      .emptyRange(), .emptyRange(hasLength: false), .entityTag("\"2\""),
    ] as [Fault]
  )
  func `a fault of the second connection mixes no bytes`(fault: Fault) async throws {
    let server = fixture.server
    // The first connection lasts until the second one has begun.
    var resource = slow(50_000)
    resource.faults = [.none, fault]
    let gate = Gate()
    resource.rateGate = gate
    server.route("/a", resource)
    try fixture.add("/a")
    let engine = try fixture.engine { options in
      Self.split(&options)
      options.split.stallTime = .seconds(300)
    }
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the second request") { server.requests.count > 1 }
    gate.open()
    try expectComplete(try await run.value)
    #expect(!parts.isEmpty)
  }

  /// Downloads a file whose first response ends only when the others have failed, with one attempt.
  private func runWithOneAttempt(_ faults: [Fault], requests: Int) async throws -> [DownloadEvent] {
    let server = fixture.server
    fixture.idleTimeout = .seconds(600)
    var resource = slow(50_000)
    resource.faults = [.none] + faults
    resource.afterFaults = .repeatLast
    let gate = Gate()
    resource.rateGate = gate
    server.route("/a", resource)
    try fixture.add("/a")
    let engine = try fixture.engine { options in
      Self.split(&options)
      options.split.stallTime = .seconds(300)
      options.retry = RetryPolicy(maximumAttempts: 1)
    }
    let events = engine.events()
    let run = Task { try await engine.run(until: .idle) }
    // The server counts a request before the engine has its response, and a connection that the
    // engine believes to deliver a range may end the first one, which then has nothing left to write.
    try await waitUntil("the ends of \(requests - 1) further connections") {
      guard server.requests.count >= requests else { return false }
      return await engine.currentProgress().allSatisfy { $0.connections <= 1 }
    }
    gate.open()
    try expectComplete(try await run.value)
    #expect(try fixture.record("/a").attempts.isEmpty)
    return await events.reduce(into: []) { $0.append($1) }
  }

  @Test(
    arguments: [
      .status(400), .status(401), .status(403), .status(404), .status(410), .status(416),
      .status(429), .status(503), .ignoreRange, .wrongOffset(7), .emptyBody, .emptyRange(),
      .entityTag("\"2\""), .emptyReply, .longBody(declared: 65_536),
      .longBody(declared: 65_536, hasLength: false),
    ] as [Fault]
  )
  func `no answer to a further connection fails or restarts a download`(fault: Fault) async throws {
    let events = try await runWithOneAttempt([fault], requests: 2)
    #expect(fixture.ranges("/a").count { $0 == nil } == 1)
    #expect(!events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  @Test func `a server that refuses all ranges and stalls once sends the file from its first byte`()
    async throws
  {
    fixture.idleTimeout = .seconds(600)
    // The second connection, and the one that replaces the first.
    fixture.server.route("/a", stalling(.rangeNotSatisfiable, .rangeNotSatisfiable))
    try fixture.add("/a")
    try expectComplete(try await run { $0.split.stallTime = .milliseconds(500) })
    #expect(fixture.ranges("/a").count { $0 == nil } > 1)
  }

  @Test func `a link that expires while connections are lost does not fail a download`()
    async throws
  {
    let lost = Fault.closeAfter(bytes: 50_000)
    let events = try await runWithOneAttempt([lost, lost, lost, .status(403)], requests: 5)
    #expect(fixture.ranges("/a").count { $0 == nil } == 1)
    #expect(!events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  @Test func `with a digest, a range of another file without a tag costs an attempt only`()
    async throws
  {
    var resource = stalling(.damage(at: 3_000_000))
    resource.repeatsValidators = false
    let gate = Gate()
    resource.rateGate = gate
    fixture.server.route("/a", resource)
    var hasher = DigestHasher(.sha256)
    hasher.update(Self.body.bytes(at: 0, count: Int(Self.size)).span)
    let digest = hasher.digest
    try fixture.add("/a") { $0.digest = digest }
    let engine = try fixture.engine { options in
      Self.split(&options, 2)
      options.split.stallTime = .seconds(86_400)
    }
    let run = Task { try await engine.run(until: .idle) }
    // The first connection continues when the second one has all of its bytes but the last one, which
    // waits for the gate: until then, no other connection fetches the damaged byte.
    try await waitUntil("the damaged byte") {
      guard let part = parts.first, let progress = await engine.currentProgress().first else {
        return false
      }
      return progress.received >= 100_000 + Int64(part.count) - 1
    }
    gate.open()
    try expectComplete(try await run.value)
    #expect(try fixture.record("/a").attempts.map(\.failure.code) == [.entityChanged])
  }

  @Test func `a server that says that it sends no ranges is not asked for any`() async throws {
    var resource = slow(8_000_000)
    resource.honoursRange = false
    resource.fields = [Field("Accept-Ranges", "none")]
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try expectComplete(try await run())
    #expect(fixture.ranges("/a") == [nil])
  }

  @Test func `a changed file is not mixed although its server states no validator for ranges`()
    async throws
  {
    let server = fixture.server
    let gate = Gate()
    var resource = slow(50_000)
    resource.rateGate = gate
    server.route("/a", resource)
    try fixture.add("/a")
    let engine = try fixture.engine { Self.split(&$0) }
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the first request") { !server.requests.isEmpty }
    var changed = Resource(.generated(byteCount: Self.size, seed: 10), etag: "\"2\"")
    changed.honoursIfRange = false
    changed.repeatsValidators = false
    server.route("/a", changed)
    try await waitUntil("the second request") { server.requests.count > 1 }
    gate.open()
    try expectComplete(try await run.value)
  }

  @Test func `a file that changes between two connections is never mixed`() async throws {
    let other = Body.generated(byteCount: Self.size, seed: 10)
    let tag = slow().etag
    let server = fixture.server
    var resource = slow()
    resource.etag = tag
    server.route("/a", resource)
    try fixture.add("/a")
    let engine = try fixture.engine { options in
      options.split = SplitOptions(maximumConnections: 2, minimumLength: 100_000)
      options.split.measuringTime = .seconds(1)
    }
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the first request") { !server.requests.isEmpty }
    var changed = Resource(other, etag: "\"2\"")
    changed.bytesPerSecond = 8_000_000
    server.route("/a", changed)
    let summary = try await run.value
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(other.matches(file: fixture.file("a")) || Self.body.matches(file: fixture.file("a")))
  }

  @Test func `the limit per host also limits the connections`() async throws {
    fixture.server.route("/a", slow())
    try fixture.add("/a")
    try expectComplete(try await run(connections: 8, perHost: 1))
    #expect(fixture.ranges("/a") == [nil])
  }

  @Test(arguments: [1, 4])
  func `a download that was killed with gaps fetches only what is missing`(
    connections: Int
  ) async throws {
    fixture.server.route("/a", Resource(Self.body))
    let record = try fixture.add("/a")
    let layout = try fixture.store.roots().layout(of: record)
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    let kept = ByteRanges([100..<1_000_000, 2_000_000..<2_500_000, 3_000_000..<3_500_000])
    var bytes = [UInt8](repeating: 0, count: 3_600_000)
    for range in kept.ranges {
      let count = Int(range.upperBound - range.lowerBound)
      bytes.replaceSubrange(
        Int(range.lowerBound)..<Int(range.upperBound),
        with: Self.body.bytes(at: range.lowerBound, count: count)
      )
    }
    try Data(bytes).write(to: URL(filePath: layout.partialPath))
    try fixture.store.objects.writeNow { tx in
      try tx.update(DownloadRecord.self, key: record.url) { record in
        record.state = .running
        record.checkpoint(kept, total: Self.size, entityTag: "\"1\"", lastModified: nil, at: Date())
      }
    }
    // A connection that is not answered in time would be opened again.
    let summary = try await run(connections: connections) { $0.split.stallTime = .seconds(86_400) }
    try expectComplete(summary)
    #expect(fixture.ranges("/a").first == "bytes=0-99")
    // Each missing byte was requested, and no other one.
    #expect(!parts.isEmpty)
    #expect(ByteRanges(parts).intersection(kept).isEmpty)
    if connections == 1 {
      #expect(parts.reduce(0) { $0 + Int64($1.count) } == Self.size - kept.byteCount)
    }
  }

  @Test func `a stopped download with gaps keeps all of its bytes`() async throws {
    fixture.server.route("/a", stalling())
    try fixture.add("/a")
    let engine = try fixture.engine { Self.split(&$0) }
    let run = Task { try await engine.run(until: .stopped) }
    try await waitUntil("ranges in the record") { try fixture.record("/a").ranges != nil }
    engine.stop()
    _ = try await run.value
    let record = try fixture.record("/a")
    #expect(record.state == .waiting && record.isConsistent && record.ranges != nil)
    let layout = try fixture.store.roots().layout(of: record)
    let data = try Data(contentsOf: URL(filePath: layout.partialPath))
    for range in record.committed.ranges {
      let piece = Array(data[Int(range.lowerBound)..<Int(range.upperBound)])
      let isSame = Self.body.matches(piece.span, at: range.lowerBound)
      #expect(isSame, "\(range)")
    }
    fixture.server.route("/a", Resource(Self.body))
    try expectComplete(try await self.run())
  }
}
