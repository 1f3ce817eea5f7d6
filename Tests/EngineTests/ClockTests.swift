import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

/// Retries when the system clock is set.
@Suite(.timeLimit(.minutes(10)))
struct ClockTests {
  /// A system clock and a monotonic clock, both set by the test.
  private final class Clocks: Sendable {
    private let start = ContinuousClock.now
    private let state = Mutex((elapsed: Duration.zero, offset: TimeInterval.zero))

    var instant: ContinuousClock.Instant { start.advanced(by: state.withLock { $0.elapsed }) }

    var date: Date {
      let seconds = state.withLock { $0.elapsed / .seconds(1) + $0.offset }
      return Date(timeIntervalSince1970: 1_700_000_000 + seconds)
    }

    func advance(by duration: Duration) {
      state.withLock { $0.elapsed += duration }
    }

    func set(by seconds: TimeInterval) {
      state.withLock { $0.offset += seconds }
    }
  }

  private let fixture: ManualFixture
  private let clocks = Clocks()

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  /// Creates an engine whose first retry waits 50 seconds.
  private func engine() throws -> DownloadEngine {
    var options = EngineOptions()
    options.retry = RetryPolicy(base: .seconds(100), cap: .seconds(100))
    var environment = EngineEnvironment.live
    environment.instant = { [clocks] in clocks.instant }
    environment.random = { 0.5 }
    return try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options,
      now: { [clocks] in clocks.date },
      environment: environment
    )
  }

  @Test func `a crash suspect runs alone until its probation ends`() async throws {
    try fixture.add("b")
    try fixture.change("a") { $0.unresolvedStarts = 1 }
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      try await fixture.settle()
      clocks.advance(by: .seconds(4))
      try await fixture.settle()
      #expect(fixture.transport.started.count == 1)
      clocks.advance(by: .seconds(2))
      try await fixture.started(2)
      #expect(fixture.transport.started[1].request.url == fixture.url("b"))
    }
  }

  @Test(arguments: [-86_400, 86_400] as [TimeInterval])
  func `setting the clock by a day does not change the delay of a retry`(
    seconds: TimeInterval
  ) async throws {
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      fixture.transport.started[0].sink.finish(.failed(DownloadFailure(.timedOut, "")))
      try await fixture.reached(.failedRetryable, "a")
      clocks.set(by: seconds)
      // The engine reads the record again and must keep the deadline.
      var update = RecordUpdate()
      update.priority = 3
      try fixture.store.updateNow(matching: fixture.url("a"), with: update)
      try await fixture.settle()
      clocks.advance(by: .seconds(49))
      try await fixture.settle()
      #expect(fixture.transport.started.count == 1)
      clocks.advance(by: .seconds(2))
      try await fixture.started(2)
    }
  }

  @Test func `a retry that is due stays due when the clock is set back`() async throws {
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      fixture.transport.started[0].sink.finish(.failed(DownloadFailure(.timedOut, "")))
      try await fixture.reached(.failedRetryable, "a")
      // The engine has queued the retry.
      try await fixture.settle()
      // The change is smaller than the longest delay, so the stored date alone does not reveal it.
      clocks.set(by: -40)
      clocks.advance(by: .seconds(51))
      try await fixture.started(2)
    }
  }

  @Test(arguments: [-86_400, -40] as [TimeInterval])
  func `an engine started after the clock was set back waits no longer than the cap`(
    seconds: TimeInterval
  ) async throws {
    let date = clocks.date.addingTimeInterval(50)
    try fixture.change("a") {
      $0.state = .failedRetryable
      $0.failedAttempts = 1
      $0.nextRetryAt = date
    }
    clocks.set(by: seconds)
    try await fixture.running(try engine()) {
      clocks.advance(by: .seconds(101))
      try await fixture.started(1)
    }
  }
}
