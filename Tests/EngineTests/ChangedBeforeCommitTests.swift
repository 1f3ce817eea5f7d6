import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import Testing

/// Records that another process changes between a decision of the engine and its commit.
@Suite(.timeLimit(.minutes(10)))
struct ChangedBeforeCommitTests {
  /// Makes a change before one of the engine's effects.
  private final class Change: Sendable {
    private struct State {
      var isArmed: Bool
      var isDone = false
    }

    private let state: Mutex<State>
    private let isMeant: @Sendable (Effect) -> Bool
    private let change: @Sendable () throws -> Void

    init(
      isArmed: Bool = true,
      before isMeant: @escaping @Sendable (Effect) -> Bool,
      _ change: @escaping @Sendable () throws -> Void
    ) {
      state = Mutex(State(isArmed: isArmed))
      self.isMeant = isMeant
      self.change = change
    }

    var isDone: Bool { state.withLock { $0.isDone } }

    func arm() { state.withLock { $0.isArmed = true } }

    var hook: EffectHook {
      EffectHook { [self] effect in
        guard isMeant(effect), state.withLock({ $0.isArmed && !$0.isDone }) else { return nil }
        state.withLock { $0.isDone = true }
        return (try? change()) == nil ? EIO : nil
      }
    }
  }

  private let fixture: ManualFixture
  private var transport: ManualTransport { fixture.transport }

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  private func engine(_ change: Change) throws -> DownloadEngine {
    var options = EngineOptions()
    options.split.maximumConnections = 1
    options.checkpointInterval = .milliseconds(50)
    options.pieceLength = 10
    options.retry = RetryPolicy(maximumAttempts: 8, base: .seconds(600), cap: .seconds(600))
    return try DownloadEngine(
      store: fixture.store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: .live(change.hook)
    )
  }

  private func update(
    _ change: @escaping @Sendable (inout DownloadRecord) -> Void
  ) -> @Sendable () throws -> Void {
    let (store, url) = (fixture.store, fixture.url("a"))
    return {
      try store.objects.writeNow { tx in _ = try tx.update(DownloadRecord.self, key: url, change) }
    }
  }

  private func apply(_ command: DownloadCommand) -> @Sendable () throws -> Void {
    let (store, url) = (fixture.store, fixture.url("a"))
    return { try store.apply(command, to: .matching(url)) }
  }

  @Test func `a download that is paused before its start is committed does not start`() async throws
  {
    let change = Change(before: { $0 == .commit }, apply(.pause))
    try await fixture.running(try engine(change)) {
      try await waitUntil("the change") { change.isDone }
      try await fixture.settle()
      #expect(transport.started.isEmpty)
      #expect(try fixture.record("a").state == .paused)
    }
  }

  @Test func `a download that is postponed before its start is committed does not start`()
    async throws
  {
    let later = Date().addingTimeInterval(86_400)
    let change = Change(before: { $0 == .commit }, update { $0.notBefore = later })
    try await fixture.running(try engine(change)) {
      try await waitUntil("the change") { change.isDone }
      try await fixture.settle()
      #expect(transport.started.isEmpty)
      #expect(try fixture.record("a").state == .waiting)
    }
  }

  @Test func `a failure is not counted against a download that has been cancelled`() async throws {
    let change = Change(isArmed: false, before: { $0 == .commit }, apply(.cancel))
    try await fixture.running(try engine(change)) {
      try await fixture.started(1)
      change.arm()
      transport.started[0].sink.finish(.failed(DownloadFailure(.connectionLost, "gone")))
      try await fixture.reached(.cancelled, "a")
      #expect(change.isDone)
      #expect(try fixture.record("a").attempts.isEmpty)
    }
  }

  @Test func `digests of a record that was deleted during a checkpoint are not stored`()
    async throws
  {
    let (store, record) = (fixture.store, try fixture.record("a"))
    let change = Change {
      if case .synchronize = $0 { true } else { false }
    } _: {
      try store.objects.writeNow { tx in
        try tx.delete(DownloadRecord.self, key: record.url)
        try tx.deleteDetails(of: record)
      }
    }
    try await fixture.running(try engine(change)) {
      try await fixture.started(1)
      transport.started[0].receive([UInt8](repeating: 7, count: 50), of: 100)
      try await waitUntil("the change") { change.isDone }
      try await waitUntil("the cancel") { !transport.cancelled.isEmpty }
      let count = try await store.objects.read { tx in try tx.count(PieceDigests.all) }
      #expect(count == 0)
    }
  }

  @Test func `bytes that another version replaces before their commit do not count`() async throws {
    let (store, transport) = (fixture.store, transport)
    let isSynced = Mutex(false)
    let change = Change { effect in
      if case .synchronize = effect { isSynced.withLock { $0 = true } }
      return effect == .commit && isSynced.withLock { $0 }
    } _: { [weak transport] in
      let fields = [
        HeaderField(name: "Content-Length", value: "100"),
        HeaderField(name: "ETag", value: "\"2\""),
      ]
      _ = transport?.started[0].sink.receive(ResponseHead(status: 200, fields: fields))
    }
    try await fixture.running(try engine(change)) {
      try await fixture.started(1)
      transport.started[0].receive([UInt8](repeating: 7, count: 50), of: 100)
      try await waitUntil("the change") { change.isDone }
      try await fixture.settle()
      let record = try fixture.record("a")
      #expect(record.received == 0 && record.entityTag == "\"2\"")
      // Those of the first version were computed, too.
      let count = try await store.objects.read { tx in try tx.count(PieceDigests.all) }
      #expect(count == 0 && !record.hasPieceDigests)
    }
  }
}
