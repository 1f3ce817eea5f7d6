import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

/// Stopping an engine by cancelling the task that runs it.
@Suite(.timeLimit(.minutes(10)))
struct StopTests {
  /// Counts the engine's clock reads and the ticks sent to it.
  private final class Counter: Sendable {
    let looks = Mutex(0)
    let ticks = Mutex(0)
  }

  private let fixture: ManualFixture
  private let counter = Counter()

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  /// Creates an engine whose clock stands still: a stop waits only ten seconds for the tasks.
  private func engine() throws -> DownloadEngine {
    var environment = EngineEnvironment.live
    let start = ContinuousClock.now
    environment.instant = { [counter] in
      counter.looks.withLock { $0 += 1 }
      return start
    }
    environment.wake = { [counter] store, post in
      EngineEnvironment.live.wake(store) { signal in
        if case .ticked = signal { counter.ticks.withLock { $0 += 1 } }
        post(signal)
      }
    }
    return try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: EngineOptions(),
      now: { Date() },
      environment: environment
    )
  }

  @Test func `cancelling the run waits for its tasks without spinning, and commits their bytes`()
    async throws
  {
    let engine = try engine()
    let run = Task { try await engine.run(until: .stopped) }
    try await fixture.started(1)
    let task = fixture.transport.started[0]
    task.receive([UInt8](repeating: 7, count: 40), of: 100)
    run.cancel()
    try await waitUntil("the cancel") { !fixture.transport.cancelled.isEmpty }
    let ticks = counter.ticks.withLock { $0 }
    let looks = counter.looks.withLock { $0 }
    try await waitUntil("three ticks") { counter.ticks.withLock { $0 } >= ticks + 3 }
    // The loop reads the clock once per iteration. More ticks come while this thread is paused; each is
    // counted before it is sent.
    let newLooks = counter.looks.withLock { $0 } - looks
    let newTicks = counter.ticks.withLock { $0 } - ticks
    #expect(newLooks < newTicks + 20)
    // Bytes that arrive before the task ends are kept.
    _ = task.sink.receive([UInt8](repeating: 8, count: 10).span)
    task.sink.finish(.cancelled)
    _ = try await run.value
    let record = try fixture.record("a")
    #expect(record.state == .waiting && record.received == 50)
  }

  @Test func `stopping before the first byte does not crash`() async throws {
    try await fixture.running(try engine()) {
      try await fixture.started(1)
      #expect(try fixture.record("a").state == .running)
    }
    let record = try fixture.record("a")
    #expect(record.state == .waiting && record.unresolvedStarts == 0)
  }

  @Test func `cancelling a run that waits for work ends it`() async throws {
    let engine = try engine()
    let run = Task { try await engine.run(until: .stopped) }
    try await fixture.started(1)
    fixture.transport.started[0].complete()
    try await fixture.reached(.completed, "a")
    run.cancel()
    #expect(try await run.value.completed == 1)
  }
}
