import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import Synchronization
import TestSupport
import TestTraits
import Testing

/// Lines of several predecessors, proven with a whole engine.
@Suite(.timeLimit(.minutes(2)))
struct EngineProofTests {
  private let fixture: HandFixture

  init() throws {
    fixture = try HandFixture()
  }

  private var store: DownloadStore { fixture.store }
  private var transport: HandTransport { fixture.transport }

  /// The names of what was started, in order.
  private var started: [String] {
    transport.started.map { String($0.request.url.split(separator: "/").last ?? "") }
  }

  private func task(_ name: String) throws -> HandTransport.Started {
    try #require(transport.started.last { $0.request.url == fixture.url(name) })
  }

  /// Ends the task of a transfer that the engine has cancelled.
  private func endCancelled(_ name: String) async throws {
    let index = try #require(started.lastIndex(of: name))
    try await waitUntil("\(name) to be cancelled") {
      transport.cancelled.contains { $0.rawValue == UInt64(index + 1) }
    }
    transport.started[index].sink.finish(.cancelled)
  }

  // MARK: States

  @Test(.requirements("ZY7", "FK11"))
  func `another process reads each state that the engine stores`()
    async throws
  {
    let other = try DownloadStore(at: store.path)
    func state(_ name: String) throws -> DownloadState {
      try other.record(named: fixture.url(name)).state
    }
    try fixture.add("a", "b")
    #expect(try state("a") == .waiting)
    try await fixture.running(try fixture.engine(1)) {
      try await fixture.started(1)
      #expect(try state("a") == .running && state("b") == .waiting)
      try store.pause(.named(fixture.url("a")))
      try await endCancelled("a")
      try await fixture.reached(.paused, "a")
      #expect(try state("a") == .paused)
      try await fixture.started(2)
      try task("b").sink.finish(.failed(TaskFailure(code: .insecure, message: "no")))
      try await fixture.reached(.failedPermanent, "b")
      try store.resume(.named(fixture.url("a")))
      try await fixture.started(3)
      try task("a").complete()
      try await fixture.reached(.completed, "a")
      try store.cancel(.named(fixture.url("b")))
      try await fixture.reached(.cancelled, "b")
      try store.remove(.named(fixture.url("b")))
      try await waitUntil("b to go") { (try? fixture.record("b")) == nil }
      #expect(try other.records(DownloadRecord.all).map(\.state) == [.completed])
    }
  }

  @Test(.requirements("MO1"))
  func `a download starts, pauses, resumes, reports isDownloading and calls back`()
    async throws
  {
    let engine = try fixture.engine()
    let seen = Mutex<[DownloadProgress]>([])
    let (ends, end) = AsyncStream<Result<FinishedDownload, any Error>>.makeStream()
    try await fixture.running(engine) {
      let handle = try engine.download(DownloadRequest(url: fixture.url("a")))
      #expect(handle.url == fixture.url("a"))
      let observation = handle.observe(
        every: .milliseconds(1),
        progress: { progress in seen.withLock { $0.append(progress) } },
        end: { result in
          end.yield(result)
          end.finish()
        }
      )
      try await fixture.started(1)
      #expect(try fixture.record("a").state.isDownloading)
      try task("a").receive([1], of: 3)
      try await waitUntil("progress") { seen.withLock { $0.contains { $0.received == 1 } } }
      try await engine.pause(.named(handle.url))
      try await endCancelled("a")
      try await fixture.reached(.paused, "a")
      #expect(try !fixture.record("a").state.isDownloading)
      try await engine.resume(.named(handle.url))
      try await fixture.started(2)
      #expect(try fixture.record("a").state.isDownloading)
      try task("a").sink.finish(.failed(TaskFailure(code: .insecure, message: "no")))
      for await result in ends {
        #expect(throws: DownloadFailure.self) { try result.get() }
      }
      withExtendedLifetime(observation) {}
    }
  }

  // MARK: Selections

