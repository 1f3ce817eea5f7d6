import Dispatch
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import Testing

@testable import DownloadStore
@testable import DownloadSync

/// Keeps work until it is released, and counts it.
private final class HeldWork: Sendable {
  private struct State {
    var works: [@Sendable () -> Void] = []
    var count = 0
    var isReleased = false
  }

  private let state = Mutex(State())

  /// The number of works that were added.
  var count: Int { state.withLock { $0.count } }

  func add(_ work: @escaping @Sendable () -> Void) {
    let runs = state.withLock { state in
      state.count += 1
      if !state.isReleased { state.works.append(work) }
      return state.isReleased
    }
    if runs { EngineEnvironment.live.startLongWork(work) }
  }

  /// Runs the kept works, and from now on all works when they are added.
  func release() {
    let works = state.withLock { state in
      state.isReleased = true
      return state.works
    }
    for work in works { work() }
  }
}

/// Holds the commits of an engine while it is closed.
private final class CommitGate: Sendable {
  private struct State {
    var isClosed = false
    var isHeld = false
  }

  private let state = Mutex(State())
  private let opened = DispatchSemaphore(value: 0)

  var isHeld: Bool { state.withLock { $0.isHeld } }

  var hook: EffectHook {
    EffectHook { [self] effect in
      guard effect == .commit else { return nil }
      let isHeld = state.withLock { state in
        state.isHeld = state.isClosed
        return state.isHeld
      }
      if isHeld { opened.wait() }
      return nil
    }
  }

  func close() { state.withLock { $0.isClosed = true } }

  /// Lets the commit that is held and all later ones pass.
  func open() {
    state.withLock { $0.isClosed = false }
    opened.signal()
  }
}

private func inbox(of engine: isolated DownloadEngine) -> EngineInbox { engine.inbox }

// The reads of changed partial files, which are long work.

extension ChangedPartialTests {
  /// An engine whose reads of changed partial files wait.
  private func engine(
    holding held: HeldWork,
    _ faultInjector: (any FaultInjector)? = nil,
    queue bounds: QueueBounds = QueueBounds()
  ) throws -> DownloadEngine {
    var environment = EngineEnvironment.live
    environment.faultInjector = faultInjector
    environment.startLongWork = { held.add($0) }
    return try fixture.engine(environment: environment) { options in
      options.pieceLength = Self.length
      options.queueBounds = bounds
    }
  }

  /// Runs an engine until it reads the changed file of an interrupted download.
  private func whileReading(
    _ body: (_ path: String, _ run: Task<RunSummary, any Error>, _ held: HeldWork) async throws
      -> Void
  ) async throws {
    let path = try await interrupt()
    try overwrite(path, at: 150_000)
    try fixture.add("/a")
    let held = HeldWork()
    let engine = try engine(holding: held)
    let run = Task { try await engine.run(until: .idle) }
    do {
      try await waitUntil("the check") { held.count == 1 }
      try await body(path, run, held)
    } catch {
      engine.stop()
      _ = try? await run.value
      throw error
    }
    _ = try await run.value
  }

  @Test func `while a changed partial file is read, other downloads start and complete`()
    async throws
  {
    fixture.server.route("/b", Resource(.generated(byteCount: 1_000, seed: 81)))
    try await whileReading { _, run, held in
      let kept = try wholePieces()
      try fixture.add("/b")
      try await waitUntil("the other one") { try fixture.record("/b").state == .completed }
      #expect(try fixture.record("/a").state == .waiting)
      #expect(fixture.ranges("/a").count == 1)
      held.release()
      #expect(try await run.value.completed == 2)
      #expect(fixture.ranges("/a").dropFirst() == ["bytes=100000-199999", "bytes=\(kept)-1049999"])
    }
    try expectComplete()
  }

  @Test func `a pause ends the check, and the file is read after the download is resumed`()
    async throws
  {
    let url = fixture.server.url("/a")
    let received = Mutex<Int64>(0)
    try await whileReading { _, run, held in
      let before = try fixture.record("/a").received
      received.withLock { $0 = before }
      try await fixture.store.pause(.matching([url]))
      // Nothing is left to do, although the read has not returned.
      #expect(try await run.value == RunSummary())
      held.release()
    }
    let paused = try fixture.record("/a")
    #expect(paused.state == .paused && paused.received == received.withLock { $0 })
    let kept = try wholePieces()
    try await fixture.store.resume(.matching([url]))
    try await run()
    try expectComplete()
    #expect(fixture.ranges("/a").dropFirst() == ["bytes=100000-199999", "bytes=\(kept)-1049999"])
  }

  @Test func `a download that is removed during its check is deleted with its partial file`()
    async throws
  {
    try await whileReading { path, run, held in
      _ = try await fixture.store.remove(.matching([fixture.server.url("/a")]), withFile: true)
      #expect(try await run.value == RunSummary())
      #expect(!FileManager.default.fileExists(atPath: path))
      held.release()
    }
    #expect(try fixture.store.records(DownloadRecord.all).isEmpty)
  }

