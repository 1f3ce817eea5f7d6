import DownloadStore
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import Testing

@testable import DownloadSync

/// A download that requires the digest of a finished file takes its bytes.
@Suite(.timeLimit(.minutes(10)))
struct EqualFileTests {
  private let fixture: EngineFixture
  private let body = Body.generated(byteCount: 3_500_000, seed: 81)

  init() throws {
    fixture = try EngineFixture()
    fixture.server.route("/a", Resource(body))
    fixture.server.route("/b", Resource(body))
  }

  private func digest(_ algorithm: Digest.Algorithm = .sha256) -> Digest {
    var hasher = DigestHasher(algorithm)
    hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
    return hasher.digest
  }

  /// Downloads the file `a`, which has the digest.
  private func complete(_ algorithm: Digest.Algorithm = .sha256) async throws {
    try fixture.add("/a") { $0.digest = digest(algorithm) }
    try await fixture.run()
    #expect(body.matches(file: fixture.file("a")))
  }

  /// Adds the file `b`, which requires the digest, and runs an engine.
  @discardableResult
  private func copy(
    _ algorithm: Digest.Algorithm = .sha256,
    _ change: (inout EngineOptions) -> Void = { $0.retry = RetryPolicy(maximumAttempts: 1) }
  ) async throws -> (summary: RunSummary, events: [DownloadEvent]) {
    try fixture.add("/b") { $0.digest = digest(algorithm) }
    return try await fixture.run(change)
  }

  private func requestCount(_ path: String) -> Int {
    fixture.server.requests.count { $0.target == path }
  }

  private func expectComplete(requestCount count: Int) throws {
    #expect(requestCount("/b") == count)
    #expect(body.matches(file: fixture.file("b")))
    let record = try fixture.record("/b")
    #expect(record.state == .completed && record.received == body.byteCount)
    #expect(record.verifiedDigest == record.expectedDigest && record.failedAttempts == 0)
    let files = try FileManager.default.contentsOfDirectory(atPath: fixture.file(""))
    #expect(Set(files).isSubset(of: ["a", "b"]))
  }

  /// Changes a byte of the finished file `a`, and keeps its size, inode and time.
  private func damage() throws {
    let path = fixture.file("a")
    let time = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
    let handle = try FileHandle(forUpdating: URL(filePath: path))
    try handle.seek(toOffset: 2_000_000)
    try handle.write(contentsOf: Data([~body.bytes(at: 2_000_000, count: 1)[0]]))
    try handle.close()
    var identity = try #require(FileIdentity(ofFileAt: path))
    try FileManager.default.setAttributes(
      [.modificationDate: try #require(time)],
      ofItemAtPath: path
    )
    identity = try #require(FileIdentity(ofFileAt: path))
    // A date of Foundation has no nanoseconds.
    let record = try fixture.record("/a")
    try fixture.store.objects.writeNow { tx in
      try tx.update(DownloadRecord.self, key: record.url) { $0.fileIdentity = identity }
    }
  }

  @Test(arguments: [Digest.Algorithm.sha256, .sha512])
  func `the bytes of a finished file with the required digest are copied`(
    algorithm: Digest.Algorithm
  ) async throws {
    try await complete(algorithm)
    let (summary, events) = try await copy(algorithm)
    #expect(summary == RunSummary(completed: 1, copied: 1))
    #expect(
      events.contains { event in
        if case .copying(let record, let path) = event {
          record.filename == "b" && path == fixture.file("a")
        } else {
          false
        }
      }
    )
    try expectComplete(requestCount: 0)
    // Two files: a change of one does not change the other.
    let (first, second) = (try fixture.record("/a"), try fixture.record("/b"))
    #expect(first.fileIdentity?.inode != second.fileIdentity?.inode)
    try Data("mine".utf8).write(to: URL(filePath: fixture.file("a")))
    #expect(body.matches(file: fixture.file("b")))
  }

  @Test(arguments: [Digest.Algorithm.md5, .sha1])
  func `a weak digest does not show that files are equal`(
    algorithm: Digest.Algorithm
  ) async throws {
    try await complete(algorithm)
    let (summary, _) = try await copy(algorithm)
    #expect(summary == RunSummary(completed: 1))
    try expectComplete(requestCount: 1)
  }

  @Test func `an engine may be told to download equal files`() async throws {
    try await complete()
    let (summary, _) = try await copy {
      $0.equalFiles = .download
      $0.split = SplitOptions(maximumConnections: 1)
    }
    #expect(summary == RunSummary(completed: 1))
    try expectComplete(requestCount: 1)
  }

