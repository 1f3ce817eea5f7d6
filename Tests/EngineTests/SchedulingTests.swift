import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import TestTraits
import Testing

/// The order of starts, with downloads that the test controls.
@Suite(.timeLimit(.minutes(10)))
struct SchedulingTests {
  private let fixture: ManualFixture
  private var store: RecordStore { fixture.store }
  private var transport: ManualTransport { fixture.transport }

  init() throws {
    fixture = try ManualFixture()
  }

  private func url(_ name: String) -> String { fixture.url(name) }

  /// The names of the started downloads, in order.
  private var started: [String] {
    transport.started.map { String($0.request.url.split(separator: "/").last ?? "") }
  }

  @Test func `higher priorities start first; equal ones start in order of arrival`() async throws {
    try fixture.add("a", "b")
    try fixture.add("urgent", priority: 5)
    try fixture.add("later", priority: -1)
    try await fixture.running(try fixture.engine(1)) {
      for count in 1...4 {
        try await fixture.started(count)
        transport.started[count - 1].complete()
      }
    }
    #expect(started == ["urgent", "a", "b", "later"])
  }

  @Test func `a partial file deleted while its download waits costs no attempt`() async throws {
    try fixture.add("a", "b")
    try fixture.change("b", partial: 40) {
      $0.received = 40
      $0.resolvedBytes = 40
      $0.expected = 100
      $0.entityTag = "\"1\""
    }
    let partial = try fixture.layout("b").partialPath
    try await fixture.running(try fixture.engine(1)) {
      try await fixture.started(1)
      try FileManager.default.removeItem(atPath: partial)
      transport.started[0].complete()
      try await fixture.started(2)
      #expect(transport.started[1].request.offset == 0)
      #expect(try fixture.record("b").attempts == [])
    }
  }

  @Test(.requirements("ZY64")) func `a priority change applies to a waiting download immediately`()
    async throws
  {
    try fixture.add("a", "b", "c")
    let engine = try fixture.engine(1)
    try await fixture.running(engine) {
      try await fixture.started(1)
      var update = RecordUpdate()
      update.priority = 7
      try await engine.store.update(matching: url("c"), with: update)
      try await fixture.settle()
      transport.started[0].complete()
      try await fixture.started(2)
    }
    #expect(started == ["a", "c"])
  }

  @Test(.requirements("ZY60", "ZY61", "ZY62"))
  func `resuming immediately preempts the longest-running download and holds it`() async throws {
    try fixture.add("a", "b", "c", "d")
    let engine = try fixture.engine(2)
    try await fixture.running(engine) {
      try await fixture.started(2)
      try await engine.store.resume(.matching(url("d")), immediately: true)
      try await waitUntil("a to end") { !transport.cancelled.isEmpty }
      #expect(transport.cancelled == [TaskID(rawValue: 1)])
      // No slot is free until the cancelled task has ended.
      #expect(started == ["a", "b"])
      transport.started[0].sink.finish(.cancelled)
      try await fixture.started(3)
      #expect(started == ["a", "b", "d"])
      #expect(try fixture.record("a").state == .waiting && fixture.record("a").isHeld)
      #expect(try !fixture.record("d").startsImmediately)
      // It starts neither next nor after that.
      transport.started[1].complete()
      try await fixture.started(4)
      transport.started[2].complete()
      transport.started[3].complete()
      try await waitUntil("all to end") { await engine.currentProgress().isEmpty }
      #expect(started == ["a", "b", "d", "c"])
      #expect(try fixture.record("a").state == .waiting)
      // The user resumes it.
      try await engine.store.resume(.matching(url("a")))
      try await fixture.started(5)
      #expect(started.last == "a")
    }
  }

