import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import TestTraits
import Testing

/// Events and progress that an engine reports, with tasks that the test controls.
@Suite(.timeLimit(.minutes(10)))
struct EngineReportingTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
  }

  // MARK: Events

  @Test(.requirements("ZY53"))
  func `start, failure, pause, completion, state and speed are reported to every consumer`()
    async throws
  {
    let engine = try fixture.engine()
    let consumers = (0..<2).map { _ in
      let events = engine.events()
      return Task { await events.reduce(into: [String]()) { $0.append($1.word) } }
    }
    try await fixture.running(engine) {
      try fixture.add("paused", "failed", "done", "fast")
      try await fixture.started(4)
      try fixture.task("done").receive([1], of: 3)
      try await waitUntil("the progress") {
        try await engine.currentProgress(ofURL: fixture.url("done"))?.received == 1
      }
      let progress = try #require(try await engine.currentProgress(ofURL: fixture.url("done")))
      #expect(progress.state == .running && progress.expected == 3)
      // The speed is reported while bytes arrive.
      try fixture.task("fast").receive([], of: 1_000_000_000)
      try await waitUntil("a speed") {
        _ = try fixture.task("fast").sink.receive([UInt8](repeating: 1, count: 1_000).span)
        return try await engine.currentProgress(ofURL: fixture.url("fast"))?.bytesPerSecond ?? 0 > 0
      }
      try fixture.store.apply(.pause, to: .matching(fixture.url("paused")))
      try await fixture.endCancelled("paused")
      try await fixture.reached(.paused, "paused")
      try fixture.task("failed").sink.finish(.failed(DownloadFailure(.insecure, "no")))
      try await fixture.reached(.failedPermanent, "failed")
      let bytes: [UInt8] = [2, 3]
      _ = try fixture.task("done").sink.receive(bytes.span)
      try fixture.task("done").sink.finish(.completed)
      try await fixture.reached(.completed, "done")
    }
    for consumer in consumers {
      let words = await consumer.value
      #expect(words.count { $0 == "started" } == 4)
      for word in ["released", "failed", "completed"] {
        #expect(words.count { $0 == word } == 1, "\(words)")
      }
    }
  }

  @Test(.requirements("ZF8")) func `handles of concurrent downloads receive only their own events`()
    async throws
  {
    let engine = try fixture.engine()
    try fixture.add("a", "b")
    let consumers = ["a", "b"].map { name in
      let events = engine.handle(forURL: fixture.url(name)).events()
      return Task { await events.reduce(into: [DownloadEvent]()) { $0.append($1) } }
    }
    try await fixture.running(engine) {
      try await fixture.started(2)
      try fixture.task("a").complete()
      try fixture.task("b").sink.finish(.failed(DownloadFailure(.insecure, "no")))
      try await fixture.reached(.completed, "a")
      try await fixture.reached(.failedPermanent, "b")
    }
    let received = [await consumers[0].value, await consumers[1].value]
    #expect(received[0].map(\.word) == ["started", "completed"])
    #expect(received[1].map(\.word) == ["started", "failed"])
    #expect(received[0].allSatisfy { $0.url == fixture.url("a") })
    #expect(received[1].allSatisfy { $0.url == fixture.url("b") })
  }

  @Test(.requirements("ZF16")) func `engine callbacks are serial and in order`() async throws {
    let engine = try fixture.engine(1)
    let state = Mutex<(isInside: Bool, overlaps: Int, words: [String])>((false, 0, []))
    let observation = engine.observe { event in
      state.withLock { state in
        if state.isInside { state.overlaps += 1 }
        state.isInside = true
        state.words.append("\(event.word) \(event.url ?? "")")
      }
      // Give another callback time to overlap, in case callbacks are not serial.
      for _ in 0..<50 { sched_yield() }
      state.withLock { $0.isInside = false }
    }
    let names = (0..<10).map { "file\($0)" }
    try await fixture.running(engine) {
      for (index, name) in names.enumerated() {
        try fixture.add(name)
        try await fixture.started(index + 1)
        try fixture.task(name).complete()
        try await fixture.reached(.completed, name)
      }
      try await waitUntil("the callbacks") { state.withLock { $0.words.count } == 20 }
    }
    #expect(state.withLock { $0.overlaps } == 0)
    let expected = names.flatMap { ["started \(fixture.url($0))", "completed \(fixture.url($0))"] }
    #expect(state.withLock { $0.words } == expected)
    withExtendedLifetime(observation) {}
  }

  // MARK: Progress

  @Test(.requirements("FK20", "FK21"))
  func `an observer added before the start receives the current state and every change`()
    async throws
  {
    try fixture.add("a")
    let url = fixture.url("a")
    let engine = try fixture.engine()
    let before = try #require(try await engine.currentProgress(ofURL: url))
    #expect(before.state == .waiting && before.received == 0 && !before.isLive)
    let seen = Mutex<[DownloadProgress]>([])
    engine.follow(engine.handle(forURL: url), every: .milliseconds(1)) { progress in
      seen.withLock { $0.append(progress) }
    }
    // The engine does not run yet; the current state is reported nevertheless.
    try await waitUntil("the first call") { seen.withLock { $0.first?.state } == .waiting }
    try await fixture.running(engine) {
      try await fixture.started(1)
      try fixture.task("a").receive([1, 2], of: 3)
      try await waitUntil("the bytes") { seen.withLock { $0.last?.received } == 2 }
      // A single query, from another task.
      let live = try await Task.detached { try await engine.currentProgress(ofURL: url) }.value
      #expect(live?.received == 2 && live?.expected == 3 && live?.state == .running)
      #expect(live?.isLive == true)
      let byte: [UInt8] = [3]
      _ = try fixture.task("a").sink.receive(byte.span)
      try fixture.task("a").sink.finish(.completed)
      try await waitUntil("the end of the transfer") {
        seen.withLock { $0.last?.state } == .completed
      }
    }
    let amounts = seen.withLock { $0.map(\.received) }
    #expect(amounts == amounts.sorted() && amounts.last == 3)
  }

  @Test(.requirements("FK20"))
  func `an observer receives the speed during the transfer and the error at the end`() async throws
  {
    try fixture.add("a")
    let url = fixture.url("a")
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: url)
    let seen = Mutex<[DownloadProgress]>([])
    engine.follow(handle, every: .milliseconds(1)) { progress in
      seen.withLock { $0.append(progress) }
    }
    let end = Task { try await handle.value() }
    var sent = 0
    var speed = 0.0
    try await waitUntil("the first call") { seen.withLock { !$0.isEmpty } }
    try await fixture.running(engine) {
      try await fixture.started(1)
      try fixture.task("a").receive([], of: 1_000_000_000)
      // The speed of a transfer without bytes falls to zero.
      try await waitUntil("a speed") {
        _ = try fixture.task("a").sink.receive([UInt8](repeating: 1, count: 1_000).span)
        sent += 1_000
        speed = seen.withLock { $0.last?.bytesPerSecond ?? 0 }
        return speed > 0
      }
      // The speed is measured over at least 200 ms.
      #expect(speed <= Double(sent) / 0.2, "\(speed) of \(sent)")
      try fixture.task("a").sink.finish(.failed(DownloadFailure(.insecure, "no trust")))
      try await waitUntil("the end of the transfer") {
        seen.withLock { $0.last?.state } == .failedPermanent
      }
    }
    #expect(seen.withLock { $0.first?.bytesPerSecond } == nil)
    let failure = await #expect(throws: DownloadFailure.self) { try await end.value }
    #expect(failure?.code == .insecure && failure?.message == "no trust")
    let last = try #require(try await engine.currentProgress(ofURL: url))
    #expect(last.state == .failedPermanent && last.received == Int64(sent))
  }

  @Test(.requirements("FK23"), arguments: [Duration.milliseconds(60), .milliseconds(300)])
  func `progress is delivered no more often than the requested interval`(
    _ interval: Duration
  ) async throws {
    try fixture.add("a")
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await fixture.started(1)
      try fixture.task("a").receive([0], of: 1_000_000)
      // Bytes arrive continuously.
      let feeder = Task { [task = try fixture.task("a")] in
        let byte: [UInt8] = [0]
        while !Task.isCancelled {
          _ = task.sink.receive(byte.span)
          await Task.yield()
        }
      }
      // All elements count: a busy machine may deliver one late, and the next one in time.
      let start = ContinuousClock.now
      var count = 0
      for await _ in engine.progress(of: .active, every: interval) {
        count += 1
        if count == 4 { break }
      }
      let length = start.duration(to: .now)
      feeder.cancel()
      await feeder.value
      // The first element arrives immediately.
      #expect(count == 4 && length >= interval * 3 - .milliseconds(20), "\(length)")
    }
  }
}