  @Test(arguments: ["deleted", "changed", "replaced"])
  func `a finished file that another program has changed is not copied`(
    change: String
  ) async throws {
    try await complete()
    let path = fixture.file("a")
    switch change {
    case "deleted": try FileManager.default.removeItem(atPath: path)
    case "changed":
      let handle = try FileHandle(forUpdating: URL(filePath: path))
      try handle.write(contentsOf: Data("x".utf8))
      try handle.close()
    default:
      try Data(body.bytes(at: 0, count: Int(body.byteCount))).write(to: URL(filePath: path))
    }
    let (summary, events) = try await copy()
    #expect(summary == RunSummary(completed: 1))
    #expect(!events.contains { if case .copying = $0 { true } else { false } })
    #expect(requestCount("/b") > 0 && body.matches(file: fixture.file("b")))
  }

  @Test func `a copy with another digest is discarded, and the bytes are requested`() async throws {
    try await complete()
    try damage()
    let (summary, events) = try await copy()
    #expect(summary == RunSummary(completed: 1))
    #expect(events.count { if case .copying = $0 { true } else { false } } == 1)
    #expect(events.contains { if case .rolledBack = $0 { true } else { false } })
    #expect(requestCount("/b") > 0 && body.matches(file: fixture.file("b")))
    let record = try fixture.record("/b")
    #expect(record.attempts.last?.failure.message.contains("the copied bytes are wrong") == true)
  }

