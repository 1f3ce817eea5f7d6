import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// The digests of pieces: recorded and required ones.
@Suite(.timeLimit(.minutes(10)))
struct PieceTests {
  private static let length: Int64 = 100_000
  private static let size: Int64 = 1_050_000
  private static let body = Body.generated(byteCount: size, seed: 77)

  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @discardableResult
  private func run(
    _ change: (inout EngineOptions) -> Void = { _ in }
  ) async throws -> [DownloadEvent] {
    try await fixture.run { options in
      options.pieceLength = Self.length
      change(&options)
    }
    .events
  }

  private func digests() throws -> PieceDigests? {
    let id = try fixture.record("/a").id
    return try fixture.store.objects.read { tx in try tx.find(PieceDigests.self, key: id) }
  }

  private func tableCount() throws -> Int {
    try fixture.store.objects.read { tx in try tx.count(PieceDigests.all) }
  }

  private func cut(_ path: String, to size: UInt64) throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.truncate(atOffset: size)
    try handle.close()
  }

  /// The digests of the body's pieces, as a publisher would state them.
  private static func required() -> RequiredPieces {
    let digests = stride(from: 0, to: size, by: Int(length)).map { start in
      var hasher = DigestHasher(.sha256)
      hasher.update(body.bytes(at: start, count: Int(length)).span)
      return hasher.digest
    }
    return RequiredPieces(byteCount: size, pieceLength: length, digests: digests)
  }

  private func expectComplete() throws {
    #expect(try fixture.record("/a").state == .completed)
    #expect(Self.body.matches(file: fixture.file("a")))
  }

  @Test func `the digests of all pieces of a finished file are recorded`() async throws {
    fixture.server.route("/a", Resource(Self.body))
    try fixture.add("/a")
    try await run()
    try expectComplete()
    #expect(try fixture.record("/a").hasPieceDigests)
    let pieces = try #require(try digests())
    #expect(pieces.count == 11 && !pieces.isRequired)
    let report = try PieceReport(ofFileAt: fixture.file("a"), pieces)
    #expect(report.correct == ByteRanges(upTo: Self.size))
  }

  @Test func `the digests of a file that was split are recorded`() async throws {
    var resource = Resource(Self.body)
    resource.faults = [.stallAfter(bytes: 50_000)]
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try await run { options in
      options.split = SplitOptions(maximumConnections: 4, minimumLength: 100_000)
      options.split.measuringTime = .zero
    }
    try expectComplete()
    let report = try PieceReport(ofFileAt: fixture.file("a"), try #require(try digests()))
    #expect(report.correct == ByteRanges(upTo: Self.size))
  }

  @Test func `a new version of a file replaces the digests`() async throws {
    _ = try await interrupt(after: 500_000)
    let other = Body.generated(byteCount: Self.size, seed: 78)
    var changed = Resource(other)
    changed.etag = "\"2\""
    fixture.server.route("/a", changed)
    try fixture.add("/a")
    try await run()
    #expect(other.matches(file: fixture.file("a")))
    let report = try PieceReport(ofFileAt: fixture.file("a"), try #require(try digests()))
    #expect(report.correct == ByteRanges(upTo: Self.size))
  }

  @Test func `a short new version of a file leaves no digests`() async throws {
    _ = try await interrupt(after: 850_000)
    let short = Body.text("short")
    var changed = Resource(short)
    changed.etag = "\"2\""
    fixture.server.route("/a", changed)
    try await fixture.store.restart(.matching([try fixture.record("/a").url]))
    try await run()
    #expect(short.matches(file: fixture.file("a")))
    #expect(try !fixture.record("/a").hasPieceDigests)
    #expect(try tableCount() == 0)
  }

  @Test func `a short new version that a resumed request finds leaves no digests`() async throws {
    _ = try await interrupt(after: 850_000)
    let short = Body.text("short")
    fixture.server.route("/a", Resource(short, etag: "\"2\""))
    try fixture.add("/a")
    try await run()
    #expect(short.matches(file: fixture.file("a")))
    #expect(try !fixture.record("/a").hasPieceDigests)
    #expect(try tableCount() == 0)
  }

  @Test func `the pieces of a new version are all compared with their digests`() async throws {
    _ = try await fixture.breakOff(
      "/a",
      Self.body,
      after: 500_000,
      pieceLength: Self.length
    ) { $0.pieces = Self.required() }
    // A piece that was correct in the earlier version is damaged in this one, which the server sends
    // as a whole.
    var changed = Resource(Self.body, faults: .damage(at: 155_555))
    changed.etag = "\"2\""
    changed.honoursRange = false
    fixture.server.route("/a", changed)
    try fixture.add("/a")
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a") == [nil, "bytes=500000-", "bytes=100000-199999"])
    let attempts = try fixture.record("/a").attempts
    #expect(attempts.last?.failure.code == .pieceMismatch)
  }

  @Test(arguments: [50_000, 1_040_000] as [Int64])
  func `the pieces of a new version of unknown size are all compared with their digests`(
    damaged: Int64
  ) async throws {
    _ = try await fixture.breakOff(
      "/a",
      Self.body,
      after: 500_000,
      pieceLength: Self.length
    ) { $0.pieces = Self.required() }
    var changed = Resource(Self.body, faults: .damage(at: damaged))
    changed.etag = "\"2\""
    changed.honoursRange = false
    changed.framing = .chunked
    fixture.server.route("/a", changed)
    try fixture.add("/a")
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").prefix(2) == [nil, "bytes=500000-"])
    let attempts = try fixture.record("/a").attempts
    #expect(attempts.last?.failure.code == .pieceMismatch)
  }

  @Test func `a new version of unknown size does not get the digests of the previous one`()
    async throws
  {
    _ = try await interrupt(after: 500_000)
    let other = Body.generated(byteCount: Self.size, seed: 78)
    var changed = Resource(other, etag: "\"2\"")
    changed.honoursRange = false
    changed.framing = .chunked
    fixture.server.route("/a", changed)
    try fixture.add("/a")
    try await run()
    #expect(other.matches(file: fixture.file("a")))
    #expect(try !fixture.record("/a").hasPieceDigests)
    #expect(try tableCount() == 0)
  }

  @Test(arguments: [nil, 755_555] as [Int64?])
  func `a version with another entity tag continues a file whose pieces have digests`(
    damaged: Int64?
  ) async throws {
    _ = try await fixture.breakOff(
      "/a",
      Self.body,
      after: 500_000,
      pieceLength: Self.length
    ) { $0.pieces = Self.required() }
    var changed = Resource(Self.body)
    if let damaged { changed.faults = [.damage(at: damaged)] }
    changed.etag = "\"2\""
    fixture.server.route("/a", changed)
    try fixture.add("/a")
    let events = try await run()
    try expectComplete()
    let ranges = fixture.ranges("/a")
    #expect(ranges.prefix(2) == [nil, "bytes=500000-"])
    if damaged == nil {
      #expect(ranges.count == 2)
    } else {
      // The server that sent the damaged piece is asked for it again, and for no other intact one.
      #expect(ranges.count { $0 == "bytes=700000-799999" } == 1)
    }
    #expect(!events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  /// Interrupts the download after some bytes, and returns the path of the partial file.
  private func interrupt(after bytes: Int64) async throws -> String {
    let record = try await fixture.breakOff(
      "/a",
      Self.body,
      after: bytes,
      pieceLength: Self.length
    )
    #expect(record.received == bytes)
    return try fixture.store.roots().layout(of: record).partialPath
  }

  @Test func `a partial file that was truncated keeps the pieces that are intact`() async throws {
    let path = try await interrupt(after: 850_000)
    try cut(path, to: 420_000)
    // A changed byte in an intact length: its piece does not count either.
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seek(toOffset: 150_000)
    try handle.write(contentsOf: Data([UInt8](repeating: 0, count: 64)))
    try handle.close()
    try fixture.add("/a")
    let events = try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").dropFirst() == ["bytes=100000-199999", "bytes=400000-1049999"])
    #expect(!events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  @Test(arguments: [1, 4])
  func `a piece with other bytes than before is of another version, which replaces the file`(
    connections: Int
  ) async throws {
    let path = try await interrupt(after: 850_000)
    try cut(path, to: 420_000)
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seek(toOffset: 150_000)
    try handle.write(contentsOf: Data([UInt8](repeating: 0, count: 64)))
    try handle.close()
    // The server states the entity tag of the previous version.
    let other = Body.generated(byteCount: Self.size, seed: 78)
    fixture.server.route("/a", Resource(other))
    try fixture.add("/a")
    let events = try await run { $0.split = SplitOptions(maximumConnections: connections) }
    #expect(try fixture.record("/a").state == .completed)
    #expect(other.matches(file: fixture.file("a")))
    #expect(try fixture.record("/a").attempts.last?.failure.code == .entityChanged)
    #expect(events.contains { if case .rolledBack = $0 { true } else { false } })
    let report = try PieceReport(ofFileAt: fixture.file("a"), try #require(try digests()))
    #expect(report.correct == ByteRanges(upTo: Self.size))
  }

  @Test func `without an intact piece the download starts again`() async throws {
    let path = try await interrupt(after: 850_000)
    try cut(path, to: 50_000)
    try fixture.add("/a")
    let events = try await run()
    try expectComplete()
    #expect(fixture.ranges("/a") == [nil, nil])
    #expect(events.contains { if case .rolledBack = $0 { true } else { false } })
  }

  @Test(arguments: [1, 4])
  func `only the piece with another digest is downloaded again`(connections: Int) async throws {
    var resource = Resource(Self.body)
    resource.faults = [.damage(at: 555_555)]
    fixture.server.route("/a", resource)
    try fixture.add("/a") { $0.pieces = Self.required() }
    try await run { $0.split = SplitOptions(maximumConnections: connections) }
    try expectComplete()
    #expect(fixture.ranges("/a") == [nil, "bytes=500000-599999"])
    let attempts = try fixture.record("/a").attempts
    #expect(attempts.map(\.failure.code) == [.pieceMismatch])
  }

  @Test func `a server whose piece is always damaged fails the download`() async throws {
    var resource = Resource(Self.body)
    resource.faults = (0..<20).map { _ in .damage(at: 555_555) }
    fixture.server.route("/a", resource)
    try fixture.add("/a") { $0.pieces = Self.required() }
    try await run { $0.retry = RetryPolicy(maximumAttempts: 3, base: .milliseconds(1)) }
    let record = try fixture.record("/a")
    #expect(record.state == .failedPermanent)
    #expect(record.attempts.last?.failure.code == .pieceMismatch)
    #expect(record.received == Self.size - Self.length)
    #expect(fixture.ranges("/a").dropFirst().allSatisfy { $0 == "bytes=500000-599999" })
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
  }

  @Test func `a file of another size than its pieces is refused`() async throws {
    fixture.server.route("/a", Resource(.generated(byteCount: Self.size + 1, seed: 77)))
    try fixture.add("/a") { $0.pieces = Self.required() }
    try await run()
    let record = try fixture.record("/a")
    #expect(record.state == .failedPermanent)
    #expect(record.attempts.last?.failure.code == .digestMismatch)
  }

  @Test func `no byte of a file of another size than its pieces is kept`() async throws {
    let record = try await fixture.breakOff(
      "/a",
      Self.body,
      after: 850_000,
      pieceLength: Self.length
    ) { $0.pieces = Self.required() }
    #expect(record.received > 0)
    let path = try fixture.store.roots().layout(of: record).partialPath
    // The first response did not state the size.
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: record.url) { $0.expected = nil }
    }
    fixture.server.route("/a", Resource(.generated(byteCount: Self.size + 1, seed: 77)))
    try fixture.add("/a")
    try await run()
    let refused = try fixture.record("/a")
    #expect(refused.attempts.last?.failure.code == .digestMismatch)
    #expect(refused.state == .failedPermanent && refused.received == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(arguments: [Resource.Framing.contentLength, .chunked], [0, 1])
  func `a required size is compared without digests`(
    framing: Resource.Framing,
    excess: Int64
  ) async throws {
    var resource = Resource(.generated(byteCount: Self.size + excess, seed: 77))
    resource.framing = framing
    fixture.server.route("/a", resource)
    try fixture.add("/a") {
      $0.pieces = RequiredPieces(byteCount: Self.size, pieceLength: Self.size, digests: [])
    }
    try await run()
    guard excess > 0 else { return try expectComplete() }
    let record = try fixture.record("/a")
    #expect(record.state == .failedPermanent)
    #expect(record.attempts.last?.failure.code == .digestMismatch)
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
  }

  @Test(arguments: [Resource.Framing.contentLength, .chunked], [-1, 0, 1])
  func `a file of another size than the request states fails, and says so`(
    framing: Resource.Framing,
    excess: Int64
  ) async throws {
    var resource = Resource(.generated(byteCount: Self.size + excess, seed: 77))
    resource.framing = framing
    fixture.server.route("/a", resource)
    try fixture.add("/a") { $0.byteCount = Self.size }
    #expect(try fixture.record("/a").expected == Self.size)
    try await run()
    guard excess != 0 else { return try expectComplete() }
    let record = try fixture.record("/a")
    #expect(record.state == .failedPermanent && record.received == 0)
    let failure = record.attempts.last?.failure
    #expect(failure?.code == .digestMismatch)
    #expect(
      failure?.message
        == "the server's file has \(Self.size + excess) bytes, but \(Self.size) are required"
    )
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
  }

  @Test func `removing a download removes its digests`() async throws {
    fixture.server.route("/a", Resource(Self.body))
    let record = try fixture.add("/a")
    try await run()
    #expect(try digests() != nil)
    _ = try await fixture.store.remove(.matching([record.url]), withFile: true)
    try await run()
    #expect(try tableCount() == 0)
  }
}
