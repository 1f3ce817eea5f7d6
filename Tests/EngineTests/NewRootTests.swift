import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import Testing

/// Roots that another process adds while an engine runs, which is not notified of commits: it is on a
/// machine so busy that their signals come too late.
@Suite(.timeLimit(.minutes(10)))
struct NewRootTests {
  private let fixture: EngineFixture
  private let body = Body.generated(byteCount: 400_000, seed: 5)
  /// The end of the first download, `/0`.
  private let gate = Gate()

  init() throws {
    fixture = try EngineFixture()
    for number in 0..<6 {
      var resource = Resource(body)
      if number == 0 { (resource.bytesPerSecond, resource.rateGate) = (1_000, gate) }
      fixture.server.route("/\(number)", resource)
    }
  }

  /// An engine that gets ticks, and no signal of a commit.
  private func engine(
    _ change: (inout EngineOptions) -> Void
  ) throws -> DownloadEngine {
    var environment = EngineEnvironment.live
    environment.wake = { _, post in
      let ticking = Task {
        while (try? await Task.sleep(for: .milliseconds(10))) != nil { post(.ticked) }
      }
      return { ticking.cancel() }
    }
    return try fixture.engine(environment: environment, change)
  }

  /// Adds a root and a download in it, after the first download has started.
  private func addInNewRoot(_ path: String) async throws -> DownloadRecord {
    try await waitUntil("the first request") { !fixture.server.requests.isEmpty }
    let folder = fixture.folder.appending(path: "new").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let root = try fixture.store.root(at: folder)
    return try fixture.add(path) { $0.root = root }
  }

  private func expectComplete(_ path: String) throws {
    let record = try fixture.record(path)
    #expect(record.state == .completed, "\(record.attempts)")
    #expect(body.matches(file: try fixture.store.roots().layout(of: record).finalPath))
  }

  @Test func `a waiting download is read with its root`() async throws {
    for number in 0..<5 { try fixture.add("/\(number)") }
    let engine = try engine { options in
      options.limits = ConcurrencyLimits(maximumRunning: 1, maximumPerHost: 1)
      options.queueBounds = QueueBounds(perHost: 1, delayed: 1, page: 1, pagesPerTurn: 1)
    }
    let run = Task { try await engine.run(until: .idle) }
    _ = try await addInNewRoot("/5")
    gate.open()
    #expect(try await run.value == RunSummary(completed: 6))
    try expectComplete("/5")
  }

  @Test func `a download for which another process waits is read with its root`() async throws {
    let first = try fixture.add("/0")
    let engine = try engine { $0.scope = [first.url] }
    let run = Task { try await engine.run(until: .finished(.matching([first.url]))) }
    let other = try await addInNewRoot("/5")
    let registration = try WaiterRegistration(of: [other.id], storePath: fixture.store.path)
    try await waitUntil("the end of the other download") {
      try ![.waiting, .running, .finalizing].contains(fixture.record("/5").state)
    }
    withExtendedLifetime(registration) {}
    try expectComplete("/5")
    gate.open()
    #expect(try await run.value == RunSummary(completed: 1))
  }
}
