import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

/// Late events of the network and the disk, and the order of commits.
@Suite(.timeLimit(.minutes(10)))
struct LateEventTests {
  private let fixture: ManualFixture
  private var store: RecordStore { fixture.store }
  private var transport: ManualTransport { fixture.transport }

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  /// Stores the first 40 of 100 bytes.
  private func interrupt() throws {
    try fixture.change("a", partial: 40) {
      $0.received = 40
      $0.resolvedBytes = 40
      $0.expected = 100
      $0.entityTag = "\"old\""
    }
  }

  private func engine(_ faultInjector: EffectHook) throws -> DownloadEngine {
    var options = EngineOptions()
    options.checkpointInterval = .milliseconds(50)
    return try DownloadEngine(
      store: store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: .live(faultInjector)
    )
  }

  private func head(_ status: Int, _ fields: [String: String]) -> ResponseHead {
    ResponseHead(
      status: status,
      fields: fields.map { HeaderField(name: $0.key, value: $0.value) }
    )
  }

  // MARK: Another entity

  @Test func `a new entity without an entity tag is resumed by its date`() async throws {
    try interrupt()
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let first = transport.started[0]
      #expect(first.request.offset == 40 && first.request.validator == "\"old\"")
      let date = "Mon, 01 Jan 2024 00:00:00 GMT"
      _ = first.sink.receive(head(200, ["Content-Length": "50", "Last-Modified": date]))
      _ = first.sink.receive([UInt8](repeating: 8, count: 20).span)
      first.sink.finish(.failed(DownloadFailure(.connectionLost, "gone")))
      try await fixture.started(2)
      let second = transport.started[1].request
      #expect(second.offset == 20 && second.validator == date)
    }
  }

  @Test func `a response that discards the stored bytes counts as a failed attempt`() async throws {
    try interrupt()
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let first = transport.started[0]
      #expect(first.sink.receive(head(416, ["Content-Range": "bytes */30"])) == .cancel)
      first.sink.finish(.cancelled)
      try await fixture.started(2)
      #expect(transport.started[1].request.offset == 0)
      let record = try fixture.record("a")
      #expect(record.failedAttempts == 1 && record.attempts.count == 1)
    }
  }

  @Test func `the partial file keeps its bytes until their loss is committed`() async throws {
    try interrupt()
    let refuses = Mutex(false)
    let faultInjector = EffectHook { effect in
      refuses.withLock { $0 && effect == .commit } ? 5 : nil
    }
    try await fixture.running(try engine(faultInjector)) {
      try await fixture.started(1)
      refuses.withLock { $0 = true }
      let first = transport.started[0]
      #expect(first.sink.receive(head(200, ["Content-Length": "50"])) == .cancel)
      refuses.withLock { $0 = false }
      let path = try fixture.layout("a").partialPath
      #expect(try Data(contentsOf: URL(filePath: path)) == Data(repeating: 7, count: 40))
      #expect(try fixture.record("a").received == 40)
      first.sink.finish(.cancelled)
    }
  }

  @Test func `bytes held by the transport count from the resumed offset`() async throws {
    try interrupt()
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await fixture.started(1)
      transport.started[0].sink.report(held: 10, of: 60)
      let progress = try await engine.currentProgress(ofURL: fixture.url("a"))
      #expect(progress?.received == 50 && progress?.expected == 100)
    }
  }

  // MARK: Another generation

  @Test func `a failure reported after a restart does not count against the restarted download`()
    async throws
  {
    let (store, url) = (store, fixture.url("a"))
    let hasRestarted = Mutex(false)
    let faultInjector = EffectHook { effect in
      guard case .synchronize = effect else { return nil }
      return hasRestarted.withLock { hasRestarted in
        guard !hasRestarted else { return nil }
        hasRestarted = true
        // The engine is about to commit that the file cannot be synced.
        return (try? store.apply(.restart, to: .matching(url))) == nil ? 1 : 5
      }
    }
    try await fixture.running(try engine(faultInjector)) {
      try await fixture.started(1)
      transport.started[0].complete()
      try await fixture.started(2)
      let record = try fixture.record("a")
      #expect(record.attempts.isEmpty && record.failedAttempts == 0)
      transport.started[1].complete()
      try await fixture.reached(.completed, "a")
    }
  }

  /// Restarts the record once, during a sync of its file.
  private func restartDuringSync() -> EffectHook {
    let (store, url) = (store, fixture.url("a"))
    let hasRestarted = Mutex(false)
    return EffectHook { effect in
      guard case .synchronize = effect else { return nil }
      let isFirst = hasRestarted.withLock { hasRestarted in
        defer { hasRestarted = true }
        return !hasRestarted
      }
      if isFirst { _ = try? store.apply(.restart, to: .matching(url)) }
      return nil
    }
  }

  @Test func `a restart during the final sync begins at the first byte`() async throws {
    try await fixture.running(try engine(restartDuringSync())) {
      try await fixture.started(1)
      transport.started[0].complete()
      try await fixture.started(2)
      #expect(transport.started[1].request.offset == 0)
      #expect(try fixture.record("a").state == .running)
      transport.started[1].complete()
      try await fixture.reached(.completed, "a")
    }
  }

  @Test func `a restart during a checkpoint begins at the first byte`() async throws {
    try await fixture.running(try engine(restartDuringSync())) {
      try await fixture.started(1)
      transport.started[0].receive([UInt8](repeating: 7, count: 40), of: 100)
      try await waitUntil("the cancel") { !transport.cancelled.isEmpty }
      transport.started[0].sink.finish(.cancelled)
      try await fixture.started(2)
      #expect(transport.started[1].request.offset == 0)
      #expect(try fixture.record("a").received == 0)
    }
  }

  @Test func `a restart cancels the running transfer`() async throws {
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let first = transport.started[0]
      first.receive([UInt8](repeating: 7, count: 40), of: 100)
      try store.apply(.restart, to: .matching(fixture.url("a")))
      try await waitUntil("the cancel") { !transport.cancelled.isEmpty }
      first.sink.finish(.cancelled)
      try await fixture.started(2)
      #expect(transport.started[1].request.offset == 0)
    }
  }

  @Test func `a cancel while a launch completes a file is not undone`() async throws {
    let layout = try fixture.layout("a")
    try fixture.change("a", partial: 3) { $0.received = 3 }
    try FileManager.default.moveItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let fileIdentity = FileIdentity(ofFileAt: layout.finalPath)
    try fixture.change("a") {
      $0.state = .finalizing
      $0.expected = 3
      $0.fileIdentity = fileIdentity
    }
    let (store, url) = (store, fixture.url("a"))
    let faultInjector = EffectHook { effect in
      if case .synchronizeFolder = effect, (try? store.record(matching: url).state) == .finalizing {
        _ = try? store.apply(.cancel, to: .matching(url))
      }
      return nil
    }
    try await fixture.running(try engine(faultInjector)) {
      try await fixture.reached(.cancelled, "a")
    }
  }

  @Test func `a cancel during the final rename is not undone`() async throws {
    let (store, url) = (store, fixture.url("a"))
    let faultInjector = EffectHook { effect in
      if case .synchronizeFolder = effect, (try? store.record(matching: url).state) == .finalizing {
        _ = try? store.apply(.cancel, to: .matching(url))
      }
      return nil
    }
    let engine = try engine(faultInjector)
    let events = engine.events()
    try await fixture.running(engine) {
      try await fixture.started(1)
      transport.started[0].complete()
      try await fixture.reached(.cancelled, "a")
    }
    let words = await events.reduce(into: []) { $0.append($1.word) }
    #expect(!words.contains("completed"))
  }

  @Test func `a URL that is changed and changed back ends the running transfer`() async throws {
    let (old, new) = (fixture.url("a"), fixture.url("b"))
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let first = transport.started[0]
      first.receive([UInt8](repeating: 7, count: 40), of: 100)
      try store.replaceURLNow(matching: old, with: new)
      try store.replaceURLNow(matching: new, with: old)
      try await waitUntil("the cancel") { !transport.cancelled.isEmpty }
      first.sink.finish(.cancelled)
      try await fixture.started(2)
    }
  }

  // MARK: The order of writes

  @Test func `bytes are synced before they are counted`() async throws {
    let path = try fixture.layout("a").partialPath
    let (store, url) = (store, fixture.url("a"))
    let syncs = Mutex(0)
    let early = Mutex(false)
    let faultInjector = EffectHook { effect in
      if case .synchronize(path) = effect { syncs.withLock { $0 += 1 } }
      if let received = try? store.record(matching: url).received, received > 0,
        syncs.withLock({ $0 }) == 0
      {
        early.withLock { $0 = true }
      }
      return nil
    }
    try await fixture.running(try engine(faultInjector)) {
      try await fixture.started(1)
      transport.started[0].receive([UInt8](repeating: 7, count: 40), of: 100)
      try await waitUntil("a checkpoint") { try fixture.record("a").received == 40 }
      #expect(faultInjector.performed.contains(.synchronize(path: path)))
      #expect(!early.withLock { $0 })
    }
  }

  @Test func `the finalizing state is committed before the rename`() async throws {
    let (store, url) = (store, fixture.url("a"))
    let seen = Mutex<[Bool]>([])
    let faultInjector = EffectHook { effect in
      guard case .link(let partial, _) = effect else { return nil }
      let record = try? store.record(matching: url)
      let fileIdentity = FileIdentity(ofFileAt: partial)
      let isKnown =
        record?.state == .finalizing && fileIdentity != nil && record?.fileIdentity == fileIdentity
      seen.withLock { $0.append(isKnown) }
      return nil
    }
    try await fixture.running(try engine(faultInjector)) {
      try await fixture.started(1)
      transport.started[0].complete()
      try await fixture.reached(.completed, "a")
    }
    #expect(seen.withLock { $0 } == [true])
  }

  @Test func `a start is committed before its request is sent`() async throws {
    let generation = try fixture.record("a").generation
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let record = try fixture.record("a")
      #expect(record.state == .running && record.generation == generation + 1)
    }
  }
}
