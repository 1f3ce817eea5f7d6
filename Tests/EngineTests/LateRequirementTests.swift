import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

/// Digests and sizes that are required while a download runs.
@Suite(.timeLimit(.minutes(10)))
struct LateRequirementTests {
  private let fixture: ManualFixture
  private var transport: ManualTransport { fixture.transport }

  init() throws {
    fixture = try ManualFixture()
  }

  private static func digest(_ bytes: [UInt8], _ algorithm: Digest.Algorithm) -> Digest {
    var hasher = DigestHasher(algorithm)
    hasher.update(bytes.span)
    return hasher.digest
  }

  private func add(_ change: (inout DownloadRequest) -> Void) throws {
    var request = DownloadRequest(url: fixture.url("a"))
    change(&request)
    try fixture.store.addNow([request])
  }

  @Test(arguments: [true, false])
  func `a digest that is required while the file is read decides, and the bytes stay`(
    isFirstCorrect: Bool
  ) async throws {
    let bytes: [UInt8] = [1, 2, 3]
    let required = Self.digest(bytes, .sha512)
    try add { $0.digest = Self.digest(isFirstCorrect ? bytes : [4], .sha256) }
    let works = Mutex<[@Sendable () -> Void]>([])
    var environment = EngineEnvironment.live
    environment.startLongWork = { work in works.withLock { $0.append(work) } }
    var options = EngineOptions()
    options.removeTimeLimits()
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: environment
    )
    try await fixture.running(engine) {
      try await fixture.started(1)
      transport.started[0].complete()
      try await waitUntil("the first digest") { works.withLock { $0.count } == 1 }
      try add { $0.digest = required }
      EngineEnvironment.live.startLongWork(works.withLock { $0.removeFirst() })
      try await waitUntil("the other digest") { works.withLock { $0.count } == 1 }
      EngineEnvironment.live.startLongWork(works.withLock { $0.removeFirst() })
      try await fixture.reached(.completed, "a")
    }
    let record = try fixture.record("a")
    #expect(record.verifiedDigest == required.text && record.attempts.isEmpty)
    #expect(transport.started.count == 1)
  }

  @Test func `a size that is required while the bytes arrive is compared with the file`()
    async throws
  {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      try add { $0.byteCount = 5 }
      transport.started[0].complete()
      try await fixture.started(2)
      let record = try fixture.record("a")
      #expect(record.received == 0 && record.expected == 5)
      let head = ResponseHead(
        status: 200,
        fields: [HeaderField(name: "Content-Length", value: "3")]
      )
      #expect(transport.started[1].sink.receive(head) == .cancel)
      transport.started[1].sink.finish(.completed)
      try await waitUntil("the failure") { try !fixture.record("a").attempts.isEmpty }
    }
    let failure = try #require(try fixture.record("a").attempts.last?.failure)
    #expect(failure.code == .digestMismatch, "\(failure)")
  }

  @Test func `a file that has the size which is required while its bytes arrive is complete`()
    async throws
  {
    try fixture.add("a")
    var options = EngineOptions()
    options.removeTimeLimits()
    // The file is complete before a checkpoint.
    options.checkpointInterval = .seconds(600)
    let engine = try DownloadEngine(store: fixture.store, transport: transport, options: options)
    try await fixture.running(engine) {
      try await fixture.started(1)
      try add { $0.byteCount = 3 }
      transport.started[0].complete()
      try await fixture.reached(.completed, "a")
    }
    #expect(transport.started.count == 1)
  }

  @Test func `a transfer that does not know the required size ends at its next checkpoint`()
    async throws
  {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      try add { $0.byteCount = 5 }
      transport.started[0].receive([1, 2, 3], of: 6)
      try await waitUntil("the end of the transfer") { !transport.cancelled.isEmpty }
      transport.started[0].sink.finish(.cancelled)
      try await fixture.started(2)
      let record = try fixture.record("a")
      #expect(record.received == 0 && record.expected == 5)
      #expect(transport.started[1].request.offset == 0)
    }
  }
}
