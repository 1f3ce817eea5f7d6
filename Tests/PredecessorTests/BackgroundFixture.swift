import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import ResumeData
import TestSupport

/// A sink of an app that has terminated.
struct DeadSink: TaskSink {
  func receive(_ head: ResponseHead) -> BodyDisposition { .proceed }
  func receive(_ bytes: Span<UInt8>) -> BodyDisposition { .proceed }
  func finish(_ outcome: TaskOutcome) {}
}

/// A store, and a simulated background session whose network the test controls.
struct BackgroundFixture {
  let folder: TemporaryFolder
  let store: RecordStore
  let session: SimulatedBackgroundTransport
  let body = SimulatedBody(seed: 7, byteCount: 1_000)

  init(copyInterval: Int64? = nil, system: URLSessionResumeData.Consumer = .identity) throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
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
    return try store.addNow(names.map { DownloadRequest(url: url($0)) })[0].record
  }

  func record(_ name: String = "a") throws -> DownloadRecord {
    try store.record(matching: url(name))
  }

  /// Returns the resume data of a record.
  func resumeData(_ name: String = "a") throws -> URLSessionResumeData? {
    try record(name).resumeData.map { try URLSessionResumeData(Array($0)) }
  }

  /// Returns the names of the session's files.
  func sessionFiles() throws -> [String] { try folder.names(in: "session") }

  /// Returns the finished file.
  func file(_ name: String = "a") throws -> [UInt8] {
    try Array(Data(contentsOf: URL(filePath: folder.path("store/files/\(name)"))))
  }

  /// Leaves a task of a previous launch that has received `byteCount` bytes.
  ///
  /// The session forgets its sinks, as after a crash.
  @discardableResult
  func leave(_ byteCount: Int64, _ name: String = "a", as state: DownloadState) throws -> TaskID {
    let url = url(name)
    try store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.state = state }
    }
    let request = TaskRequest(url: url, recordID: try record(name).id)
    let task = session.start(request, sink: DeadSink())
    receive(byteCount, task)
    session.crash()
    return task
  }

  /// Delivers the response head and `byteCount` bytes to a task.
  func receive(_ byteCount: Int64, _ task: TaskID) {
    session.advance(task)
    if byteCount > 0 { session.advance(task, atMost: byteCount) }
  }

  /// Waits for the task with the given number, counted from 1, to run, and returns its id.
  func task(_ number: UInt64) async throws -> TaskID {
    let id = TaskID(rawValue: number)
    try await waitUntil("task \(number)") {
      await session.liveTasks().contains { $0.id == id && $0.state == .running }
    }
    return id
  }

  /// Advances a task until it has ended.
  func finish(_ task: TaskID) {
    while session.advance(task) {}
  }

  func reached(_ state: DownloadState, _ name: String = "a") async throws {
    try await waitUntil("\(name) to be \(state)") { try record(name).state == state }
  }

  /// Waits until a task is being cancelled, and ends it.
  func endCancelled(_ task: TaskID) async throws {
    try await waitUntil("the cancel") {
      await session.liveTasks().contains { $0.id == task && $0.state == .canceling }
    }
    finish(task)
  }

  func engine(
    _ maximumRunning: Int = 4,
    retry: RetryPolicy = RetryPolicy(base: .milliseconds(1))
  ) throws -> DownloadEngine {
    var options = EngineOptions(maximumRunning: maximumRunning, maximumPerHost: 100)
    options.retry = retry
    // A task that waits for the test does not give its slot up to another one.
    options.lowestSpeed = 0
    return try DownloadEngine(store: store, transport: session, options: options)
  }

  /// Runs an engine while `body` runs.
  ///
  /// Tasks that run then are cancelled with resume data.
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