  @Test(.requirements("ZY61"))
  func `a held download does not start at launch or keep the run from ending`() async throws {
    try fixture.add("a", "b")
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url("a")) { $0.isHeld = true }
    }
    let engine = try fixture.engine(4)
    async let summary = engine.run(until: .idle)
    try await fixture.started(1)
    #expect(started == ["b"])
    transport.started[0].complete()
    #expect(try await summary == RunSummary(completed: 1))
    #expect(try fixture.record("a").state == .waiting && fixture.record("a").isHeld)
  }

  @Test(.requirements("ZY58", "FK2"))
  func `raising the limit starts downloads immediately; lowering it stops none`() async throws {
    try fixture.add("a", "b", "c", "d", "e")
    let engine = try fixture.engine(1)
    try await fixture.running(engine) {
      try await fixture.started(1)
      await engine.setLimits(ConcurrencyLimits(maximumRunning: 3, maximumPerHost: 100))
      try await fixture.started(3)
      await engine.setLimits(ConcurrencyLimits(maximumRunning: 1))
      try await fixture.settle()
      #expect(transport.cancelled.isEmpty && transport.started.count == 3)
      transport.started[0].complete()
      transport.started[1].complete()
      try await waitUntil("two to end") { await engine.currentProgress().count == 1 }
      #expect(transport.started.count == 3)
      transport.started[2].complete()
      try await fixture.started(4)
      #expect(transport.started.count == 4)
    }
  }

  @Test func `one host gets no more than its share of the slots`() async throws {
    try fixture.add("a", "b", "c")
    try store.addNow([DownloadRequest(url: "https://other.example/x")])
    let engine = try fixture.engine(10, perHost: 2)
    try await fixture.running(engine) {
      try await fixture.started(3)
      try await fixture.settle()
      #expect(started == ["a", "b", "x"])
      transport.started[0].complete()
      try await fixture.started(4)
      #expect(started.last == "c")
    }
  }

  @Test func `a queued download counts for the host that it asks when it starts`() async throws {
    try fixture.add("a", "b")
    let failure = DownloadFailure(.connectionLost, "lost")
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url("b")) { record in
        record.mirrors = ["https://other.example/b"]
        record.attempts = [Attempt(at: Date(), url: record.url, failure: failure, received: 0)]
        record.failedAttempts = 1
      }
    }
    // The resume selects the first URL again, after the mirror's host was queued.
    let hook = CommitHook(beforeCommit: 1) { [store] in
      _ = try? store.apply(.pause, to: .all)
      _ = try? store.apply(.resume(immediately: false), to: .all)
    }
    var environment = EngineEnvironment.live
    environment.faultInjector = hook
    var options = EngineOptions(maximumRunning: 10, maximumPerHost: 1)
    options.removeTimeLimits()
    let engine = try DownloadEngine(
      store: store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: environment
    )
    try await fixture.running(engine) {
      try await fixture.started(1)
      try await fixture.settle()
      #expect(hook.hasRun)
      #expect(started == ["a"])
      transport.started[0].complete()
      try await fixture.started(2)
      #expect(transport.started[1].request.url == url("b"))
    }
  }

  @Test func `every slot is used while queued downloads are removed`() async throws {
    try store.addNow((0..<300).map { DownloadRequest(url: url("n\($0)")) })
    let engine = try fixture.engine(7)
    try await fixture.running(engine) {
      var done = 0
      while done < 150 {
        try await fixture.started(min(300, done + 7))
        #expect(transport.started.count <= done + 7)
        // Remove downloads at the end of the queue.
        if done < 100 {
          try store.apply(.remove(withFile: false), to: .matching(url("n\(299 - done)")))
        }
        transport.started[done].complete()
        done += 1
      }
      #expect(started.prefix(150) == (0..<150).map { "n\($0)" }[...])
    }
  }
}

/// Runs a closure right before the engine's n-th commit.
private final class CommitHook: FaultInjector {
  private let commits = Mutex(0)
  private let number: Int
  private let action: @Sendable () -> Void

  init(beforeCommit number: Int, _ action: @escaping @Sendable () -> Void) {
    self.number = number
    self.action = action
  }

  var hasRun: Bool { commits.withLock { $0 >= number } }

  func refusal(of effect: Effect) -> Int32? {
    guard effect == .commit else { return nil }
    let count = commits.withLock { count in
      count += 1
      return count
    }
    if count == number { action() }
    return nil
  }

  func didPerform(_ effect: Effect) {}
}
