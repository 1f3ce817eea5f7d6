import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import Testing

/// Retries when the system clock is set.
@Suite(.timeLimit(.minutes(10)))
struct ClockTests {
  private let fixture: ManualFixture
  private let clocks = ManualClocks()

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  /// Creates an engine whose first retry waits 50 seconds.
  private func engine() throws -> DownloadEngine {
    var options = EngineOptions()
    options.retry = RetryPolicy(base: .seconds(100), cap: .seconds(100))
    var environment = clocks.environment
    environment.random = { 0.5 }
    return try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options,
      now: { [clocks] in clocks.date },
      environment: environment
    )
  }

  @Test func `a retry whose date another program changes waits until the new date`() async throws {
    let date = clocks.date
    try fixture.change("a") {
      $0.state = .failedRetryable
      $0.nextRetryAt = date + 50
    }
    try await fixture.running(try engine()) {
      try await fixture.settle()
      #expect(fixture.transport.started.isEmpty)
      try fixture.change("a") { $0.nextRetryAt = date + 10 }
      try await fixture.settle()
      clocks.advance(by: .seconds(10))
      try await fixture.started(1)
    }
  }

  @Test func `a retry in memory whose date another program changes waits until the new date`()
    async throws
  {
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      let date = clocks.date
      let failure = DownloadFailure(.connectionLost, "gone")
      fixture.transport.started[0].sink.finish(.failed(failure))
      try await fixture.reached(.failedRetryable, "a")
      #expect(try fixture.record("a").nextRetryAt == date + 50)
      try fixture.change("a") { $0.nextRetryAt = date + 10 }
      try await fixture.settle()
      clocks.advance(by: .seconds(10))
      try await fixture.started(2)
    }
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

  @Test func `a suspect of two crashes runs alone: the others wait, and then continue`()
    async throws
  {
    try fixture.add("b")
    try await fixture.running(try engine()) {
      try await fixture.started(2)
      let tasks = fixture.transport.started
      let other = tasks[0].request.url == fixture.url("b") ? tasks[0] : tasks[1]
      let suspect = tasks[0].request.url == fixture.url("a") ? tasks[0] : tasks[1]
      other.receive([7, 7, 7], of: 100)
      clocks.advance(by: .seconds(1))
      try await waitUntil("a checkpoint") { try fixture.record("b").received == 3 }
      try fixture.change("a") { $0.unresolvedStarts = 2 }
      suspect.sink.finish(.failed(DownloadFailure(.connectionLost, "reset")))
      // The wait for the next attempt may begin after the commit that shows it.
      try await waitUntil("the other one to be ended") {
        clocks.advance(by: .seconds(60))
        return !fixture.transport.cancelled.isEmpty
      }
      #expect(fixture.transport.started.count == 2)
      other.sink.finish(.cancelled)
      try await fixture.started(3)
      #expect(fixture.transport.started[2].request.url == fixture.url("a"))
      // Progress does not end its probation.
      fixture.transport.started[2].receive([7], of: 100)
      clocks.advance(by: .seconds(1))
      try await waitUntil("a checkpoint") { try fixture.record("a").received == 1 }
      try await fixture.settle()
      #expect(fixture.transport.started.count == 3)
      clocks.advance(by: .seconds(6))
      try await fixture.started(4)
      #expect(fixture.transport.started[3].request.url == fixture.url("b"))
      #expect(fixture.transport.started[3].request.offset == 3)
      let record = try fixture.record("b")
      #expect(record.failedAttempts == 0 && record.attempts.isEmpty)
    }
  }

  @Test
  func `a slow transfer lets a waiting download go first, and loses neither bytes nor attempts`()
    async throws
  {
    try fixture.add("b")
    let engine = try engine()
    await engine.setLimits(ConcurrencyLimits(maximumRunning: 1, maximumPerHost: 1))
    try await fixture.running(engine) {
      try await fixture.started(1)
      let slow = fixture.transport.started[0]
      let (first, second) =
        slow.request.url == fixture.url("a") ? ("a", "b") : ("b", "a")
      slow.receive([7, 7, 7], of: 100)
      clocks.advance(by: .seconds(1))
      try await waitUntil("a checkpoint") { try fixture.record(first).received == 3 }
      // The first period begins with the first tick, and may begin before the bytes arrive.
      try await waitUntil("the slow one to be ended") {
        clocks.advance(by: .seconds(31))
        return !fixture.transport.cancelled.isEmpty
      }
      slow.sink.finish(.cancelled)
      try await fixture.started(2)
      #expect(fixture.transport.started[1].request.url == fixture.url(second))
      let record = try fixture.record(first)
      #expect(record.state == .waiting && record.received == 3)
      #expect(record.failedAttempts == 0 && record.attempts.isEmpty)
      fixture.transport.started[1].complete()
      try await fixture.started(3)
      #expect(fixture.transport.started[2].request.url == fixture.url(first))
      #expect(fixture.transport.started[2].request.offset == 3)
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

  @Test(arguments: [429, 503], ["3600", "Tue, 14 Nov 2023 23:13:20 GMT"])
  func `a server that asks for an hour is asked after it, also by the next engine`(
    _ status: Int,
    _ asked: String
  ) async throws {
    let date = clocks.date
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      let fields = [HeaderField(name: "Retry-After", value: asked)]
      let task = fixture.transport.started[0].sink
      _ = task.receive(ResponseHead(status: status, fields: fields))
      task.finish(.completed)
      try await fixture.reached(.failedRetryable, "a")
      #expect(try fixture.record("a").nextRetryAt == date + 3_600)
      clocks.advance(by: .seconds(600))
      try await fixture.settle()
      #expect(fixture.transport.started.count == 1)
    }
    try await fixture.running(try engine()) {
      clocks.advance(by: .seconds(2_999))
      try await fixture.settle()
      #expect(fixture.transport.started.count == 1)
      clocks.advance(by: .seconds(2))
      try await fixture.started(2)
    }
  }
}