  @Test func `a damaged file is found before its first byte is copied, if that is asked for`()
    async throws
  {
    try await complete()
    try damage()
    let (summary, events) = try await copy {
      $0.retry = RetryPolicy(maximumAttempts: 1)
      $0.checksEqualFiles = true
    }
    #expect(summary == RunSummary(completed: 1))
    #expect(
      !events.contains { if case .rolledBack(_, let count, _) = $0 { count > 0 } else { false } }
    )
    #expect(requestCount("/b") > 0 && body.matches(file: fixture.file("b")))
    let record = try fixture.record("/b")
    let message = try #require(record.attempts.last?.failure.message)
    #expect(message.contains("do not have the required digest any more"), "\(message)")
  }

  @Test func `a file whose digest was compared before is copied`() async throws {
    try await complete()
    let (summary, _) = try await copy { $0.checksEqualFiles = true }
    #expect(summary == RunSummary(completed: 1, copied: 1))
    try expectComplete(requestCount: 0)
  }

  @Test func `a file that is changed while it is copied is of no use`() async throws {
    try await complete()
    let path = fixture.file("a")
    let hasChanged = Mutex(false)
    let hook = EffectHook { effect in
      guard case .write(_, let offset, _) = effect, offset == 1 << 20,
        hasChanged.withLock({ hasChanged in
          defer { hasChanged = true }
          return !hasChanged
        })
      else { return nil }
      try? FileHandle(forUpdating: URL(filePath: path)).write(contentsOf: Data("x".utf8))
      return nil
    }
    try fixture.add("/b") { $0.digest = digest() }
    let engine = try fixture.engine(environment: .live(hook)) {
      $0.retry = RetryPolicy(maximumAttempts: 1)
    }
    #expect(try await engine.run(until: .idle) == RunSummary(completed: 1))
    #expect(requestCount("/b") > 0 && body.matches(file: fixture.file("b")))
    let record = try fixture.record("/b")
    #expect(record.attempts.last?.failure.message.contains("the file has changed") == true)
    #expect(record.failedAttempts == 0)
  }

  @Test func `a file that is deleted while it is copied is copied to its end`() async throws {
    try await complete()
    let path = fixture.file("a")
    let hook = EffectHook { effect in
      if case .write(_, 1_048_576, _) = effect { unlink(path) }
      return nil
    }
    try fixture.add("/b") { $0.digest = digest() }
    let summary = try await fixture.engine(environment: .live(hook)).run(until: .idle)
    #expect(summary == RunSummary(completed: 1, copied: 1))
    try expectComplete(requestCount: 0)
  }

  @Test func `the rest of a partial file is copied`() async throws {
    try await complete()
    try fixture.interrupted("/b", body)
    try fixture.store.objects.writeNow { [digest = digest(), url = fixture.server.url("/b")] tx in
      try tx.update(DownloadRecord.self, key: url) { $0.expectedDigest = digest.text }
    }
    let (summary, events) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, copied: 1))
    #expect(events.contains { if case .started(_, 1_000_000) = $0 { true } else { false } })
    try expectComplete(requestCount: 0)
  }

  @Test func `bytes on disk that do not belong to the copy are copied, too`() async throws {
    try await complete()
    try fixture.interrupted("/b", Body.generated(byteCount: body.byteCount, seed: 82))
    try fixture.store.objects.writeNow { [digest = digest(), url = fixture.server.url("/b")] tx in
      try tx.update(DownloadRecord.self, key: url) { $0.expectedDigest = digest.text }
    }
    let (summary, _) = try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 1) }
    #expect(summary == RunSummary(completed: 1, copied: 1))
    try expectComplete(requestCount: 0)
  }

  @Test func `a full disk during a copy leaves the download waiting, and it continues`()
    async throws
  {
    try await complete()
    let isFull = Mutex(true)
    let hook = EffectHook { effect in
      guard case .write(_, let offset, _) = effect, offset >= 1 << 20 else { return nil }
      return isFull.withLock { $0 } ? ENOSPC : nil
    }
    try fixture.add("/b") { $0.digest = digest() }
    var environment = EngineEnvironment.live(hook)
    environment.availableBytes = { _ in isFull.withLock { $0 } ? 0 : 1 << 40 }
    let engine = try fixture.engine(environment: environment) {
      $0.diskSpaceInterval = .milliseconds(1)
    }
    _ = try? await engine.run(until: .idle)
    #expect(try fixture.record("/b").state == .waiting)
    isFull.withLock { $0 = false }
    let again = try fixture.engine()
    #expect(try await again.run(until: .idle) == RunSummary(completed: 1, copied: 1))
    try expectComplete(requestCount: 0)
  }

  @Test func `a stop during a copy keeps the copied bytes`() async throws {
    try await complete()
    try fixture.add("/b") { $0.digest = digest() }
    let stopped = Mutex<(@Sendable () -> Void)?>(nil)
    let hook = EffectHook { effect in
      if case .write(_, 1_048_576, _) = effect { stopped.withLock { $0 }?() }
      return nil
    }
    let engine = try fixture.engine(environment: .live(hook))
    stopped.withLock { $0 = { engine.stop() } }
    _ = try await engine.run(until: .idle)
    stopped.withLock { $0 = nil }
    let record = try fixture.record("/b")
    // On a slow machine the copy may have ended before the engine noticed the request.
    #expect(record.state == .completed || (record.state == .waiting && record.received > 0))
    try await fixture.run()
    try expectComplete(requestCount: 0)
  }

  @Test func `equal files that start at the same time are requested once`() async throws {
    for name in ["/a", "/b", "/c", "/d"] {
      fixture.server.route(name, Resource(body))
      try fixture.add(name) { $0.digest = digest() }
    }
    let (summary, _) = try await fixture.run { $0.split = SplitOptions(maximumConnections: 1) }
    #expect(summary == RunSummary(completed: 4, copied: 3))
    #expect(fixture.server.requests.count == 1)
    for name in ["a", "b", "c", "d"] { #expect(body.matches(file: fixture.file(name))) }
  }

  @Test func `a download does not wait for an equal one that fails`() async throws {
    fixture.server.route("/a", Resource(body, faults: .status(404), then: .repeatLast))
    try fixture.add("/a") { $0.digest = digest() }
    try fixture.add("/b") { $0.digest = digest() }
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 1))
    #expect(body.matches(file: fixture.file("b")))
  }

  @Test func `a download does not wait for an equal one that is paused`() async throws {
    fixture.server.route("/a", Resource(body, faults: .stallAfter(bytes: 1_000)))
    try fixture.add("/a") { $0.digest = digest() }
    try fixture.add("/b") { $0.digest = digest() }
    let engine = try fixture.engine()
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the first bytes") {
      await engine.currentProgress().first.map { $0.received > 0 } ?? false
    }
    #expect(requestCount("/b") == 0)
    try await fixture.store.pause(.matching(fixture.server.url("/a")))
    #expect(try await run.value == RunSummary(completed: 1))
    #expect(body.matches(file: fixture.file("b")))
  }

  @Test func `removing a download with its file leaves the copy`() async throws {
    try await complete()
    try await copy()
    try await fixture.store.remove(.matching(fixture.server.url("/a")), withFile: true)
    try await fixture.run()
    #expect(!FileManager.default.fileExists(atPath: fixture.file("a")))
    #expect(body.matches(file: fixture.file("b")))
  }

  @Test func `a copy with a damaged piece is discarded, and costs no attempt`() async throws {
    try await complete()
    try damage()
    let length: Int64 = 1_000_000
    let digests = stride(from: 0, to: body.byteCount, by: Int(length)).map { start in
      var hasher = DigestHasher(.sha256)
      let count = Int(min(length, body.byteCount - start))
      hasher.update(body.bytes(at: start, count: count).span)
      return hasher.digest
    }
    try fixture.add("/b") { [size = body.byteCount] request in
      request.digest = digest()
      request.pieces = RequiredPieces(byteCount: size, pieceLength: length, digests: digests)
    }
    let (summary, _) = try await fixture.run { $0.retry = RetryPolicy(maximumAttempts: 1) }
    #expect(summary == RunSummary(completed: 1))
    #expect(requestCount("/b") > 0 && body.matches(file: fixture.file("b")))
  }
}
