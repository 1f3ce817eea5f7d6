import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

/// Changes by other processes during a transfer, including a task that ends in the meantime.
@Suite(.timeLimit(.minutes(10)))
struct CommandExecutionTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let transport = ManualTransport()
  private let url = "https://example.com/a"

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try store.addNow([DownloadRequest(url: url)])
  }

  private func write(_ change: @escaping @Sendable (inout DownloadRecord) -> Void) throws {
    let url = url
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url, change)
    }
  }

  private func layout() throws -> FileLayout {
    try store.roots().layout(of: try store.record(matching: url))
  }

  /// Runs an engine, calls `act` once a task has received 40 of 100 bytes, and returns the events.
  ///
  /// `act` has to make the download end.
  private func during(
    _ act: @escaping @Sendable (ManualTransport.Started, DownloadEngine) async throws -> Void
  ) async throws -> [DownloadEvent] {
    var options = EngineOptions()
    options.checkpointInterval = .milliseconds(50)
    let engine = try DownloadEngine(store: store, transport: transport, options: options)
    let events = engine.events()
    let run = Task { try await engine.run(until: .stopped) }
    while transport.started.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    let task = transport.started[0]
    task.receive([UInt8](repeating: 7, count: 40), of: 100)
    try await act(task, engine)
    engine.stop()
    _ = try await run.value
    return await events.reduce(into: []) { $0.append($1) }
  }

  private func cancelled() async throws {
    while transport.cancelled.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
  }

  @Test(
    .requirements("ZY32", "FK13", "SC8", "MO4"),
    arguments: [
      (DownloadState.paused, DownloadIntent.pause), (.running, .pause), (.paused, .run),
    ]
  )
  func `pausing cancels the transfer and keeps the received bytes`(
    state: DownloadState,
    intent: DownloadIntent
  ) async throws {
    let events = try await during { task, engine in
      try write {
        $0.state = state
        $0.intent = intent
      }
      try await cancelled()
      task.sink.finish(.cancelled)
      while await !engine.currentProgress().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    }
    let record = try store.record(matching: url)
    #expect(record.state == .paused)
    #expect(record.received == 40)
    #expect(record.attempts.isEmpty)
    #expect(record.unresolvedStarts == 0)
    #expect(events.contains { if case .released = $0 { true } else { false } })
    #expect(transport.started.count == 1)
  }

  @Test func `a download that is delivered despite a pause is completed`() async throws {
    let events = try await during { task, engine in
      try write {
        $0.state = .paused
        $0.intent = .pause
      }
      try await cancelled()
      // The last bytes were in flight when the task was cancelled.
      _ = task.sink.receive([UInt8](repeating: 8, count: 60).span)
      task.sink.finish(.completed)
      while try store.record(matching: url).state != .completed {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    let file = try layout().finalPath
    #expect(
      try Data(contentsOf: URL(filePath: file))
        == Data(repeating: 7, count: 40) + Data(repeating: 8, count: 60)
    )
    let ends = events.filter { if case .completed = $0 { true } else { false } }
    #expect(ends.count == 1)
  }

  @Test func `a download that is delivered despite a cancel is discarded`() async throws {
    _ = try await during { task, engine in
      try write {
        $0.state = .cancelled
        $0.intent = .cancel
      }
      try await cancelled()
      _ = task.sink.receive([UInt8](repeating: 8, count: 60).span)
      task.sink.finish(.completed)
      while await !engine.currentProgress().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    }
    let record = try store.record(matching: url)
    #expect(record.state == .cancelled)
    #expect(record.received == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: layout().folderPath) == [])
  }

  @Test(arguments: [TaskOutcome.cancelled, .completed])
  func `removing a running download leaves no file behind`(
    outcome: TaskOutcome
  ) async throws {
    let place = try layout().folderPath
    _ = try await during { task, _ in
      try write {
        $0.state = .removed
        $0.intent = .remove
      }
      try await cancelled()
      _ = task.sink.receive([UInt8](repeating: 8, count: 60).span)
      task.sink.finish(outcome)
      while (try? store.record(matching: url)) != nil {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: place) == [])
  }

  @Test func `a failure after a pause is no failed attempt`() async throws {
    let events = try await during { task, engine in
      try write { $0.intent = .pause }
      try await cancelled()
      task.sink.finish(.failed(DownloadFailure(.connectionLost, "gone")))
      while await !engine.currentProgress().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    }
    let record = try store.record(matching: url)
    #expect(record.state == .paused)
    #expect(record.failedAttempts == 0)
    #expect(record.unresolvedStarts == 0)
    #expect(record.received == 40)
    let failures = events.filter {
      switch $0 {
      case .failed, .retrying: true
      default: false
      }
    }
    #expect(failures.isEmpty)
  }

  @Test func `a record set to waiting again keeps its running transfer`() async throws {
    _ = try await during { task, _ in
      try write { $0.state = .waiting }
      while try store.record(matching: url).state != .running {
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(transport.cancelled.isEmpty)
      _ = task.sink.receive([UInt8](repeating: 8, count: 60).span)
      task.sink.finish(.completed)
      while try store.record(matching: url).state != .completed {
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    #expect(transport.started.count == 1)
  }

  @Test(.requirements("ZY24")) func `commands for waiting downloads take effect immediately`()
    async throws
  {
    try store.addNow([DownloadRequest(url: "https://example.com/b")])
    var options = EngineOptions()
    options.removeTimeLimits()
    options.checkpointInterval = .milliseconds(50)
    options.limits = ConcurrencyLimits(maximumRunning: 1)
    let engine = try DownloadEngine(store: store, transport: transport, options: options)
    let run = Task { try await engine.run(until: .stopped) }
    while transport.started.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    let idle = transport.started[0].request.url == url ? "https://example.com/b" : url
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: idle) { $0.intent = .pause }
    }
    while try store.record(matching: idle).state != .paused {
      try await Task.sleep(for: .milliseconds(1))
    }
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: idle) {
        $0.state = .removed
        $0.intent = .remove
      }
    }
    while (try? store.record(matching: idle)) != nil { try await Task.sleep(for: .milliseconds(1)) }
    #expect(transport.started.count == 1)
    // Stop the engine first: it restarts a transfer that ends by itself.
    engine.stop()
    while transport.cancelled.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    transport.started[0].sink.finish(.cancelled)
    _ = try await run.value
    #expect(transport.started.count == 1)
  }

  @Test(.requirements("FK5")) func `tasks left by a previous engine are cancelled`() async throws {
    let left = TaskSnapshot(id: TaskID(rawValue: 9), recordID: "0", bytesReceived: 1)
    let transport = ManualTransport(left: [left])
    let engine = try DownloadEngine(store: store, transport: transport)
    _ = try await engine.reconcileRecords()
    #expect(transport.cancelled == [left.id])
    #expect(transport.started.isEmpty)
  }
}
