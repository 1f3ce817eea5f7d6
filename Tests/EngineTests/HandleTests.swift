import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

/// Handles of single downloads.
@Suite(.timeLimit(.minutes(10)))
struct HandleTests {
  private func cancel(_ record: DownloadRecord, in fixture: EngineFixture) throws {
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: record.url) {
        $0.state = .cancelled
        $0.intent = .cancel
      }
    }
  }

  @Test(.requirements("SC7", "MO6"))
  func `the value of a handle is the finished file in its final place`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 1_000_000, seed: 1)
    fixture.server.route("/a.bin", Resource(body))
    let engine = try fixture.engine()
    let run = Task { try await engine.run(until: .stopped) }
    let handle = try await engine.download(DownloadRequest(url: fixture.server.url("/a.bin")))
    let file = try await handle.value()
    #expect(file.filePath == fixture.file("a.bin"))
    #expect(body.matches(file: file.filePath))
    #expect(file.record.state == .completed)
    // A second call returns immediately.
    #expect(try await handle.value() == file)
    engine.stop()
    _ = try await run.value
    #expect(try await handle.value() == file)
  }

  @Test func `several tasks can await one download`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: fixture.server.url("/a"))
    let waiting = (0..<10).map { _ in Task { try await handle.value().filePath } }
    _ = try await engine.run(until: .idle)
    for task in waiting { #expect(try await task.value == fixture.file("a")) }
  }

  @Test(.requirements("FK18", "SC7"))
  func `a handle throws the failure of a download that failed permanently`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("a"), faults: .status(404), then: .repeatLast))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: fixture.server.url("/a"))
    let value = Task { try await handle.value() }
    _ = try await engine.run(until: .idle)
    let failure = await #expect(throws: DownloadFailure.self) { try await value.value }
    #expect(failure?.code == .notFound)
  }

  @Test(.requirements("ZF15"))
  func `a handle of a cancelled download throws cancelled, not a failure`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 2_000_000, seed: 3)
    fixture.server.route(
      "/a",
      Resource(body, faults: .stallAfter(bytes: 1_000_000), then: .repeatLast)
    )
    let record = try fixture.add("/a")
    let engine = try fixture.engine { $0.checkpointInterval = .milliseconds(50) }
    let handle = engine.handle(forURL: record.url)
    let events = handle.events()
    let value = Task { try await handle.value() }
    let run = Task { try await engine.run(until: .stopped) }
    _ = await events.first { if case .started = $0 { true } else { false } }
    try cancel(record, in: fixture)
    let error = await #expect(throws: EngineError.self) { try await value.value }
    #expect(error?.code == .cancelled)
    engine.stop()
    _ = try await run.value
  }

  @Test func `a paused download has not ended; a cancelled one has`() async throws {
    let fixture = try EngineFixture()
    let record = try fixture.add("/a") { $0.isPaused = true }
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: record.url)
    let progress = engine.progress(of: .download(handle), every: .milliseconds(1))
    let value = Task { try await handle.value() }
    let run = Task { try await engine.run(until: .stopped) }
    #expect(await progress.first { _ in true }?.state == .paused)
    try cancel(record, in: fixture)
    let error = await #expect(throws: EngineError.self) { try await value.value }
    #expect(error?.code == .cancelled)
    engine.stop()
    _ = try await run.value
  }

  @Test func `a handle throws stopped when the run ends before its download`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 2_000_000, seed: 3)
    fixture.server.route(
      "/a",
      Resource(body, faults: .stallAfter(bytes: 1_000_000), then: .repeatLast)
    )
    let record = try fixture.add("/a")
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: record.url)
    let events = handle.events()
    let value = Task { try await handle.value() }
    let run = Task { try await engine.run(until: .stopped) }
    _ = await events.first { if case .started = $0 { true } else { false } }
    engine.stop()
    _ = try await run.value
    let error = await #expect(throws: EngineError.self) { try await value.value }
    #expect(error?.code == .stopped)
  }

  @Test func `cancelling a task that awaits a download does not cancel the download`() async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: fixture.server.url("/a"))
    let value = Task { try await handle.value() }
    value.cancel()
    await #expect(throws: CancellationError.self) { try await value.value }
    #expect(try await engine.run(until: .idle).completed == 1)
  }

  @Test(.requirements("FK19"))
  func `a handle of an unknown URL throws unknownRecord and has no progress`() async throws {
    let fixture = try EngineFixture()
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: "https://example.com/none")
    let error = await #expect(throws: RecordStoreError.self) { try await handle.value() }
    #expect(error?.code == .unknownRecord)
    #expect(await engine.progress(of: .download(handle)).reduce(0) { count, _ in count + 1 } == 0)
  }

  @Test func `a complete file that was moved away is reported missing`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    try await fixture.run()
    try FileManager.default.removeItem(atPath: fixture.file("a"))
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: fixture.server.url("/a"))
    let error = await #expect(throws: EngineError.self) { try await handle.value() }
    #expect(error?.code == .fileMissing)
  }

  @Test(.requirements("ZY3", "FK20", "SC7"))
  func `progress begins with the stored byte count and ends with the complete size`() async throws {
    let fixture = try ManualFixture()
    try fixture.add("a")
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: fixture.url("a"))
    let progress = engine.progress(of: .download(handle), every: .milliseconds(1))
    var changes = progress.makeAsyncIterator()
    let first = await changes.next()
    #expect(first?.received == 0 && first?.isLive == false && first?.state == .waiting)
    let run = Task { try await engine.run(until: .idle) }
    try await fixture.started(1)
    let task = fixture.transport.started[0]
    let size = 1_000_000
    task.receive([1], of: size)
    // A speed needs bytes between two measurements, whenever these are.
    var sent = 1
    var seen: [DownloadProgress] = []
    while (seen.last?.bytesPerSecond ?? 0) <= 0, sent < size / 2, let next = await changes.next() {
      seen.append(next)
      sent += 1
      _ = task.sink.receive([1].span)
    }
    #expect(seen.contains { ($0.bytesPerSecond ?? 0) > 0 && $0.estimate.remaining != nil })
    #expect(seen.contains { $0.isLive && ($0.estimate.fraction ?? 0) > 0 && $0.received < size })
    _ = task.sink.receive([UInt8](repeating: 1, count: size - sent).span)
    task.sink.finish(.completed)
    while let next = await changes.next() { seen.append(next) }
    _ = try await run.value
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.received <= $1.received })
    #expect(seen.last?.received == Int64(size))
    #expect(seen.last?.state == .completed)
    #expect(seen.last?.estimate.percentage == 100)
    // The progress of a complete download has one element.
    #expect(await progress.reduce(0) { count, _ in count + 1 } == 1)
  }

  // MARK: Another URL

  @Test(arguments: [true, false])
  func `a handle follows its download to another URL`(isRunning: Bool) async throws {
    let fixture = try ManualFixture()
    try fixture.add("old")
    // A waiting download is followed, too.
    if !isRunning { try fixture.add("first", priority: 1) }
    let engine = try fixture.engine(1)
    let handle = engine.handle(forURL: fixture.url("old"))
    let value = Task { try await handle.value() }
    let progress = Task {
      await engine.progress(of: .download(handle), every: .milliseconds(1))
        .reduce(into: [DownloadProgress]()) { $0.append($1) }
    }
    try await fixture.running(engine) {
      try await fixture.started(1)
      if isRunning { fixture.transport.started[0].receive([1], of: 3) }
      try fixture.store.replaceURLNow(matching: fixture.url("old"), with: fixture.url("new"))
      // Another download may have the old URL by then.
      try fixture.add("old", priority: -1)
      try await fixture.settle()
      fixture.transport.endCancelled()
      if !isRunning { fixture.transport.started[0].complete() }
      try await waitUntil("the new URL to be asked") {
        fixture.transport.started.last?.request.url == fixture.url("new")
      }
      fixture.transport.started.last?.complete()
      let file = try await value.value
      #expect(file.record.url == fixture.url("new"))
      let seen = await progress.value
      #expect(Set(seen.map(\.recordID)) == [file.record.id])
      #expect(seen.last?.state == .completed && seen.last?.url == fixture.url("new"))
    }
  }

  @Test func `a handle created before its download is added follows that download`() async throws {
    let fixture = try ManualFixture()
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: fixture.url("a"))
    let events = handle.events()
    try await fixture.running(engine) {
      try fixture.add("a")
      try await fixture.started(1)
      fixture.transport.started[0].complete()
      #expect(try await handle.value().record.url == fixture.url("a"))
      #expect(await events.first(where: \.isEnd)?.word == "completed")
    }
  }
}
