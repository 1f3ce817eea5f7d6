import Dispatch
import DownloadStore
import DownloadSync
import DownloadURLSession
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestTraits
import Testing

/// Requirements of several predecessors, with an engine, URLSession and a server.
@Suite(.timeLimit(.minutes(10)))
struct RealTransferTests {
  private let fixture: EngineFixture
  private let body = Body.generated(byteCount: 300_000, seed: 22)

  init() throws {
    fixture = try EngineFixture()
  }

  private func text(_ name: String) -> String? {
    try? String(contentsOfFile: fixture.file(name), encoding: .utf8)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: fixture.file("")).sorted()
  }

  private func rename(_ path: String, to name: String) throws {
    var update = RecordUpdate()
    update.filename = name
    #expect(try fixture.store.updateNow(matching: fixture.server.url(path), with: update).isDone)
  }

  // MARK: Names

  @Test(.requirements("ZY22"))
  func `renaming changes the finished file and its record together or not at all`() async throws {
    fixture.server.route("/a.bin", Resource(body))
    try fixture.add("/a.bin")
    try await fixture.run()
    try rename("/a.bin", to: "b.bin")
    #expect(try names() == ["b.bin"] && body.matches(file: fixture.file("b.bin")))
    #expect(try fixture.record("/a.bin").filename == "b.bin")
    // Another file has the new name: the rename fails, and neither the record nor the file changes.
    try Data("theirs".utf8).write(to: URL(filePath: fixture.file("c.bin")))
    let before = try fixture.record("/a.bin")
    #expect(throws: RecordStoreError.self) { try rename("/a.bin", to: "c.bin") }
    #expect(try fixture.record("/a.bin") == before)
    #expect(body.matches(file: fixture.file("b.bin")) && text("c.bin") == "theirs")
    // An engine accepts both, and requests nothing.
    try await fixture.run()
    #expect(try fixture.record("/a.bin").state == .completed)
    #expect(try names() == ["b.bin", "c.bin"])
    #expect(fixture.server.requests.count == 1)
  }

  @Test(.requirements("ZY19"))
  func `a missing finished file is downloaded again under the record's new name`() async throws {
    fixture.server.route("/a.bin", Resource(body))
    try fixture.add("/a.bin")
    try await fixture.run()
    try FileManager.default.removeItem(atPath: fixture.file("a.bin"))
    try rename("/a.bin", to: "b.bin")
    let record = try fixture.record("/a.bin")
    #expect(record.filename == "b.bin" && record.state == .completed)
    #expect(try fixture.store.localPath(of: record) == nil)
    #expect(
      FileInspection(of: record, in: try fixture.store.roots().layout(of: record)).final == .missing
    )
    #expect(try names().isEmpty)
    #expect(try fixture.store.apply(.restart, to: .matching(record.url)).map(\.isDone) == [true])
    try await fixture.run()
    #expect(try names() == ["b.bin"] && body.matches(file: fixture.file("b.bin")))
    #expect(try fixture.store.localPath(of: fixture.record("/a.bin")) != nil)
  }

  // MARK: Sessions

  /// Forwards tasks to a URLSession transport that can be replaced.
  private final class ReplacedTransport: Transport {
    private let current = Mutex(URLSessionTransport(idleTimeout: .seconds(300)))

    /// Invalidates the session.
    ///
    /// The next task uses a new one.
    func invalidate() {
      let new = URLSessionTransport(idleTimeout: .seconds(300))
      // The old session is released at the end of this scope, outside the lock.
      let old = current.withLock { current in
        defer { current = new }
        return current
      }
      withExtendedLifetime(old) {}
    }

    func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
      current.withLock { $0 }.start(request, sink: sink)
    }

    func cancel(_ task: TaskID) { current.withLock { $0 }.cancel(task) }

    func liveTasks() async -> [TaskSnapshot] { await current.withLock { $0 }.liveTasks() }
  }

  @Test(.requirements("MO8"))
  func `invalidating the session fails the attempt with a reason, and the download resumes`()
    async throws
  {
    let faults: [Fault] = [.stallAfter(bytes: 100_000)]
    var resource = Resource(body)
    resource.faults = faults
    fixture.server.route("/a.bin", resource)
    try fixture.add("/a.bin")
    var options = EngineOptions()
    options.retry = RetryPolicy(maximumAttempts: 3, base: .milliseconds(1), cap: .milliseconds(1))
    options.checkpointBytes = 10_000
    let transport = ReplacedTransport()
    let engine = try DownloadEngine(store: fixture.store, transport: transport, options: options)
    let events = engine.events()
    async let summary = engine.run(until: .idle)
    try await waitUntil("bytes") { try fixture.record("/a.bin").received > 0 }
    transport.invalidate()
    #expect(try await summary == RunSummary(completed: 1))
    #expect(body.matches(file: fixture.file("a.bin")))
    let words = await events.reduce(into: [String]()) { $0.append($1.word) }
    #expect(words == ["started", "retrying", "started", "completed"])
    let failures = try fixture.record("/a.bin").attempts.map(\.failure)
    #expect(failures.map(\.code) == [.connectionLost])
    #expect(failures.first?.message == "the system has ended the transfer")
    // The second request resumes the download.
    #expect(fixture.ranges("/a.bin").count == 2 && fixture.ranges("/a.bin").last != nil)
  }

  /// A transport whose session has been invalidated.
  private struct EndedTransport: Transport {
    func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
      DispatchQueue.global().async { sink.finish(.cancelled) }
      return TaskID(rawValue: 1)
    }

    func cancel(_ task: TaskID) {}

    func liveTasks() async -> [TaskSnapshot] { [] }
  }

  @Test(.requirements("MO8"))
  func `a session that accepts no tasks fails its downloads with a reason`() async throws {
    try fixture.add("/a.bin")
    try fixture.interrupted("/b.bin", body, received: 1_000)
    var options = EngineOptions()
    options.retry = RetryPolicy(maximumAttempts: 3, base: .milliseconds(1), cap: .milliseconds(1))
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: EndedTransport(),
      options: options
    )
    #expect(try await engine.run(until: .idle) == RunSummary(failed: 2))
    for path in ["/a.bin", "/b.bin"] {
      let failures = try fixture.record(path).attempts.map(\.failure)
      #expect(failures.map(\.code) == [.connectionLost, .connectionLost, .connectionLost])
      #expect(failures.last?.message == "the system has ended the transfer")
    }
    // The stored bytes remain for a later run.
    #expect(try fixture.record("/b.bin").received == 1_000)
  }
}
