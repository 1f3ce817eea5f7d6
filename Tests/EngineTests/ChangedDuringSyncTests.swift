import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import Testing

/// Records that change while the complete file of their download is synced.
@Suite(.timeLimit(.minutes(10)))
struct ChangedDuringSyncTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  /// Completes the download, and makes a change during the first sync of its file.
  ///
  /// - Returns: The effects that the engine performed.
  private func run(
    changing change: @escaping @Sendable () throws -> Void,
    _ body: () async throws -> Void
  ) async throws -> [Effect] {
    let hasChanged = Mutex(false)
    let hook = EffectHook { effect in
      guard case .synchronize = effect else { return nil }
      let isFirst = hasChanged.withLock { hasChanged in
        defer { hasChanged = true }
        return !hasChanged
      }
      guard isFirst else { return nil }
      return (try? change()) == nil ? EIO : nil
    }
    var options = EngineOptions()
    options.checkpointInterval = .seconds(3_600)
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options,
      now: { Date() },
      environment: .live(hook)
    )
    try await fixture.running(engine) {
      try await fixture.started(1)
      fixture.transport.started[0].complete()
      try await waitUntil("the sync") { hasChanged.withLock { $0 } }
      try await body()
    }
    return hook.performed
  }

  @Test func `the file of a download that is cancelled gets no final name`() async throws {
    let layout = try fixture.layout("a")
    let (store, url) = (fixture.store, fixture.url("a"))
    let effects = try await run {
      try store.apply(.cancel, to: .matching(url))
    } _: {
      try await fixture.reached(.cancelled, "a")
    }
    #expect(!effects.contains(.link(from: layout.partialPath, to: layout.finalPath)))
    #expect(FileIdentity(ofFileAt: layout.finalPath) == nil)
    #expect(FileIdentity(ofFileAt: layout.partialPath) == nil)
  }

  @Test func `the file of a record that is deleted is removed`() async throws {
    let layout = try fixture.layout("a")
    let (store, url) = (fixture.store, fixture.url("a"))
    _ = try await run {
      try store.objects.writeNow { tx in _ = try tx.delete(DownloadRecord.self, key: url) }
    } _: {
      try await waitUntil("the removal") { FileIdentity(ofFileAt: layout.partialPath) == nil }
    }
    #expect(FileIdentity(ofFileAt: layout.finalPath) == nil)
  }
}
