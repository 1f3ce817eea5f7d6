import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestTraits
import Testing

/// The events of an engine, which never waits for an observer.
@Suite(.timeLimit(.minutes(10)))
struct EventTests {
  private func name(_ event: DownloadEvent) -> String {
    if case .missed(let count) = event { "missed \(count)" } else { event.word }
  }

  @Test(.requirements("ZY53", "FK26")) func `every consumer receives every event`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 2_000_000, seed: 1)
    fixture.server.route("/a", Resource(body, faults: .resetAfter(bytes: 500_000)))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let consumers = [
      engine.events(), engine.events(), engine.handle(forURL: fixture.server.url("/a")).events(),
    ]
    _ = try await engine.run(until: .idle)
    for events in consumers {
      let names = await events.reduce(into: [String]()) { $0.append(name($1)) }
      #expect(names == ["started", "retrying", "started", "completed"])
    }
    #expect(await engine.events().reduce(0) { count, _ in count + 1 } == 0)
  }

  @Test
  func `an observer that never reads slows no download and receives the count of missed events`()
    async throws
  {
    let fixture = try EngineFixture()
    for number in 0..<60 {
      fixture.server.route("/\(number)", Resource(.text("\(number)")))
      try fixture.add("/\(number)")
    }
    let engine = try fixture.engine()
    let all = engine.events()
    let dead = engine.events(keeping: 10)
    let handle = engine.handle(forURL: fixture.server.url("/0"))
    let deadHandle = handle.events()
    // Callbacks that never return block only themselves: they have threads of their own, so as many
    // of them as Swift's pool has threads stop nothing.
    let observations = (0...ProcessInfo.processInfo.activeProcessorCount).map { _ in
      engine.observe { _ in while !Task.isCancelled { usleep(1000) } }
    }
    #expect(try await engine.run(until: .idle).completed == 60)
    for observation in observations { observation.cancel() }
    // A start and an end for each download, and some more if a connection fails.
    let count = await all.reduce(0) { count, _ in count + 1 }
    #expect(count >= 120)
    let names = await dead.reduce(into: [String]()) { $0.append(name($1)) }
    #expect(names.first == "missed \(count - 10)")
    #expect(names.count == 11)
    #expect(await deadHandle.contains { $0.isEnd })
  }

  @Test(.requirements("ZF9", "ZF17", "MO6"))
  func `a file is in place and its record committed before the completed event`() async throws {
    let fixture = try EngineFixture()
    for number in 0..<20 {
      fixture.server.route("/\(number)", Resource(.text("\(number)")))
      try fixture.add("/\(number)")
    }
    let engine = try fixture.engine()
    let events = engine.events()
    let run = Task { try await engine.run(until: .idle) }
    var ends: [String: Int] = [:]
    for await event in events {
      guard case .completed(let record) = event else { continue }
      ends[record.url, default: 0] += 1
      let stored = try fixture.store.record(matching: record.url)
      #expect(stored.state == .completed)
      #expect(FileManager.default.fileExists(atPath: fixture.file(record.filename)))
    }
    _ = try await run.value
    #expect(ends.count == 20 && ends.values.allSatisfy { $0 == 1 })
  }

  @Test(.requirements("ZY54")) func `a task that finishes twice completes its download once`()
    async throws
  {
    let fixture = try EngineFixture()
    let transport = ManualTransport()
    try fixture.store.addNow([DownloadRequest(url: "https://example.com/a")])
    let engine = try DownloadEngine(store: fixture.store, transport: transport)
    let events = engine.events()
    let run = Task { try await engine.run(until: .idle) }
    while transport.started.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    let task = transport.started[0]
    task.receive([1, 2, 3], of: 3)
    task.sink.finish(.completed)
    task.sink.finish(.completed)
    task.sink.finish(.failed(DownloadFailure(.timedOut, "late")))
    _ = try await run.value
    #expect(await events.filter(\.isEnd).reduce(0) { count, _ in count + 1 } == 1)
  }

  @Test(arguments: [DownloadIntent.pause, .cancel, .remove])
  func `a waiting download that is paused, cancelled or removed emits released`(
    intent: DownloadIntent
  ) async throws {
    let fixture = try EngineFixture()
    let transport = ManualTransport()
    let urls = ["a", "b"].map { "https://example.com/\($0)" }
    try fixture.store.addNow(urls.map { DownloadRequest(url: $0) })
    var options = EngineOptions()
    options.removeTimeLimits()
    options.limits = ConcurrencyLimits(maximumRunning: 1)
    options.checkpointInterval = .milliseconds(50)
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: transport,
      options: options
    )
    let events = engine.events()
    let run = Task { try await engine.run(until: .stopped) }
    while transport.started.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    let idle = transport.started[0].request.url == urls[0] ? urls[1] : urls[0]
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: idle) { $0.intent = intent }
    }
    let released = await events.first { if case .released = $0 { true } else { false } }
    #expect(released?.url == idle)
    engine.stop()
    transport.started[0].sink.finish(.cancelled)
    _ = try await run.value
  }

  @Test(.requirements("FK21"))
  func `the end callback runs once, and a cancelled observation receives nothing more`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let (results, tell) = AsyncStream<Result<FinishedDownload, any Error>>.makeStream()
    let seen = Mutex<[DownloadProgress]>([])
    engine.follow(
      engine.handle(forURL: fixture.server.url("/a")),
      every: .milliseconds(1),
      progress: { progress in seen.withLock { $0.append(progress) } },
      end: { result in
        tell.yield(result)
        tell.finish()
      }
    )
    let calls = Mutex(0)
    var dropped: EventObservation? = engine.observe { _ in calls.withLock { $0 += 1 } }
    withExtendedLifetime(dropped) {}
    dropped = nil
    _ = try await engine.run(until: .idle)
    for await result in results {
      #expect(try result.get().filePath == fixture.file("a"))
    }
    #expect(seen.withLock { $0.last?.state } == .completed)
    #expect(calls.withLock { $0 } == 0)
  }
}
