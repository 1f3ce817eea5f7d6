import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import Testing

/// A failed sync of a partial file.
///
/// The kernel reports the loss once, marks the pages clean, and lets the next sync succeed.
@Suite(.timeLimit(.minutes(10)))
struct FailedSyncTests {
  /// Refuses one sync of a file, and allows every other effect.
  private final class OneFailedSync: FaultInjector {
    private let code: Int32
    // Accessed by the engine's threads.
    private let syncsBefore: Mutex<Int>

    /// Refuses the sync after `syncsBefore` others, with the error number `code`.
    init(after syncsBefore: Int, _ code: Int32) {
      self.code = code
      self.syncsBefore = Mutex(syncsBefore)
    }

    var hasFailed: Bool { syncsBefore.withLock { $0 < 0 } }

    func refusal(of effect: Effect) -> Int32? {
      guard case .synchronize = effect else { return nil }
      return syncsBefore.withLock { count in
        count -= 1
        return count == -1 ? code : nil
      }
    }

    func didPerform(_ effect: Effect) {}
  }

  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
  }

  /// Creates an engine that checkpoints after every byte.
  private func engine(_ faultInjector: OneFailedSync?) throws -> DownloadEngine {
    var environment = EngineEnvironment.live
    environment.faultInjector = faultInjector
    var options = EngineOptions()
    options.checkpointBytes = 1
    return try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: options,
      now: { Date() },
      environment: environment
    )
  }

  private func partialFile() throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: try fixture.layout("a").partialPath)))
  }

  @Test func `a failed sync ends the transfer and counts none of its bytes`() async throws {
    let faultInjector = OneFailedSync(after: 0, EIO)
    let engine = try engine(faultInjector)
    try await fixture.running(engine) {
      try await fixture.started(1)
      fixture.transport.started[0].receive([1, 2, 3], of: 6)
      try await waitUntil("the task to be cancelled") { fixture.transport.cancelled.count == 1 }
      // No byte that the task still delivers is counted.
      #expect(fixture.transport.started[0].sink.receive(([4, 5, 6] as [UInt8]).span) == .cancel)
      fixture.transport.started[0].sink.finish(.completed)
      try await fixture.reached(.failedPermanent, "a")
    }
    #expect(faultInjector.hasFailed)
    let record = try fixture.record("a")
    #expect(record.received == 0)
    #expect(record.attempts.last?.failure.code == .fileSystem)
    #expect(record.attempts.last?.failure.message.contains("syncing") == true)
  }

  @Test func `after a failed sync a download resumes at the last committed byte`() async throws {
    let faultInjector = OneFailedSync(after: 1, EIO)
    let engine = try engine(faultInjector)
    try await fixture.running(engine) {
      try await fixture.started(1)
      fixture.transport.started[0].receive([1, 2, 3], of: 6)
      try await waitUntil("a checkpoint") { try fixture.record("a").received == 3 }
      _ = fixture.transport.started[0].sink.receive(([4, 5] as [UInt8]).span)
      try await waitUntil("the task to be cancelled") { fixture.transport.cancelled.count == 1 }
      fixture.transport.started[0].sink.finish(.cancelled)
      try await fixture.reached(.failedPermanent, "a")
      #expect(try fixture.record("a").received == 3)
      try fixture.store.apply(.resume(immediately: false), to: .all)
      try await fixture.started(2)
      #expect(fixture.transport.started[1].request.offset == 3)
      // The bytes that may be lost are removed from the file and requested again.
      #expect(try partialFile() == [1, 2, 3])
    }
  }

  @Test(arguments: [ENOSPC, EDQUOT])
  func `a sync that fails because the disk is full makes the download wait for space`(
    code: Int32
  ) async throws {
    let faultInjector = OneFailedSync(after: 0, code)
    let engine = try engine(faultInjector)
    try await fixture.running(engine) {
      try await fixture.started(1)
      fixture.transport.started[0].receive([1, 2, 3], of: 6)
      try await waitUntil("the task to be cancelled") { fixture.transport.cancelled.count == 1 }
      fixture.transport.started[0].sink.finish(.cancelled)
      // Space is available again, so the download resumes by itself.
      try await fixture.started(2)
      #expect(fixture.transport.started[1].request.offset == 0)
    }
    let record = try fixture.record("a")
    #expect(record.received == 0)
    #expect(record.failedAttempts == 0)
    #expect(record.attempts.map(\.failure.code) == [.diskFull])
  }

  @Test func `a digest does not verify a file whose bytes could not be synced`() async throws {
    let url = fixture.url("a")
    let digest = try Digest(
      "sha256:" + "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81"
    )
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.expectedDigest = digest.text }
    }
    let faultInjector = OneFailedSync(after: 0, EIO)
    let engine = try engine(faultInjector)
    try await fixture.running(engine) {
      try await fixture.started(1)
      fixture.transport.started[0].receive([1, 2, 3], of: 3)
      try await waitUntil("the sync to fail") { faultInjector.hasFailed }
      fixture.transport.started[0].sink.finish(.completed)
      try await fixture.reached(.failedPermanent, "a")
    }
    let record = try fixture.record("a")
    #expect(record.verifiedDigest == nil)
    #expect(record.received == 0)
    #expect(FileIdentity(ofFileAt: try fixture.layout("a").finalPath) == nil)
  }
}
