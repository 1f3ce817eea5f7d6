import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import Testing

/// The number of commits that many small files share.
@Suite(.timeLimit(.minutes(10)))
struct SharedCommitTests {
  /// Counts commits on any thread.
  private final class Counter: Sendable {
    private let count = Atomic(0)

    func add() { count.add(1, ordering: .sequentiallyConsistent) }

    var value: Int { count.load(ordering: .sequentiallyConsistent) }
  }

  private let fixture: ManualFixture
  private let commits = Counter()

  init() throws {
    fixture = try ManualFixture()
  }

  private func run(
    _ maximumRunning: Int,
    onEffect: @escaping @Sendable (Effect) -> Void = { _ in },
    _ body: () async throws -> Void
  ) async throws -> EffectHook {
    let hook = EffectHook { [commits] effect in
      if effect == .commit { commits.add() }
      onEffect(effect)
      return nil
    }
    var options = EngineOptions(maximumRunning: maximumRunning, maximumPerHost: 100)
    options.removeTimeLimits()
    options.checkpointInterval = .seconds(3_600)
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options,
      now: { Date() },
      environment: .live(hook)
    )
    try await fixture.running(engine, body)
    return hook
  }

  @Test func `the commit that completes a download starts the next one`() async throws {
    try fixture.add("a", "b", "c")
    _ = try await run(1) {
      for count in 1...3 {
        try await fixture.started(count)
        fixture.transport.started[count - 1].complete()
      }
      try await fixture.reached(.completed, "c")
    }
    // The first start, then for each download `finalizing`, and `completed` with the next start.
    #expect(commits.value == 7)
  }

  @Test func `a download that another process joins at its rename is completed once`()
    async throws
  {
    try fixture.add("a")
    let (id, store) = (try fixture.record("a").id, fixture.store.path)
    let partial = try fixture.layout("a").partialPath
    let registration = Mutex<WaiterRegistration?>(nil)
    let post = Mutex<(@Sendable (EngineEnvironment.Signal) -> Void)?>(nil)
    // The engine takes the signal after the sync, in the turn that renames the file.
    let hook = EffectHook { effect in
      guard effect == .synchronize(path: partial) else { return nil }
      registration.withLock { $0 = try? WaiterRegistration(of: [id], storePath: store) }
      post.withLock { $0?(.ticked) }
      return nil
    }
    var environment = EngineEnvironment.live(hook)
    environment.wake = { _, signal in
      post.withLock { $0 = signal }
      return {}
    }
    var options = EngineOptions()
    options.removeTimeLimits()
    options.checkpointInterval = .seconds(3_600)
    options.scope = [fixture.url("a")]
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options,
      now: { Date() },
      environment: environment
    )
    let events = engine.events()
    let run = Task { try await engine.run(until: .idle) }
    try await fixture.started(1)
    fixture.transport.started[0].complete()
    #expect(try await run.value == RunSummary(completed: 1))
    let ends = await events.reduce(into: 0) { $0 += $1.isEnd ? 1 : 0 }
    #expect(ends == 1 && registration.withLock { $0 != nil })
  }

  @Test func `downloads that end while another file is synced share its commits`() async throws {
    try fixture.add("a", "b", "c")
    let first = try fixture.layout("a").partialPath
    let transport = fixture.transport
    let hook = try await run(3) { [weak transport] effect in
      guard effect == .synchronize(path: first), let transport else { return }
      for task in transport.started where !task.request.url.hasSuffix("/a") { task.complete() }
    } _: {
      try await fixture.started(3)
      let started = fixture.transport.started
      started.first { $0.request.url.hasSuffix("/a") }?.complete()
      for name in ["a", "b", "c"] { try await fixture.reached(.completed, name) }
    }
    // The starts, `finalizing` and `completed`, each for all of them.
    #expect(commits.value == 3)
    let folder = try fixture.layout("a").folderPath
    #expect(hook.performed.count { $0 == .synchronizeFolder(path: folder) } == 1)
  }
}
