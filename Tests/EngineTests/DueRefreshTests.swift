import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import SystemInterface
import Testing

/// Refreshes whose time comes.
@Suite(.timeLimit(.minutes(10)))
struct DueRefreshTests {
  /// A system clock that the test sets.
  private final class SystemClock: Sendable {
    private let state = Mutex(Date(timeIntervalSince1970: 1_800_000_000))

    var date: Date { state.withLock { $0 } }

    func advance(by seconds: TimeInterval) {
      state.withLock { $0.addTimeInterval(seconds) }
    }
  }

  private let fixture: EngineFixture
  private let clock = SystemClock()
  private let body = Body.generated(byteCount: 30_000, seed: 81)

  init() throws {
    fixture = try EngineFixture()
  }

  private func engine() throws -> DownloadEngine {
    var options = EngineOptions()
    options.removeTimeLimits()
    options.retry = RetryPolicy(maximumAttempts: 1)
    return try DownloadEngine(
      store: fixture.store,
      transport: TransportUnderTest.make(),
      options: options,
      now: { [clock] in clock.date },
      environment: .live
    )
  }

  /// Downloads a file that is refreshed every minute.
  private func complete(_ path: String = "/a") async throws {
    fixture.server.route(path, Resource(body))
    try fixture.add(path) { $0.refreshEvery = .seconds(60) }
    _ = try await engine().run(until: .idle)
  }

  @Test(arguments: [366, 3_660, 1] as [TimeInterval])
  func `a file that was completed by a clock years ahead is refreshed`(
    days: TimeInterval
  ) async throws {
    try await complete()
    clock.advance(by: -days * 86_400)
    _ = try await engine().run(until: .idle)
    // A shorter difference may be a year's period.
    #expect(requestCount() == (days > 365 ? 2 : 1))
    let now = clock.date
    #expect(try fixture.record("/a").nextRefreshAt == (days > 365 ? now + 60 : now + 86_400 + 60))
  }

  private func requestCount(_ path: String = "/a") -> Int {
    fixture.server.requests.count { $0.path == path }
  }

  @Test func `a service refreshes a file when its time comes, and again after the next period`()
    async throws
  {
    try await complete()
    let engine = try engine()
    let run = Task { try await engine.run(until: .stopped) }
    for round in 1...2 {
      #expect(requestCount() == round)
      clock.advance(by: 61)
      let now = clock.date
      try await waitUntil("refresh \(round)") { try fixture.record("/a").checkedAt == now }
      #expect(try fixture.record("/a").nextRefreshAt == now + 60)
    }
    engine.stop()
    #expect(try await run.value == RunSummary(unchanged: 2))
    #expect(fixture.server.requests.last?["If-None-Match"] == "\"1\"")
    #expect(requestCount() == 3)
  }

  @Test func `a run until idle does what is due, and does not wait for what is not`() async throws {
    try await complete("/a")
    clock.advance(by: 50)
    try await complete("/b")
    clock.advance(by: 20)
    #expect(try await engine().run(until: .idle) == RunSummary(unchanged: 1))
    #expect(requestCount("/a") == 2 && requestCount("/b") == 1)
    #expect(try fixture.record("/b").nextRefreshAt == clock.date + 40)
    #expect(try await engine().run(until: .idle) == RunSummary())
  }

  @Test func `a failed refresh keeps the file, and is repeated after a period`() async throws {
    try await complete()
    fixture.server.route("/a", Resource(body, faults: .status(404), then: .repeatLast))
    let engine = try engine()
    let run = Task { try await engine.run(until: .stopped) }
    for round in 1...2 {
      clock.advance(by: 61)
      let now = clock.date
      try await waitUntil("attempt \(round)") {
        let record = try fixture.record("/a")
        return record.state == .completed && record.nextRefreshAt == now + 60
      }
      #expect(try fixture.record("/a").refreshFailure?.code == .notFound)
      #expect(requestCount() == 1 + round)
    }
    engine.stop()
    _ = try await run.value
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test func `a period that is set later wakes a service`() async throws {
    fixture.server.route("/a", Resource(body))
    try fixture.add("/a")
    _ = try await engine().run(until: .idle)
    let engine = try engine()
    let run = Task { try await engine.run(until: .stopped) }
    clock.advance(by: 90)
    var update = RecordUpdate()
    update.refreshEvery = .seconds(60)
    try await fixture.store.update(matching: fixture.server.url("/a"), with: update)
    try await waitUntil("the refresh") { try fixture.record("/a").checkedAt != nil }
    engine.stop()
    _ = try await run.value
    #expect(requestCount() == 2)
  }

  @Test func `more refreshes than a page are all done`() async throws {
    let count = 300
    let small = Body.generated(byteCount: 10, seed: 82)
    for number in 0..<count {
      fixture.server.route("/f\(number)", Resource(small))
      try fixture.add("/f\(number)") { $0.refreshEvery = .seconds(60) }
    }
    #expect(try await engine().run(until: .idle).completed == count)
    clock.advance(by: 61)
    #expect(try await engine().run(until: .idle) == RunSummary(unchanged: count))
  }
}
