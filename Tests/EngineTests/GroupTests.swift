import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Groups of downloads while they run.
@Suite(.timeLimit(.minutes(2)))
struct GroupTests {
  @Test func `FK1 a group is summed up while it runs and ends whole`() async throws {
    let fixture = try EngineFixture()
    var large = Resource(.generated(byteCount: 2_000_000, seed: 1))
    large.bytesPerSecond = 2_000_000
    fixture.server.route("/a", large)
    var unknown = large
    unknown.framing = .chunked
    fixture.server.route("/b", unknown)
    fixture.server.route("/c", Resource(.text("not of the group")))
    try fixture.add("/a") { $0.tags = ["models"] }
    try fixture.add("/b") { $0.tags = ["models", "other"] }
    try fixture.add("/c") { $0.tags = ["other"] }
    let engine = try fixture.engine()
    var changes = engine.group("models", every: .milliseconds(20)).makeAsyncIterator()
    let first = try await changes.next()
    #expect(first?.members == 2 && first?.received == 0 && first?.unknownTotals == 2)
    let run = Task { try await engine.run(until: .idle) }
    var seen: [GroupProgress] = []
    var steady = SteadyFraction()
    var shown: [Double] = []
    while let next = try await changes.next() {
      seen.append(next)
      if let fraction = steady.update(next) { shown.append(fraction) }
    }
    _ = try await run.value
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.received <= $1.received })
    #expect(zip(shown, shown.dropFirst()).allSatisfy { $0 <= $1 })
    #expect(shown.last == 1)
    // Between the checkpoints, which come once a second.
    #expect(seen.contains { $0.received > 0 && $0.received < 4_000_000 && $0.running > 0 })
    #expect(seen.contains { $0.unknownTotals == 1 && $0.fraction == nil && $0.expected > 0 })
    #expect(seen.contains { ($0.bytesPerSecond ?? 0) > 0 })
    let last = try #require(seen.last)
    #expect(last.completed == 2 && last.received == 4_000_000 && last.fraction == 1)
    #expect(last == (try fixture.store.group("models").progress()))
  }

  @Test func `FK22 who comes and goes while the engine runs is counted`() async throws {
    let fixture = try EngineFixture()
    let transport = HandTransport()
    let engine = try DownloadEngine(store: fixture.store, transport: transport)
    let run = Task { try await engine.run(until: .stopped) }
    var changes = engine.group("models", every: .milliseconds(5)).makeAsyncIterator()
    #expect(try await changes.next()?.members == 0)
    var request = DownloadRequest(url: "https://example.com/a")
    request.tags = ["models"]
    try engine.download(request)
    var progress = try await changes.next()
    while transport.started.isEmpty { await Task.yield() }
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
