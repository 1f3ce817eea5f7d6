import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import TestSupport
import TestTraits
import Testing

/// Finished files that a simulated background session delivers.
@Suite struct BackgroundDeliveryTests {
  private let fixture: BackgroundFixture

  init() throws {
    fixture = try BackgroundFixture()
  }

  @Test func `a file delivered right before a kill is delivered again at the next launch`()
    async throws
  {
    try fixture.add("a")
    fixture.finish(try fixture.leave(400, as: .running))
    // The app receives the file and is killed before an engine runs.
    #expect(await fixture.session.liveTasks().map(\.isDelivered) == [true])
    fixture.session.crash()
    try await fixture.running(try fixture.engine()) { try await fixture.reached(.completed) }
    #expect(fixture.session.network.requests.count == 1)
    #expect(fixture.body.matches(try fixture.file()))
    #expect(fixture.session.keptDeliveries.isEmpty)
    #expect(try fixture.record().attempts.isEmpty)
  }

  @Test func `a delivered file half read before a kill is read again from its first byte`()
    async throws
  {
    try fixture.add("a")
    fixture.finish(try fixture.leave(400, as: .running))
    _ = await fixture.session.liveTasks()
    fixture.session.crash()
    let layout = try fixture.store.roots().layout(of: try fixture.record())
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    try Data(fixture.body[0..<300]).write(to: URL(filePath: layout.partialPath))
    try fixture.store.objects.writeNow { [url = fixture.url("a")] tx in
      _ = try tx.update(DownloadRecord.self, key: url) { record in
        record.received = 300
        record.expected = 1_000
        record.entityTag = "\"1\""
      }
    }
    // The record counts no bytes when the file is rewritten from the start.
    let counted = Mutex<[Int64?]>([])
    let (store, url) = (fixture.store, fixture.url("a"))
    let engine = try DownloadEngine(
      store: store,
      transport: fixture.session,
      options: EngineOptions(),
      now: { Date() },
      environment: .live(
        EffectHook { effect in
          guard case .open = effect else { return nil }
          let received = try? store.record(matching: url).received
          counted.withLock { $0.append(received) }
          return nil
        }
      )
    )
    try await fixture.running(engine) { try await fixture.reached(.completed) }
    #expect(counted.withLock { $0 } == [0])
    #expect(fixture.session.network.requests.count == 1)
    #expect(fixture.body.matches(try fixture.file()))
    #expect(fixture.session.keptDeliveries.isEmpty)
  }

  @Test func `a delivered file whose record is deleted or completed is deleted`() async throws {
    try fixture.add("a", "b")
    for name in ["a", "b"] { fixture.finish(try fixture.leave(400, name, as: .running)) }
    _ = await fixture.session.liveTasks()
    fixture.session.crash()
    let (gone, complete) = (fixture.url("a"), fixture.url("b"))
    try fixture.store.objects.writeNow { tx in
      try tx.delete(DownloadRecord.self, key: gone)
      _ = try tx.update(DownloadRecord.self, key: complete) { record in
        record.state = .completed
        record.received = 1_000
        record.completedAt = record.createdAt
      }
    }
    try await fixture.running(try fixture.engine()) {
      try await waitUntil("the bodies to be deleted") { fixture.session.keptDeliveries.isEmpty }
    }
    #expect(fixture.session.network.requests.count == 2)
  }
}