  @Test(.requirements("FK12"))
  func `restarting a cancelled or failed download begins at the first byte`()
    async throws
  {
    try fixture.add("cancelled", "failed")
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(2)
      try task("failed").receive([9, 9], of: 3)
      try task("failed").sink.finish(.failed(TaskFailure(code: .insecure, message: "no")))
      try await fixture.reached(.failedPermanent, "failed")
      try store.cancel(.named(fixture.url("cancelled")))
      try await endCancelled("cancelled")
      try await fixture.reached(.cancelled, "cancelled")
      try store.restart(.all)
      try await fixture.started(4)
      for name in ["cancelled", "failed"] {
        #expect(try task(name).request.offset == 0)
        try task(name).complete()
        try await fixture.reached(.completed, name)
        let file = try Data(contentsOf: URL(filePath: fixture.layout(name).finalPath))
        #expect(Array(file) == [1, 2, 3])
      }
    }
  }

  @Test(.requirements("FK16", "MO5"))
  func `one download, a tag or all downloads are paused, resumed and cancelled while running`()
    async throws
  {
    for name in ["a", "b", "c"] {
      var request = DownloadRequest(url: fixture.url(name))
      request.tags = name == "c" ? [] : ["set"]
      try store.add([request])
    }
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await fixture.started(3)
      try await engine.pause(.tagged("set"))
      for name in ["a", "b"] {
        try await endCancelled(name)
        try await fixture.reached(.paused, name)
      }
      #expect(try fixture.record("c").state == .running)
      try await engine.resume(.named(fixture.url("a")))
      try await fixture.started(4)
      #expect(started.last == "a")
      #expect(try fixture.record("b").state == .paused)
      try await engine.pause(.all)
      for name in ["a", "c"] {
        try await endCancelled(name)
        try await fixture.reached(.paused, name)
      }
      try await engine.resume(.all)
      try await fixture.started(7)
      #expect(Set(started.suffix(3)) == ["a", "b", "c"])
      try await engine.cancel(.all)
      for name in ["a", "b", "c"] {
        try await endCancelled(name)
        try await fixture.reached(.cancelled, name)
        #expect(FileIdentity(ofFileAt: try fixture.layout(name).partialPath) == nil)
      }
      async let file = engine.get(DownloadRequest(url: fixture.url("d")))
      try await fixture.started(8)
      try task("d").complete()
      #expect(try await file.filePath == fixture.layout("d").finalPath)
      #expect(try await engine.records().count == 4)
    }
  }

  // MARK: The queue

  @Test(.requirements("ZY59"))
  func `free slots are filled immediately, in order, and no download starts twice`()
    async throws
  {
    try await fixture.running(try fixture.engine(2)) {
      for name in ["a", "b", "c", "d", "e"] { try fixture.add(name) }
      try await fixture.started(2)
      #expect(Set(started) == ["a", "b"])
      // A URL that waits or runs is no second download.
      try fixture.add("a", "c")
      try await fixture.settle()
      #expect(transport.started.count == 2)
      for (count, name) in ["a", "b", "c", "d", "e"].enumerated() {
        try await waitUntil("\(name) to start") { started.contains(name) }
        try task(name).complete()
        try await fixture.reached(.completed, name)
        try await fixture.started(min(5, count + 3))
      }
      #expect(started.dropFirst(2) == ["c", "d", "e"])
      #expect(started.count == 5)
    }
  }

  @Test(.requirements("ZY24", "ZY66"))
  func `completed, paused and removed downloads leave the queue and do not start`()
    async throws
  {
    try await fixture.running(try fixture.engine(1)) {
      try fixture.add("first")
      try await fixture.started(1)
      try fixture.add("held", "removed", "last")
      try store.pause(.named(fixture.url("held")))
      try store.remove(.named(fixture.url("removed")))
      try await fixture.reached(.paused, "held")
      try await waitUntil("the record to go") { (try? fixture.record("removed")) == nil }
      #expect(started == ["first"])
      try task("first").complete()
      try await fixture.started(2)
      #expect(started == ["first", "last"])
      // What is stopped unfinished waits again when it is wanted.
      try store.pause(.named(fixture.url("last")))
      try await endCancelled("last")
      try await fixture.reached(.paused, "last")
      try store.resume(.named(fixture.url("last")))
      try await fixture.started(3)
      try task("last").complete()
      try await fixture.reached(.completed, "last")
      try await fixture.settle()
      #expect(started == ["first", "last", "last"])
    }
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
      try task("done").receive([1], of: 3)
      try await waitUntil("the progress") {
        try await engine.progress(of: fixture.url("done"))?.received == 1
      }
      let progress = try #require(try await engine.progress(of: fixture.url("done")))
      #expect(progress.state == .running && progress.expected == 3)
      // Its speed is told while bytes come.
      try task("fast").receive([], of: 1_000_000_000)
      try await waitUntil("a speed") {
        _ = try task("fast").sink.receive([UInt8](repeating: 1, count: 1_000).span)
        return try await engine.progress(of: fixture.url("fast"))?.bytesPerSecond ?? 0 > 0
      }
      try store.pause(.named(fixture.url("paused")))
      try await endCancelled("paused")
      try await fixture.reached(.paused, "paused")
      try task("failed").sink.finish(.failed(TaskFailure(code: .insecure, message: "no")))
      try await fixture.reached(.failedPermanent, "failed")
      let bytes: [UInt8] = [2, 3]
      _ = try task("done").sink.receive(bytes.span)
      try task("done").sink.finish(.completed)
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
      let events = engine.handle(of: fixture.url(name)).events()
      return Task { await events.reduce(into: [DownloadEvent]()) { $0.append($1) } }
    }
    try await fixture.running(engine) {
      try await fixture.started(2)
      try task("a").complete()
      try task("b").sink.finish(.failed(TaskFailure(code: .insecure, message: "no")))
      try await fixture.reached(.completed, "a")
      try await fixture.reached(.failedPermanent, "b")
    }
    let heard = [await consumers[0].value, await consumers[1].value]
    #expect(heard[0].map(\.word) == ["started", "completed"])
    #expect(heard[1].map(\.word) == ["started", "failed"])
    #expect(heard[0].allSatisfy { $0.url == fixture.url("a") })
    #expect(heard[1].allSatisfy { $0.url == fixture.url("b") })
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
      // Time for another call to overlap with this one, if there were one.
      for _ in 0..<50 { sched_yield() }
      state.withLock { $0.isInside = false }
    }
    let names = (0..<10).map { "file\($0)" }
    try await fixture.running(engine) {
      for (index, name) in names.enumerated() {
        try fixture.add(name)
        try await fixture.started(index + 1)
        try task(name).complete()
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
    let before = try #require(try await engine.progress(of: url))
    #expect(before.state == .waiting && before.received == 0 && !before.isLive)
    let seen = Mutex<[DownloadProgress]>([])
    let observation = engine.handle(of: url).observe(every: .milliseconds(1)) { progress in
      seen.withLock { $0.append(progress) }
    }
    // Nothing runs yet, and the state of the moment is told all the same.
    try await waitUntil("the first call") { seen.withLock { $0.first?.state } == .waiting }
    try await fixture.running(engine) {
      try await fixture.started(1)
      try task("a").receive([1, 2], of: 3)
      try await waitUntil("the bytes") { seen.withLock { $0.last?.received } == 2 }
      // One answer, from any thread.
      let live = try await Task.detached { try await engine.progress(of: url) }.value
      #expect(live?.received == 2 && live?.expected == 3 && live?.state == .running)
      #expect(live?.isLive == true)
      let byte: [UInt8] = [3]
      _ = try task("a").sink.receive(byte.span)
      try task("a").sink.finish(.completed)
      try await waitUntil("the end") { seen.withLock { $0.last?.state } == .completed }
    }
    let amounts = seen.withLock { $0.map(\.received) }
    #expect(amounts == amounts.sorted() && amounts.last == 3)
    withExtendedLifetime(observation) {}
  }

  @Test(.requirements("FK20"))
  func `an observer receives the speed during the transfer and the error at the end`()
    async throws
  {
    try fixture.add("a")
    let url = fixture.url("a")
    let engine = try fixture.engine()
    let handle = engine.handle(of: url)
    let seen = Mutex<[DownloadProgress]>([])
    let observation = handle.observe(every: .milliseconds(1)) { progress in
      seen.withLock { $0.append(progress) }
    }
    let end = Task { try await handle.value() }
    var sent = 0
    try await fixture.running(engine) {
      try await fixture.started(1)
      try task("a").receive([], of: 1_000_000_000)
      try await waitUntil("a speed") {
        _ = try task("a").sink.receive([UInt8](repeating: 1, count: 1_000).span)
        sent += 1_000
        return seen.withLock { $0.last?.bytesPerSecond ?? 0 } > 0
      }
      let speed = try #require(seen.withLock { $0.last?.bytesPerSecond })
      // No interval that is shorter than 200 ms tells a speed.
      #expect(speed <= Double(sent) / 0.2, "\(speed) of \(sent)")
      try task("a").sink.finish(.failed(TaskFailure(code: .insecure, message: "no trust")))
      try await waitUntil("the end") { seen.withLock { $0.last?.state } == .failedPermanent }
    }
    #expect(seen.withLock { $0.first?.bytesPerSecond } == nil)
    let failure = await #expect(throws: DownloadFailure.self) { try await end.value }
    #expect(failure?.code == .insecure && failure?.message == "no trust")
    let last = try #require(try await engine.progress(of: url))
    #expect(last.state == .failedPermanent && last.received == Int64(sent))
    withExtendedLifetime(observation) {}
  }

  @Test(.requirements("FK23"), arguments: [Duration.milliseconds(60), .milliseconds(300)])
  func `progress is delivered no more often than the requested interval`(
    _ interval: Duration
  ) async throws {
    try fixture.add("a")
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await fixture.started(1)
      try task("a").receive([0], of: 1_000_000)
      // Bytes arrive all the time.
      let feeder = Task { [task = try task("a")] in
        let byte: [UInt8] = [0]
        while !Task.isCancelled {
          _ = task.sink.receive(byte.span)
          await Task.yield()
        }
      }
      var times: [ContinuousClock.Instant] = []
      for await _ in engine.progress(every: interval) {
        times.append(.now)
        if times.count == 4 { break }
      }
      feeder.cancel()
      await feeder.value
      // The first may come at once; a wait may begin a little before the call that it follows.
      let length = times[1].duration(to: times[3])
      #expect(length >= interval * 2 - .milliseconds(20), "\(length)")
    }
  }

  // MARK: Files

  /// Refuses the last step of a download.
  private final class RenameRefusal: FaultInjector {
    func refusal(of effect: Effect) -> Int32? {
      switch effect {
      case .link, .rename: EACCES
      default: nil
      }
    }

    func didPerform(_ effect: Effect) {}
  }

  @Test(.requirements("ZF11"))
  func `a failed rename fails the download with the file system's error`()
    async throws
  {
    try fixture.add("a")
    var environment = EngineEnvironment.live
    environment.faultInjector = RenameRefusal()
    let engine = try DownloadEngine(
      store: store,
      transport: transport,
      options: EngineOptions(),
      now: { Date() },
      environment: environment
    )
    let handle = engine.handle(of: fixture.url("a"))
    async let summary = engine.run(until: .idle)
    try await fixture.started(1)
    try task("a").complete()
    #expect(try await summary == RunSummary(failed: 1))
    let failure = await #expect(throws: DownloadFailure.self) { try await handle.value() }
    #expect(failure?.code == .fileSystem)
    #expect(failure?.message.contains("Permission denied") == true, "\(failure?.message ?? "")")
    #expect(FileIdentity(ofFileAt: try fixture.layout("a").finalPath) == nil)
  }
}

