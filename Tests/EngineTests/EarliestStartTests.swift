import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import SystemInterface
import TestSupport
import Testing

/// Downloads with an earliest start or a rate limit of their own.
@Suite(.timeLimit(.minutes(3)))
struct EarliestStartTests {
  /// A system clock that the test sets.
  private final class SystemClock: Sendable {
    private let state = Mutex(Date(timeIntervalSince1970: 1_700_000_000))

    var date: Date { state.withLock { $0 } }

    func advance(by seconds: TimeInterval) {
      state.withLock { $0.addTimeInterval(seconds) }
    }
  }

  private let fixture: ManualFixture
  private let clock = SystemClock()

  init() throws {
    fixture = try ManualFixture()
  }

  private func engine() throws -> DownloadEngine {
    try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: EngineOptions(),
      now: { [clock] in clock.date },
      environment: .live
    )
  }

  private func add(_ name: String, after seconds: TimeInterval) throws {
    var request = DownloadRequest(url: fixture.url(name))
    request.notBefore = clock.date.addingTimeInterval(seconds)
    try fixture.store.addNow([request])
  }

  @Test func `a download does not start before its time, and delays no other`() async throws {
    try add("late", after: 3600)
    try add("past", after: -1)
    try fixture.add("now")
    try await fixture.running(try engine()) {
      try await fixture.started(2)
      try await fixture.settle()
      #expect(
        Set(fixture.transport.started.map(\.request.url)) == [
          fixture.url("past"), fixture.url("now"),
        ]
      )
      #expect(try fixture.record("late").state == .waiting)
    }
  }

  @Test func `a download whose time comes starts, also if the clock was set`() async throws {
    try add("a", after: 0.3)
    try await fixture.running(try engine()) {
      // The queue offers the download after 0.3 seconds, and the clock does not allow it yet.
      try await fixture.settle()
      clock.advance(by: 1)
      try await fixture.started(1)
    }
  }

  @Test func `a start immediately overrides the time, and so does removing it`() async throws {
    try add("a", after: 3600)
    try add("b", after: 3600)
    try await fixture.running(try engine()) {
      try await fixture.settle()
      try await fixture.store.resume(.matching(fixture.url("a")))
      try await fixture.settle()
      #expect(fixture.transport.started.isEmpty)
      try await fixture.store.resume(.matching(fixture.url("a")), immediately: true)
      try await fixture.started(1)
      var update = RecordUpdate()
      update.notBefore = .some(nil)
      try await fixture.store.update(matching: fixture.url("b"), with: update)
      try await fixture.started(2)
    }
    #expect(try fixture.record("a").notBefore == nil && fixture.record("b").notBefore == nil)
  }
}

/// Rate limits of single downloads.
@Suite(.timeLimit(.minutes(3)))
struct DownloadRateTests {
  @Test func `a limit slows its download, and removing it takes effect immediately`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 8_000_000, seed: 8)
    fixture.server.route("/a", Resource(body))
    try fixture.add("/a") { $0.bytesPerSecond = 200_000 }
    let engine = try fixture.engine()
    let start = ContinuousClock.now
    async let summary = engine.run(until: .idle)
    try await waitUntil("bytes") { try fixture.record("/a").received > 0 }
    #expect(try fixture.record("/a").received < body.byteCount / 2)
    var update = RecordUpdate()
    update.bytesPerSecond = .some(nil)
    try await fixture.store.update(matching: fixture.server.url("/a"), with: update)
    #expect(try await summary.completed == 1)
    #expect(start.duration(to: .now) < .seconds(30), "40 seconds with the limit")
    #expect(body.matches(file: fixture.file("a")))
  }

  @Test func `a limited download stops promptly`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Body.generated(byteCount: 8_000_000, seed: 8)))
    try fixture.add("/a") { $0.bytesPerSecond = 10 }
    let engine = try fixture.engine()
    async let summary = engine.run(until: .idle)
    try await waitUntil("bytes") { await engine.currentProgress().contains { $0.received > 0 } }
    let start = ContinuousClock.now
    engine.stop()
    _ = try await summary
    #expect(start.duration(to: .now) < .seconds(9), "the next byte is due in minutes")
  }
}
