import DownloadStore
import DownloadSync
import EngineTestSupport
import TestTraits
import Testing

/// Groups of downloads during a run.
@Suite(.timeLimit(.minutes(10)))
struct GroupTests {
  @Test(.requirements("FK1")) func `group progress totals its members until all are complete`()
    async throws
  {
    let fixture = try EngineFixture()
    try fixture.add("/a") { $0.tags = ["models"] }
    try fixture.add("/b") { $0.tags = ["models", "other"] }
    try fixture.add("/c") { $0.tags = ["other"] }
    let transport = ManualTransport()
    let engine = try DownloadEngine(store: fixture.store, transport: transport)
    var changes = engine.progress(of: .group("models"), every: .milliseconds(5)).makeAsyncIterator()
    let first = try await changes.next()
    #expect(first?.members == 2 && first?.received == 0 && first?.unknownTotals == 2)
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("three starts") { transport.started.count == 3 }
    let tasks = transport.started.sorted { $0.request.url < $1.request.url }
    var seen: [GroupProgress] = []
    /// Reads elements until one meets a condition.
    func follow(to condition: (GroupProgress) -> Bool) async throws {
      while let next = try await changes.next() {
        seen.append(next)
        if condition(next) { return }
      }
      Issue.record("the group has ended")
    }
    tasks[0].receive([UInt8](repeating: 1, count: 40), of: 10_000)
    _ = tasks[1].sink.receive(ResponseHead(status: 200, fields: []))
    _ = tasks[1].sink.receive([UInt8](repeating: 2, count: 25).span)
    tasks[2].complete()
    // Bytes count before they are checkpointed.
    try await follow { $0.received == 65 && $0.running == 2 }
    #expect(seen.last?.unknownTotals == 1 && seen.last?.expected == 10_000)
    #expect(seen.last?.fraction == nil)
    // A rate needs bytes between two measurements, whenever these are.
    var received = 40
    while (seen.last?.bytesPerSecond ?? 0) <= 0, received < 9_000 {
      received += 1
      _ = tasks[0].sink.receive([1].span)
      try await follow { $0.received == received + 25 }
    }
    #expect((seen.last?.bytesPerSecond ?? 0) > 0)
    _ = tasks[0].sink.receive([UInt8](repeating: 1, count: 10_000 - received).span)
    for task in tasks[..<2] { task.sink.finish(.completed) }
    while let next = try await changes.next() { seen.append(next) }
    _ = try await run.value
    var steady = MonotonicProgress()
    let shown = seen.compactMap { steady.update($0) }
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.received <= $1.received })
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(shown.last == 1)
    let last = try #require(seen.last)
    #expect(last.completed == 2 && last.received == 10_025 && last.fraction == 1)
    #expect(last == (try fixture.store.group("models").progress()))
  }

  @Test(.requirements("FK22"))
  func `group progress counts members that join and leave during a run`() async throws {
    let fixture = try EngineFixture()
    let transport = ManualTransport()
    let engine = try DownloadEngine(store: fixture.store, transport: transport)
    let run = Task { try await engine.run(until: .stopped) }
    var changes = engine.progress(of: .group("models"), every: .milliseconds(5)).makeAsyncIterator()
    #expect(try await changes.next()?.members == 0)
    var request = DownloadRequest(url: "https://example.com/a")
    request.tags = ["models"]
    try await engine.download(request)
    var progress = try await changes.next()
    while transport.started.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    transport.started[0].receive([1, 2, 3], of: 10)
    while let next = progress, next.received != 3 { progress = try await changes.next() }
    #expect(progress?.members == 1)
    #expect(progress?.expected == 10)
    #expect(progress?.fraction == 0.3)
    engine.stop()
    transport.started[0].sink.finish(.cancelled)
    _ = try await run.value
    while let next = try await changes.next() { progress = next }
    #expect(progress?.waiting == 1)
  }
}
