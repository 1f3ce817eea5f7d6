import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import Testing

/// A download that is paused while its complete file is renamed.
///
/// The rename needs no network, so the next engine performs it. If it fails, the download stays
/// paused.
@Suite(.timeLimit(.minutes(10)))
struct PausedRenameTests {
  private let fixture: ManualFixture

  /// Leaves the store as a kill does after the rename was logged and the download was paused.
  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
    try fixture.change("a", partial: 100) { _ in }
    let fileIdentity = FileIdentity(ofFileAt: try fixture.layout("a").partialPath)
    try fixture.change("a") { record in
      record.state = .finalizing
      record.received = 100
      record.expected = 100
      record.fileIdentity = fileIdentity
    }
    try fixture.store.apply(.pause, to: .all)
  }

  private func engine(_ faultInjector: EffectHook) throws -> DownloadEngine {
    try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: EngineOptions(),
      now: { Date() },
      environment: .live(faultInjector)
    )
  }

  /// Runs an engine whose renames fail, and returns the events except those of commands.
  private func run(failingWith code: Int32) async throws -> [DownloadEvent] {
    let engine = try engine(
      EffectHook { effect in
        switch effect {
        case .link, .rename: code
        default: nil
        }
      }
    )
    let events = engine.events()
    let summary = try await engine.run(until: .idle)
    #expect(summary == RunSummary())
    return await events.reduce(into: []) { $0.append($1) }
  }

  @Test func `a paused download whose file is complete is renamed`() async throws {
    let summary = try await engine(EffectHook()).run(until: .idle)
    #expect(summary == RunSummary(completed: 1))
    #expect(try fixture.record("a").state == .completed)
  }

  @Test func `a paused download stays paused when its file differs from the verified one`()
    async throws
  {
    // The size is the same, and the modification time differs.
    let path = try fixture.layout("a").partialPath
    try FileManager.default.removeItem(atPath: path)
    try Data(repeating: 8, count: 100).write(to: URL(filePath: path))
    let hourAgo = Date(timeIntervalSinceNow: -3_600)
    try FileManager.default.setAttributes([.modificationDate: hourAgo], ofItemAtPath: path)
    let summary = try await engine(EffectHook()).run(until: .idle)
    #expect(summary == RunSummary())
    let record = try fixture.record("a")
    #expect(record.state == .paused)
    #expect(record.intent == .pause)
    #expect(record.attempts.isEmpty)
  }

  @Test func `a paused download stays paused when the machine is short of resources`() async throws
  {
    let events = try await run(failingWith: EMFILE)
    let record = try fixture.record("a")
    #expect(record.state == .paused)
    #expect(record.attempts.isEmpty)
    #expect(events.map(\.word) == ["released"])
  }

  @Test func `a paused download stays paused when a failed rename may succeed later`() async throws
  {
    let events = try await run(failingWith: ESTALE)
    let record = try fixture.record("a")
    #expect(record.state == .paused)
    #expect(record.nextRetryAt == nil)
    #expect(record.attempts.map(\.failure.code) == [.fileUnavailable])
    #expect(events.map(\.word) == ["released"])
    // Once resumed, it needs no network.
    try fixture.store.apply(.resume(immediately: false), to: .all)
    let summary = try await engine(EffectHook()).run(until: .idle)
    #expect(summary == RunSummary(completed: 1))
    #expect(fixture.transport.started.isEmpty)
  }
}
