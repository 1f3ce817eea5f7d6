import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import TestSupport
import Testing

/// Finished files with the modification time of their servers.
@Suite(.timeLimit(.minutes(10)))
struct ServerTimeTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let url = "https://example.com/a"
  /// 2020-02-02 02:02:02 UTC.
  private let time = Date(timeIntervalSince1970: 1_580_608_922)
  private static let text = "Sun, 02 Feb 2020 02:02:02 GMT"

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: url)])
  }

  private var record: DownloadRecord { get throws { try store.record(matching: url) } }
  private func layout() throws -> FileLayout { try store.roots().layout(of: try record) }

  private func engine(
    lastModified: String? = text,
    ofSize byteCount: Int64 = 1_000,
    setsServerTime: Bool = true,
    _ hook: EffectHook = EffectHook()
  ) throws -> DownloadEngine {
    let transport = SimulatedTransport()
    var resource = SimulatedResource(
      SimulatedBody(seed: 1, byteCount: byteCount),
      entityTag: "\"1\""
    )
    resource.lastModified = lastModified
    transport.serve(resource, at: url)
    var options = EngineOptions()
    options.setsServerTime = setsServerTime
    options.checkpointBytes = 1 << 20
    return try DownloadEngine(
      store: store,
      transport: transport,
      options: options,
      now: { Date() },
      environment: .live(hook)
    )
  }

  /// Expects that the finished file has a time, and is the one that the record knows.
  private func expectFinished(at time: Date) throws {
    let identity = try #require(FileIdentity(ofFileAt: try layout().finalPath))
    #expect(identity.modificationDate == time)
    #expect(try record.state == .completed && record.fileIdentity == identity)
    #expect(FileIdentity(ofFileAt: try layout().partialPath) == nil)
  }

  @Test func `a finished file has the time that the server states, and its record knows it`()
    async throws
  {
    let hook = EffectHook()
    _ = try await engine(hook).run(until: .idle)
    try expectFinished(at: time)
    let partial = try layout().partialPath
    let syncs = hook.performed.filter { $0 == .synchronize(path: partial) }
    #expect(syncs.count >= 2, "the time is synced after it is set")
    // The server's 304, and a reconciliation, find the file that the record knows.
    try store.apply(.refresh, to: .matching(url))
    let summary = try await engine().run(until: .idle)
    #expect(summary.unchanged == 1 && summary.completed == 0)
    try expectFinished(at: time)
  }

  @Test func `without the option a finished file has the time of its last byte`() async throws {
    let start = Date()
    _ = try await engine(setsServerTime: false).run(until: .idle)
    let identity = try #require(FileIdentity(ofFileAt: try layout().finalPath))
    #expect(identity.modificationDate > start.addingTimeInterval(-60))
    #expect(try record.fileIdentity == identity)
  }

  @Test(arguments: [
    nil, "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 01 Feb 1969 00:00:00 GMT",
    "Fri, 01 Jan 2100 00:00:00 GMT",
  ])
  func `a date that says nothing about the file is not set`(_ lastModified: String?) async throws {
    let start = Date()
    _ = try await engine(lastModified: lastModified).run(until: .idle)
    let identity = try #require(FileIdentity(ofFileAt: try layout().finalPath))
    #expect(identity.modificationDate > start.addingTimeInterval(-60))
    #expect(identity.modificationDate < Date().addingTimeInterval(60))
    #expect(try record.state == .completed && record.fileIdentity == identity)
  }

  @Test(arguments: [1_000, 5 << 20])
  func `a kill after the time was set, and before the rename is logged, loses no file`(
    _ byteCount: Int64
  ) async throws {
    let partial = try layout().partialPath
    let time = time
    // All later changes fail, as if the process were gone.
    let hook = EffectHook { _ in
      FileIdentity(ofFileAt: partial)?.modificationDate == time ? EIO : nil
    }
    await #expect(throws: (any Error).self) {
      _ = try await engine(ofSize: byteCount, hook).run(until: .idle)
    }
    #expect(FileIdentity(ofFileAt: partial)?.modificationDate == time)
    #expect(try record.state != .completed)
    _ = try await engine(ofSize: byteCount).run(until: .idle)
    try expectFinished(at: time)
    let body = SimulatedBody(seed: 1, byteCount: byteCount)
    let bytes = try Data(contentsOf: URL(filePath: try layout().finalPath))
    #expect(Int64(bytes.count) == byteCount && body.matches(bytes))
  }

  @Test func `a kill after the rename is logged keeps the time`() async throws {
    let partial = try layout().partialPath
    let hook = EffectHook { effect in
      if case .link(from: partial, to: _) = effect { return EIO }
      if case .rename(from: partial, to: _) = effect { return EIO }
      return nil
    }
    let engine = try engine(hook)
    let run = Task { try await engine.run(until: .stopped) }
    try await waitUntil("the rename to fail") { try !record.attempts.isEmpty }
    engine.stop()
    _ = try await run.value
    try store.apply(.resume(immediately: false), to: .all)
    _ = try await self.engine(setsServerTime: false).run(until: .idle)
    try expectFinished(at: time)
  }
}
