import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import ResumeData
import SimulatedTransport
import TestSupport

/// A store over a background session whose network does what the test says.
struct BackgroundFixture {
  /// A sink of an application that has died since.
  private struct Nobody: TaskSink {
    func receive(_ head: ResponseHead) -> BodyDisposition { .proceed }
    func receive(_ bytes: Span<UInt8>) -> BodyDisposition { .proceed }
    func finish(_ outcome: TaskOutcome) {}
  }

  let folder: TemporaryFolder
  let store: DownloadStore
  let session: SimulatedBackgroundTransport
  let body = SimulatedBody(seed: 7, byteCount: 1_000)

  init(copyInterval: Int64? = nil, system: ResumeData.Consumer = .identity) throws {
    folder = try TemporaryFolder()
    store = try DownloadStore(at: folder.path("store"))
    session = try SimulatedBackgroundTransport(
      folder: folder.path("session"),
      pace: .byHand,
      copyInterval: copyInterval,
      system: system
    )
  }

  func url(_ name: String) -> String { "https://example.com/\(name)" }

  @discardableResult
  func add(_ names: String...) throws -> DownloadRecord {
    for name in names {
      session.network.serve(SimulatedResource(body, entityTag: "\"1\""), at: url(name))
    }
    return try store.add(names.map { DownloadRequest(url: url($0)) })[0].record
  }

  func record(_ name: String = "a") throws -> DownloadRecord {
    try store.record(named: url(name))
  }

  /// The resume data that a record has.
  func resumeData(_ name: String = "a") throws -> ResumeData? {
    try record(name).resumeData.map { try ResumeData(Array($0)) }
  }

  /// The files of the session.
  func sessionFiles() throws -> [String] { try folder.names(in: "session") }

  /// The finished file.
  func file(_ name: String = "a") throws -> [UInt8] {
    try Array(Data(contentsOf: URL(filePath: folder.path("store/files/\(name)"))))
  }

  /// Leaves a task behind that an application of before has started, and that has that many bytes.
  @discardableResult
  func leave(_ byteCount: Int64, _ name: String = "a", as state: DownloadState) throws -> TaskID {
    let url = url(name)
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, url) { $0.state = state }
    }
    let request = TaskRequest(url: url, recordID: try record(name).id)
    let task = session.start(request, sink: Nobody())
    receive(byteCount, task)
    session.crash()
    return task
  }

  /// Has a task receive its head, and that many bytes.
  func receive(_ byteCount: Int64, _ task: TaskID) {
    session.advance(task)
    if byteCount > 0 { session.advance(task, atMost: byteCount) }
  }

  /// The task that was started as that many-th, from one on, when there is one.
  func task(_ number: UInt64) async throws -> TaskID {
    let id = TaskID(rawValue: number)
    try await waitUntil("task \(number)") {
      await session.liveTasks().contains { $0.id == id && $0.state == .running }
    }
    return id
  }

  /// Has a task go on until it has ended.
  func finish(_ task: TaskID) {
    while session.advance(task) {}
  }

  func reached(_ state: DownloadState, _ name: String = "a") async throws {
    try await waitUntil("\(name) to be \(state)") { try record(name).state == state }
  }

  /// Has a task that was cancelled end, and waits for what it leaves.
  func endCancelled(_ task: TaskID) async throws {
    try await waitUntil("the cancel") {
      await session.liveTasks().contains { $0.id == task && $0.state == .canceling }
    }
    finish(task)
  }

  func engine(
    _ maximumRunning: Int = 4,
    firstRetry: Duration = .milliseconds(1)
  ) throws -> DownloadEngine {
    var options = EngineOptions(maximumRunning: maximumRunning, maximumPerHost: 100)
    options.retry = RetryPolicy(maximumAttempts: 8, base: firstRetry, cap: .seconds(3600))
    return try DownloadEngine(store: store, transport: session, options: options)
  }

  /// Runs an engine for as long as `body` takes; what runs then ends and leaves resume data.
  func running(
    _ engine: DownloadEngine,
    _ body: () async throws -> Void
  ) async throws {
    try await EngineTestSupport.running(engine, body) {
      try await waitUntil("the tasks to end") {
        for task in await session.liveTasks() where task.state == .canceling { finish(task.id) }
        return await session.liveTasks().allSatisfy { $0.state == .ended }
      }
    }
  }
}
