import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import TestSupport
import Testing

/// Downloads with an earliest start or a rate limit of their own.
@Suite(.timeLimit(.minutes(10)))
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

/// Rate limits of single downloads, with a transport that the test controls: URLSession has one
/// thread for all downloads of a process.
@Suite(.timeLimit(.minutes(10)))
struct DownloadRateTests {
  private let fixture: ManualFixture
  /// Whether the transport still delivers a body.
  private final class Delivery: Sendable {
    private let state = Mutex(true)

    var isRunning: Bool { state.withLock { $0 } }

    func end() {
      state.withLock { $0 = false }
    }
  }

  private let delivery = Delivery()

  init() throws {
    fixture = try ManualFixture()
    var request = DownloadRequest(url: fixture.url("a"))
    // At this rate the bytes below take a day.
    request.bytesPerSecond = 1
    try fixture.store.addNow([request])
  }

  /// Delivers bytes as a transport does, on a thread that may block.
  private func deliver() {
    let task = fixture.transport.started[0]
    Thread.detachNewThread { [delivery] in
      task.receive([UInt8](repeating: 7, count: 86_400), of: 100_000)
      delivery.end()
    }
  }

  @Test func `a limit delays the transport until it is removed`() async throws {
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      deliver()
      try await waitUntil("bytes") { try fixture.record("a").received > 0 }
      #expect(delivery.isRunning)
      var update = RecordUpdate()
      update.bytesPerSecond = .some(nil)
      try await fixture.store.update(matching: fixture.url("a"), with: update)
      try await waitUntil("the body") { !delivery.isRunning }
    }
    #expect(try fixture.record("a").received == 86_400)
  }

  @Test func `a stop does not wait for a limit`() async throws {
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      deliver()
      try await waitUntil("bytes") { try fixture.record("a").received > 0 }
    }
    try await waitUntil("the body") { !delivery.isRunning }
  }
}
