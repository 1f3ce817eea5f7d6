import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Records whose root the store does not have.
@Suite(.timeLimit(.minutes(10)))
struct UnknownRootTests {
  private let folder: TemporaryFolder
  private let store: RecordStore

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  private func url(_ name: String) -> String { "https://example.com/\(name)" }

  private func add(
    _ name: String,
    _ change: @escaping @Sendable (inout DownloadRecord) -> Void
  )
    throws
  {
    var request = DownloadRequest(url: url(name))
    request.isPaused = true
    _ = try store.addNow([request])
    try self.change(name) { record in
      (record.state, record.intent, record.root) = (.waiting, .run, "gone")
      change(&record)
    }
  }

  private func change(
    _ name: String,
    _ change: @escaping @Sendable (inout DownloadRecord) -> Void
  )
    throws
  {
    try store.objects.writeNow { [url = url(name)] tx in
      _ = try tx.update(DownloadRecord.self, key: url, change)
    }
  }

  /// Adds a record for each state that an engine handles.
  private func addAll() throws {
    try add("waiting") { $0.received = 5 }
    try add("running") { ($0.state, $0.received) = (.running, 5) }
    try add("finalizing") { $0.state = .finalizing }
    try add("retryable") { $0.state = .failedRetryable }
    try add("paused") { ($0.state, $0.intent) = (.paused, .pause) }
    try add("cancelled") { $0.intent = .cancel }
    try add("removed") { $0.intent = .remove }
  }

  private func state(_ name: String) throws -> DownloadState? {
    try store.objects.read { tx in try tx.find(DownloadRecord.self, key: url(name)) }?.state
  }

  @Test(arguments: [false, true])
  func `a download fails alone, keeps its bytes, and can be given up`(
    isReconciled: Bool
  )
    async throws
  {
    try addAll()
    let engine = try DownloadEngine(store: store, transport: ManualTransport())
    if isReconciled {
      try await engine.reconcile()
    } else {
      _ = try await engine.run(until: .idle)
    }
    for name in ["waiting", "running", "finalizing", "retryable"] {
      let record = try store.record(matching: url(name))
      #expect(record.state == .failedPermanent, "\(name)")
      #expect(record.attempts.last?.failure.message.contains("no root named 'gone'") == true)
      #expect(record.received == (["waiting", "running"].contains(name) ? 5 : 0))
    }
    #expect(try state("paused") == .paused)
    #expect(try state("cancelled") == .cancelled)
    #expect(try state("removed") == nil)
  }

  @Test func `a download that another process changes fails while the engine runs`() async throws {
    try add("late") { ($0.state, $0.intent) = (.paused, .pause) }
    let engine = try DownloadEngine(store: store, transport: ManualTransport())
    let handle = engine.handle(forURL: url("late"))
    let run = Task { try await engine.run(until: .stopped) }
    try change("late") { ($0.state, $0.intent) = (.waiting, .run) }
    await #expect(throws: DownloadFailure.self) { try await handle.value() }
    engine.stop()
    #expect(try await run.value.failed == 1)
  }
}
