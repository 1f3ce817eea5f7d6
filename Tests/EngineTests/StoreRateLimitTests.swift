import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import SystemInterface
import Testing

/// The rate limit of a store, which its engines follow.
@Suite(.timeLimit(.minutes(10)))
struct StoreRateLimitTests {
  /// A transport that notes the limits that it is given.
  private final class NotingTransport: Transport {
    let base = TransportUnderTest.make(idleTimeout: .seconds(300))
    // Held to append and to read.
    private let given = Mutex<[Int64?]>([])

    var limits: [Int64?] { given.withLock { $0 } }

    func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
      base.start(request, sink: sink)
    }
    func cancel(_ task: TaskID) { base.cancel(task) }
    func liveTasks() async -> [TaskSnapshot] { await base.liveTasks() }
    func follow(rateLimit limit: Int64?) {
      given.withLock { $0.append(limit) }
      base.follow(rateLimit: limit)
    }
  }

  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @Test func `engines follow the limit that another process sets`() async throws {
    let other = try RecordStore(at: fixture.store.path)
    let transport = NotingTransport()
    let engine = try DownloadEngine(store: fixture.store, transport: transport)
    #expect(transport.limits == [nil])
    let run = Task { try await engine.run(until: .stopped) }
    try other.setRateLimit(5_000)
    try await waitUntil("the limit") { transport.limits == [nil, 5_000] }
    // Other commits do not repeat it.
    try fixture.add("/none") { $0.isPaused = true }
    try other.setRateLimit(nil)
    try await waitUntil("no limit") { transport.limits.count > 2 }
    #expect(transport.limits == [nil, 5_000, nil])
    try other.setRateLimit(7_000)
    try await waitUntil("another limit") { transport.limits.count > 3 }
    engine.stop()
    _ = try await run.value
    let next = NotingTransport()
    _ = try DownloadEngine(store: fixture.store, transport: next)
    #expect(next.limits == [7_000])
  }

  @Test(arguments: [1, 3])
  func `a download that the limit would slow down for hours ends when it is removed`(
    connections: Int
  ) async throws {
    let body = Body.generated(byteCount: 8_000_000, seed: 3)
    fixture.server.route("/a", Resource(body))
    try fixture.add("/a")
    try fixture.store.setRateLimit(1_000)
    let transport = NotingTransport()
    var options = EngineOptions()
    options.split = SplitOptions(maximumConnections: connections, minimumLength: 100_000)
    let engine = try DownloadEngine(store: fixture.store, transport: transport, options: options)
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the first bytes") {
      await engine.currentProgress().first.map { $0.received > 0 } ?? false
    }
    #expect(try fixture.record("/a").state == .running)
    try fixture.store.setRateLimit(nil)
    #expect(try await run.value.completed == 1)
    #expect(body.matches(file: fixture.file("a")))
  }
}