/// Lines of several predecessors, proven with an engine and a server.
@Suite(.timeLimit(.minutes(2)))
struct ServerProofTests {
  private let fixture: EngineFixture

  init() throws {
    fixture = try EngineFixture()
  }

  @Test(.requirements("FK6")) func `commands issued before the engine runs send no request`()
    async throws
  {
    fixture.server.route("/a", Resource(.text("abc")))
    let engine = try fixture.engine()
    let handle = try engine.download(DownloadRequest(url: fixture.server.url("/a")))
    try await engine.resume(.all, immediately: true)
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.record("/a").state == .waiting)
    #expect(try await engine.run(until: .idle) == RunSummary(completed: 1))
    #expect(try await handle.value().record.state == .completed)
    #expect(fixture.server.requests.count == 1)
  }

  @Test(.requirements("FK27"))
  func `a complete file is not requested again, and a replaced one is not trusted`()
    async throws
  {
    let body = Body.generated(byteCount: 10_000, seed: 5)
    fixture.server.route("/a", Resource(body))
    try fixture.add("/a")
    try await fixture.run()
    #expect(fixture.server.requests.count == 1)
    try fixture.add("/a")
    try await fixture.run()
    #expect(fixture.server.requests.count == 1)
    #expect(try fixture.record("/a").state == .completed)
    // Another file of the same size under the name.
    let theirs = Data(repeating: 7, count: 10_000)
    try FileManager.default.removeItem(atPath: fixture.file("a"))
    try theirs.write(to: URL(filePath: fixture.file("a")))
    try fixture.store.restart(.all)
    try await fixture.run()
    #expect(fixture.server.requests.count == 2)
    #expect(try Data(contentsOf: URL(filePath: fixture.file("a"))) == theirs)
    let layout = try fixture.store.roots().layout(of: fixture.record("/a"))
    #expect(layout.finalPath != fixture.file("a"))
    #expect(body.matches(file: layout.finalPath))
  }

  @Test(.requirements("FK36"))
  func `a group has names, checksums, totals and time remaining, and can be purged`() async throws {
    let body = Body.generated(byteCount: 2_000_000, seed: 6)
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: 0, count: Int(body.byteCount)).span)
    let digest = hasher.digest
    var resource = Resource(body)
    // Long enough for a speed to be measured on a busy machine.
    resource.bytesPerSecond = 500_000
    for path in ["/a", "/b"] {
      fixture.server.route(path, resource)
      try fixture.add(path) { request in
        request.filename = "mine\(path.dropFirst())"
        request.digest = digest
        request.tags = ["set"]
      }
    }
    let engine = try fixture.engine()
    let run = Task { try await engine.run(until: .idle) }
    var hasTimeLeft = false
    for try await group in engine.group("set") {
      if let seconds = group.estimate.remaining, group.bytesPerSecond != nil {
        hasTimeLeft = hasTimeLeft || seconds > .zero
      }
      if group.completed == 2 {
        #expect(group.received == 4_000_000 && group.expected == 4_000_000)
        break
      }
    }
    _ = try await run.value
    #expect(hasTimeLeft)
    for name in ["minea", "mineb"] { #expect(body.matches(file: fixture.file(name))) }
    for path in ["/a", "/b"] {
      #expect(try fixture.record(path).verifiedDigest == digest.text)
    }
    let plan = try fixture.store.purgePlan(
      try fixture.store.records(DownloadRecord.all),
      withFiles: true
    )
    #expect(plan.freedBytes == 4_000_000)
    #expect(try fixture.store.purge(plan).keptFiles.isEmpty)
    #expect(try fixture.store.records(DownloadRecord.all).isEmpty)
    #expect(FileIdentity(ofFileAt: fixture.file("minea")) == nil)
  }
}
