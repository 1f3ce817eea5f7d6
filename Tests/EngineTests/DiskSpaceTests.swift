import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import Testing

/// Downloads on a full disk on which space becomes available again.
@Suite(.timeLimit(.minutes(10)))
struct DiskSpaceTests {
  private let fixture: ManualFixture
  /// The available space that a volume reports, and the number of queries.
  private let disk = Disk()

  private final class Disk: Sendable {
    private let state = Mutex((available: Int64.max, looks: 0))

    var looks: Int { state.withLock { $0.looks } }

    func set(_ available: Int64) {
      state.withLock { $0.available = available }
    }

    func look() -> Int64 {
      state.withLock { state in
        state.looks += 1
        return state.available
      }
    }
  }

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  private func engine(
    _ faultInjector: EffectHook,
    _ preallocation: Preallocation = .none,
    interval: Duration = .milliseconds(20)
  ) throws -> DownloadEngine {
    var options = EngineOptions()
    options.preallocation = preallocation
    options.diskSpaceInterval = interval
    var environment = EngineEnvironment.live(faultInjector)
    environment.availableBytes = { [disk] _ in disk.look() }
    return try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options,
      now: { Date() },
      environment: environment
    )
  }

  /// Fails the first opens of partial files because the disk is full.
  private func full(times: Int) -> EffectHook {
    let opened = Mutex(0)
    return EffectHook { effect in
      guard case .open = effect else { return nil }
      return opened.withLock { opened in
        opened += 1
        return opened <= times ? ENOSPC : nil
      }
    }
  }

  @Test func `a disk that stays full is logged once and costs no attempt`() async throws {
    try await fixture.running(try engine(full(times: 3))) {
      try await fixture.started(1)
      let record = try fixture.record("a")
      #expect(record.attempts.map(\.failure.code) == [.diskFull])
      #expect(record.failedAttempts == 0)
    }
  }

  @Test func `a disk without space for the whole file is found before the first byte`() async throws
  {
    let reserved = Mutex<[Int64]>([])
    let faultInjector = EffectHook { effect in
      guard case .reserve(_, let size) = effect else { return nil }
      return reserved.withLock { sizes in
        sizes.append(size)
        return sizes.count == 1 ? ENOSPC : nil
      }
    }
    try await fixture.running(try engine(faultInjector, .full)) {
      try await fixture.started(1)
      let first = fixture.transport.started[0].sink
      let length = HeaderField(name: "Content-Length", value: "3")
      #expect(first.receive(ResponseHead(status: 200, fields: [length])) == .cancel)
      first.finish(.cancelled)
      try await fixture.started(2)
      fixture.transport.started[1].complete()
      try await fixture.reached(.completed, "a")
    }
    let record = try fixture.record("a")
    #expect(record.attempts.map(\.failure.code) == [.diskFull] && record.failedAttempts == 0)
    #expect(reserved.withLock { $0 } == [3, 3])
  }

  @Test func `a download that a full disk stops reports that it waits, and no other end`()
    async throws
  {
    try fixture.add("b")
    disk.set(0)
    let faultInjector = EffectHook { effect in
      guard case .reserve = effect else { return nil }
      return ENOSPC
    }
    let engine = try engine(faultInjector, .full)
    let events = engine.events()
    try await fixture.running(engine) {
      try await fixture.started(2)
      let started = fixture.transport.started
      let full = try #require(started.first { $0.request.url == fixture.url("a") })
      let length = HeaderField(name: "Content-Length", value: "3")
      #expect(full.sink.receive(ResponseHead(status: 200, fields: [length])) == .cancel)
      full.sink.finish(.cancelled)
      let other = try #require(started.first { $0.request.url == fixture.url("b") })
      try await waitUntil("b is stopped") { fixture.transport.cancelled.count == 1 }
      other.sink.finish(.cancelled)
      try await fixture.reached(.waiting, "b")
    }
    let ends = await events.reduce(into: [String: String]()) { ends, event in
      switch event {
      case .waitingForDiskSpace(let record): ends[record.url] = "waits"
      case .released(let url): ends[url] = "released"
      default: break
      }
    }
    #expect(ends == [fixture.url("a"): "waits", fixture.url("b"): "waits"])
  }

  @Test func `a file larger than the free space leaves the disk to the others`() async throws {
    try fixture.add("b")
    disk.set(4 << 20)
    let faultInjector = EffectHook { effect in
      guard case .reserve(_, 6 << 20) = effect else { return nil }
      return ENOSPC
    }
    try await fixture.running(try engine(faultInjector, .full)) {
      try await fixture.started(2)
      let started = fixture.transport.started
      let large = try #require(started.first { $0.request.url == fixture.url("a") })
      let other = try #require(started.first { $0.request.url == fixture.url("b") })
      let length = HeaderField(name: "Content-Length", value: "\(6 << 20)")
      #expect(large.sink.receive(ResponseHead(status: 200, fields: [length])) == .cancel)
      large.sink.finish(.cancelled)
      try await waitUntil("some queries") { disk.looks > 5 }
      #expect(fixture.transport.cancelled.isEmpty && fixture.transport.started.count == 2)
      other.complete()
      try await fixture.reached(.completed, "b")
      disk.set(20 << 20)
      try await fixture.started(3)
      #expect(fixture.transport.started[2].request.url == fixture.url("a"))
    }
  }

  @Test func `a download waits until the disk has space for its remaining bytes`() async throws {
    try fixture.change("a") { $0.expected = 10 << 20 }
    disk.set(3 << 20)
    try await fixture.running(try engine(full(times: 1))) {
      // This is enough to try a download of unknown size, but not this one.
      try await waitUntil("some queries") { disk.looks > 5 }
      #expect(fixture.transport.started.isEmpty)
      disk.set(20 << 20)
      try await fixture.started(1)
    }
  }

  @Test func `a quota that the free space does not show is met once, and ends a run`()
    async throws
  {
    let size: Int64 = 6 << 20
    let received: Int64 = 5 << 20
    try fixture.change("a", partial: Int(received)) {
      $0.checkpoint(
        ByteRanges(upTo: received),
        total: size,
        entityTag: "\"1\"",
        lastModified: nil,
        at: Date()
      )
    }
    // Enough for the missing bytes, but not for the whole file.
    disk.set(4 << 20)
    let faultInjector = EffectHook { effect in if case .write = effect { EDQUOT } else { nil } }
    let engine = try engine(faultInjector, interval: .seconds(100_000))
    let hasEnded = Mutex(false)
    let run = Task {
      defer { hasEnded.withLock { $0 = true } }
      return try await engine.run(until: .idle)
    }
    try await fixture.started(1)
    let first = fixture.transport.started[0]
    #expect(first.request.offset == received)
    let range = HeaderField(
      name: "Content-Range",
      value: "bytes \(received)-\(size - 1)/\(size)"
    )
    let tag = HeaderField(name: "ETag", value: "\"1\"")
    #expect(first.sink.receive(ResponseHead(status: 206, fields: [range, tag])) == .proceed)
    #expect(first.sink.receive(([1] as [UInt8]).span) == .cancel)
    first.sink.finish(.cancelled)
    try await waitUntil("the end or another start") {
      hasEnded.withLock { $0 } || fixture.transport.started.count > 1
    }
    fixture.transport.endCancelled()
    engine.stop()
    let error = await #expect(throws: EngineError.self) { try await run.value }
    #expect(error?.code == .diskFull)
    #expect(fixture.transport.started.count == 1)
    let record = try fixture.record("a")
    #expect(record.received == received && record.failedAttempts == 0)
  }

  @Test func `a full disk does not interrupt the check of a complete file`() async throws {
    try fixture.store.apply(.pause, to: .matching(fixture.url("a")))
    var hasher = DigestHasher(.sha256)
    hasher.update(([1, 2, 3] as [UInt8]).span)
    var request = DownloadRequest(url: fixture.url("checked"))
    request.digest = hasher.digest
    try fixture.store.addNow([request])
    let isFull = Mutex(false)
    let faultInjector = EffectHook { effect in
      if case .open = effect, isFull.withLock({ $0 }) { ENOSPC } else { nil }
    }
    let works = Mutex<[@Sendable () -> Void]>([])
    var environment = EngineEnvironment.live(faultInjector)
    environment.startLongWork = { work in works.withLock { $0.append(work) } }
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: EngineOptions(),
      now: { Date() },
      environment: environment
    )
    try await fixture.running(engine) {
      try await fixture.started(1)
      fixture.transport.started[0].complete()
      try await waitUntil("the check") { works.withLock { $0.count } == 1 }
      isFull.withLock { $0 = true }
      try fixture.store.apply(.resume(immediately: false), to: .matching(fixture.url("a")))
      try await waitUntil("the full disk") { try !fixture.record("a").attempts.isEmpty }
      #expect(try fixture.record("checked").state == .running)
      isFull.withLock { $0 = false }
      for work in works.withLock({ $0 }) { EngineEnvironment.live.startLongWork(work) }
      try await fixture.reached(.completed, "checked")
    }
  }

  @Test func `a download paused before it ran out of disk space stays paused`() async throws {
    let (store, url) = (fixture.store, fixture.url("a"))
    let faultInjector = EffectHook { effect in
      switch effect {
      case .link, .rename:
        _ = try? store.apply(.pause, to: .matching(url))
        return ENOSPC
      default: return nil
      }
    }
    let engine = try engine(faultInjector)
    let events = engine.events()
    try await fixture.running(engine) {
      try await fixture.started(1)
      fixture.transport.started[0].complete()
      try await fixture.reached(.paused, "a")
    }
    #expect(try fixture.record("a").received == 3)
    let states = await events.reduce(into: [DownloadState]()) { states, event in
      if case .waitingForDiskSpace(let record) = event { states.append(record.state) }
    }
    #expect(states == [.paused])
  }
}
