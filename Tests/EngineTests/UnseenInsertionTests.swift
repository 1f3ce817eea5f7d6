import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import SystemInterface
import Testing

/// Downloads that an engine has found in the store before it was notified of them, and that are gone
/// when it is: the insertion and the deletion cancel each other out in the store's history.
@Suite(.timeLimit(.minutes(10)))
struct UnseenInsertionTests {
  /// Sends signals to an engine only when the test does.
  private final class Signals: Sendable {
    let post = Mutex<(@Sendable (EngineEnvironment.Signal) -> Void)?>(nil)

    func noteChange() { post.withLock { $0 }?(.storeChanged) }
  }

  private let fixture: ManualFixture
  private let signals = Signals()

  init() throws {
    fixture = try ManualFixture()
  }

  /// Runs an engine that has started the download "a" and was notified of no change.
  private func whileUnnotified(_ body: () async throws -> Void) async throws {
    var environment = EngineEnvironment.live
    environment.wake = { [signals] _, post in
      signals.post.withLock { $0 = post }
      return {}
    }
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: EngineOptions(),
      now: { Date() },
      environment: environment
    )
    // After the engine has noted the end of the history, and before it reads the queue.
    try fixture.add("a")
    try await fixture.running(engine) {
      try await fixture.started(1)
      try await body()
    }
  }

  @Test func `a download that gets another URL is transferred from there`() async throws {
    try await whileUnnotified {
      try fixture.store.replaceURLNow(matching: fixture.url("a"), with: fixture.url("b"))
      signals.noteChange()
      try await waitUntil("the cancel") { fixture.transport.cancelled.count == 1 }
      fixture.transport.started[0].sink.finish(.cancelled)
      try await fixture.started(2)
      #expect(fixture.transport.started[1].request.url == fixture.url("b"))
    }
  }

  @Test func `the transfer of a record that was deleted ends`() async throws {
    try await whileUnnotified {
      try fixture.store.objects.writeNow { tx in
        _ = try tx.delete(DownloadRecord.self, key: fixture.url("a"))
      }
      signals.noteChange()
      try await waitUntil("the cancel") { fixture.transport.cancelled.count == 1 }
    }
  }
}
