import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

/// Digests computed while the bytes stream, over any number of attempts.
@Suite(.timeLimit(.minutes(10)))
struct ChecksumTests {
  private func digest(of body: Body, _ algorithm: Digest.Algorithm) -> Digest {
    var hasher = DigestHasher(algorithm)
    hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
    return hasher.digest
  }

  @Test(.requirements("FK36"), arguments: Digest.Algorithm.allCases)
  func `a digest of each algorithm is verified and recorded`(
    algorithm: Digest.Algorithm
  ) async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 3_000_000, seed: 1)
    fixture.server.route("/a", Resource(body))
    let expected = digest(of: body, algorithm)
    try fixture.add("/a") { $0.digest = expected }
    try await fixture.run()
    #expect(try fixture.record("/a").verifiedDigest == expected.text)
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test(arguments: Digest.Algorithm.allCases)
  func `a digest continues over failed attempts`(algorithm: Digest.Algorithm) async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 9_000_000, seed: 2)
    fixture.server.route("/a", Resource(body, faults: .resetEvery(bytes: 2_500_000)))
    let expected = digest(of: body, algorithm)
    try fixture.add("/a") { $0.digest = expected }
    // A client that was not running at the reset may have lost all bytes of the connection.
    try await fixture.run { $0.retry.maximumAttempts = 1_000 }
    #expect(fixture.server.requests.count > 1)
    #expect(try fixture.record("/a").verifiedDigest == expected.text)
  }

  @Test(arguments: ["Repr-Digest", "Digest"])
  func `a digest that the server states is verified and recorded`(name: String) async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 3_000_000, seed: 5)
    let expected = digest(of: body, .sha256)
    var resource = Resource(body)
    resource.fields = [Self.field(name, expected)]
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try await fixture.run()
    let record = try fixture.record("/a")
    #expect(record.verifiedDigest == expected.text && record.expectedDigest == nil)
  }

  @Test(arguments: [1, 4])
  func `a file that differs from the stated digest is not accepted`(
    connections: Int
  ) async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 3_000_000, seed: 6)
    var resource = Resource(body)
    resource.fields = [
      Self.field("Repr-Digest", digest(of: .generated(byteCount: 1, seed: 1), .sha512))
    ]
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try await fixture.run { options in
      options.retry = RetryPolicy(maximumAttempts: 2, base: .milliseconds(1), cap: .seconds(1))
      options.split = SplitOptions(maximumConnections: connections, minimumLength: 100_000)
    }
    let record = try fixture.record("/a")
    #expect(record.attempts.last?.failure.code == .digestMismatch)
    #expect(record.state != .completed && record.received == 0)
  }

  @Test func `a stated digest is computed from the file if the transfer continues`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 3_000_000, seed: 7)
    let expected = digest(of: body, .sha512)
    var resource = Resource(body, faults: .closeAfter(bytes: 1_000_000))
    resource.fields = [Self.field("Repr-Digest", expected)]
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    try await fixture.run()
    #expect(fixture.server.requests.count == 2)
    #expect(try fixture.record("/a").verifiedDigest == expected.text)
  }

  /// Returns a response field with a digest.
  private static func field(_ name: String, _ digest: Digest) -> Field {
    let digits = Array(digest.hexadecimal)
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
    let algorithm = digest.algorithm == .sha256 ? "sha-256" : "sha-512"
    let value = Data(bytes).base64EncodedString()
    return Field(name, name == "Digest" ? "\(algorithm)=\(value)" : "\(algorithm)=:\(value):")
  }

  @Test func `a digest continues over a stop and a new engine`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 3_000_000, seed: 3)
    fixture.server.route("/a", Resource(body, faults: .stallAfter(bytes: 1_000_000)))
    let expected = digest(of: body, .sha512)
    try fixture.add("/a") { $0.digest = expected }
    let engine = try fixture.engine()
    let run = Task { try await engine.run(until: .stopped) }
    while await engine.currentProgress().first.map({ $0.received < 500_000 }) ?? true {
      try await Task.sleep(for: .milliseconds(1))
    }
    engine.stop()
    _ = try await run.value
    fixture.server.route("/a", Resource(body))
    try await fixture.run()
    #expect(fixture.ranges("/a").compactMap { $0 }.count == 1)
    #expect(try fixture.record("/a").verifiedDigest == expected.text)
  }

  @Test func `the digest of an entity that changed between attempts is that of the new entity`()
    async throws
  {
    let fixture = try EngineFixture()
    let old = Body.generated(byteCount: 3_000_000, seed: 4)
    let new = Body.generated(byteCount: 2_000_000, seed: 5)
    fixture.server.route("/a", Resource(old, faults: .stallAfter(bytes: 1_000_000)))
    let expected = digest(of: new, .sha256)
    try fixture.add("/a") { $0.digest = expected }
    let engine = try fixture.engine()
    let run = Task { try await engine.run(until: .stopped) }
    while await engine.currentProgress().first.map({ $0.received < 1_000_000 }) ?? true {
      try await Task.sleep(for: .milliseconds(1))
    }
    engine.stop()
    _ = try await run.value
    fixture.server.route("/a", Resource(new, etag: "\"2\""))
    try await fixture.run()
    #expect(try fixture.record("/a").verifiedDigest == expected.text)
    #expect(new.matches(file: fixture.file("a")))
  }

  @Test func `a file whose earlier bytes were modified is downloaded again`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 3_000_000, seed: 6)
    fixture.server.route("/a", Resource(body, faults: .stallAfter(bytes: 2_000_000)))
    let expected = digest(of: body, .sha1)
    let record = try fixture.add("/a") { $0.digest = expected }
    let engine = try fixture.engine { $0.pieceLength = 1 << 30 }
    let run = Task { try await engine.run(until: .stopped) }
    while await engine.currentProgress().first.map({ $0.received < 2_000_000 }) ?? true {
      try await Task.sleep(for: .milliseconds(1))
    }
    engine.stop()
    _ = try await run.value
    let path = try fixture.store.roots().layout(of: record).partialPath
    let file = try FileHandle(forUpdating: URL(filePath: path))
    try file.seek(toOffset: 1000)
    try file.write(contentsOf: Data("broken".utf8))
    try file.close()
    fixture.server.route("/a", Resource(body))
    // A file of one piece: nothing shows which bytes to keep, and the server is not at fault.
    let (summary, _) = try await fixture.run { $0.pieceLength = 1 << 30 }
    #expect(summary.completed == 1)
    let completed = try fixture.record("/a")
    #expect(completed.attempts.last?.failure.code == .entityChanged)
    #expect(completed.verifiedDigest == expected.text)
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test func `a required digest is that of the file on disk, and not of the bytes that arrived`()
    async throws
  {
    let fixture = try EngineFixture()
    let transport = ManualTransport()
    let bytes = [UInt8](repeating: 7, count: 1000)
    var hasher = DigestHasher(.md5)
    hasher.update(bytes.span)
    var request = DownloadRequest(url: "https://example.com/a")
    request.digest = hasher.digest
    let record = try fixture.store.addNow([request])[0].record
    let path = try fixture.store.roots().layout(of: record).partialPath
    let engine = try DownloadEngine(store: fixture.store, transport: transport)
    let run = Task { try await engine.run(until: .idle) }
    while transport.started.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    transport.started[0].receive(bytes, of: 1000)
    try Data(repeating: 8, count: 1000).write(to: URL(filePath: path))
    try FileManager.default.setAttributes([.modificationDate: Date() + 60], ofItemAtPath: path)
    transport.started[0].sink.finish(.completed)
    // Nothing tells which bytes to keep.
    while transport.started.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(transport.started[1].request.offset == 0)
    transport.started[1].receive(bytes, of: 1000)
    transport.started[1].sink.finish(.completed)
    #expect(try await run.value.completed == 1)
    #expect(try fixture.store.record(matching: record.url).verifiedDigest == hasher.digest.text)
    #expect(try Data(contentsOf: URL(filePath: fixture.file("a"))) == Data(bytes))
  }

  @Test func `a digest that is added during the download is verified`() async throws {
    let fixture = try EngineFixture()
    let transport = ManualTransport()
    var request = DownloadRequest(url: "https://example.com/a")
    try fixture.store.addNow([request])
    let engine = try DownloadEngine(store: fixture.store, transport: transport)
    let run = Task { try await engine.run(until: .idle) }
    while transport.started.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    transport.started[0].receive(Array("abc".utf8), of: 3)
    request.digest = try Digest("md5:900150983cd24fb0d6963f7d28e17f72")
    try fixture.store.addNow([request])
    transport.started[0].sink.finish(.completed)
    _ = try await run.value
    let record = try fixture.store.record(matching: request.url)
    #expect(record.verifiedDigest == request.digest?.text)
  }
}