  @Test func `a restart does not wait for the check`() async throws {
    try await whileReading { _, run, held in
      try await fixture.store.restart(.matching([fixture.server.url("/a")]))
      #expect(try await run.value.completed == 1)
      held.release()
    }
    try expectComplete()
    #expect(fixture.ranges("/a") == [nil, nil])
  }

  @Test(arguments: [false, true])
  func `what was read of a download that has been restarted does not count`(
    isFailing: Bool
  ) async throws {
    let path = try await interrupt()
    try overwrite(path, at: 150_000)
    fixture.server.route("/b", Resource(.generated(byteCount: 1_000, seed: 81)))
    try fixture.add("/a")
    let (held, gate) = (HeldWork(), CommitGate())
    let engine = try engine(holding: held, gate.hook)
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the check") { held.count == 1 }
    gate.close()
    try fixture.add("/b")
    try await waitUntil("the start of the other one") { gate.isHeld }
    // The engine gets the result before it reads the restart from the store.
    let url = fixture.server.url("/a")
    try fixture.store.apply(.restart, to: .matching(url))
    if isFailing {
      let failure = FileReadError(code: ESTALE)
      await inbox(of: engine).post(.partialRead(url: url, number: 1, .failure(failure)))
    } else {
      held.release()
    }
    gate.open()
    #expect(try await run.value == RunSummary(completed: 2))
    try expectComplete()
    #expect(try !fixture.record("/a").attempts.contains { $0.failure.code == .fileUnavailable })
    #expect(fixture.ranges("/a") == [nil, nil])
    held.release()
  }

  @Test func `a change of a download does not repeat the check of its file`() async throws {
    fixture.server.route("/b", Resource(.generated(byteCount: 1_000, seed: 81)))
    try await whileReading { _, run, held in
      try fixture.store.objects.writeNow { tx in
        _ = try tx.update(DownloadRecord.self, key: fixture.server.url("/a")) { $0.priority = 5 }
      }
      // The engine processes the changes of others in the order of commits.
      try fixture.add("/b")
      try await waitUntil("the other one") { try fixture.record("/b").state == .completed }
      #expect(held.count == 1)
      held.release()
      #expect(try await run.value.completed == 2)
    }
    try expectComplete()
  }

  @Test func `a download whose file is read is not taken from the store once more`() async throws {
    let path = try await interrupt()
    try overwrite(path, at: 150_000)
    try fixture.add("/a")
    let held = HeldWork()
    let bounds = QueueBounds(perHost: 1, delayed: 1, page: 1, pagesPerTurn: 1)
    let engine = try engine(holding: held, queue: bounds)
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the check") { held.count == 1 }
    // Behind the downloads that the queue has not read yet, and before the last of them.
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: fixture.server.url("/a")) { $0.priority = -5 }
    }
    let names = ["/b", "/c", "/d", "/e"]
    for name in names {
      fixture.server.route(name, Resource(.generated(byteCount: 1_000, seed: 81)))
      try fixture.add(name) { $0.priority = name == "/e" ? -10 : 0 }
    }
    try await waitUntil("the last one") { try fixture.record("/e").state == .completed }
    #expect(held.count == 1)
    #expect(try fixture.record("/a").state == .waiting)
    held.release()
    #expect(try await run.value.completed == 5)
    try expectComplete()
  }

  @Test func `a file that is changed again before it was read is read again`() async throws {
    let count = Mutex(0)
    try await whileReading { path, run, held in
      try overwrite(path, at: 250_000)
      held.release()
      _ = try await run.value
      count.withLock { $0 = held.count }
    }
    try expectComplete()
    #expect(count.withLock { $0 } == 2)
    #expect(fixture.ranges("/a").dropFirst().first == "bytes=100000-299999")
  }

  @Test func `a stop does not wait for the check, and the next engine repeats it`() async throws {
    let before = Mutex<DownloadRecord?>(nil)
    let path = try await interrupt()
    let kept = try wholePieces()
    try overwrite(path, at: 150_000)
    try fixture.add("/a")
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: fixture.server.url("/a")) { $0.state = .running }
    }
    let held = HeldWork()
    let engine = try engine(holding: held)
    let run = Task { try await engine.run(until: .idle) }
    try await waitUntil("the check") { held.count == 1 }
    let record = try fixture.record("/a")
    before.withLock { $0 = record }
    engine.stop()
    _ = try await run.value
    held.release()
    #expect(record.state == .waiting)
    #expect(try fixture.record("/a") == record)
    #expect(try #require(FileIdentity(ofFileAt: path)).size >= record.received)
    try await self.run()
    try expectComplete()
    #expect(fixture.ranges("/a").dropFirst() == ["bytes=100000-199999", "bytes=\(kept)-1049999"])
  }

  @Test func `reconciling without a run reads a changed file at once`() async throws {
    let path = try await interrupt()
    let kept = try wholePieces()
    try overwrite(path, at: 150_000)
    try fixture.add("/a")
    try await fixture.engine().reconcile()
    #expect(try fixture.record("/a").received == kept - Self.length)
  }
}
