import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

/// Every point at which a process may have been killed, and what the next one makes of it.
@Suite(.timeLimit(.minutes(2)))
struct RestartTests {
  static let body = Body.generated(byteCount: 1_000_000, seed: 5)

  /// A record in that state, with those bytes in its partial file.
  private func killed(
    _ fixture: EngineFixture,
    state: DownloadState,
    received: Int64,
    partial: Int?,
    named name: String? = nil,
    _ change: @escaping @Sendable (inout DownloadRecord) -> Void = { _ in }
  ) throws -> DownloadRecord {
    fixture.server.route("/a", Resource(Self.body))
    let record = try fixture.add("/a")
    let layout = try fixture.store.roots().layout(of: record)
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: true
    )
    let path = name.map { fixture.file($0) } ?? layout.partialPath
    if let partial {
      var bytes = Data(Self.body.bytes(at: 0, count: min(partial, 1_000_000)))
      bytes.append(Data(count: partial - bytes.count))
      try bytes.write(to: URL(filePath: path))
    }
    let fileIdentity = FileIdentity(ofFileAt: path)
    try fixture.store.objects.writeNow { tx in
      try tx.update(DownloadRecord.self, record.url) { record in
        record.state = state
        record.received = received
        record.expected = 1_000_000
        record.entityTag = "\"1\""
        record.generation = 1
        record.unresolvedStarts = 1
        if state == .finalizing { record.fileIdentity = fileIdentity }
        change(&record)
      }
    }
    return record
  }

  private func expectComplete(_ fixture: EngineFixture, requests: [String?]) async throws {
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary(completed: 1, failed: 0))
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(fixture.ranges("/a") == requests)
    #expect(try fixture.record("/a").state == .completed)
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == ["a"])
  }

  @Test(.requirements("ZY8"))
  func `a download killed before its first byte starts at the next launch`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 0, partial: nil)
    try await expectComplete(fixture, requests: [nil])
  }

  @Test(.requirements("ZY30", "ZY43"))
  func `a download killed after a checkpoint resumes at that checkpoint`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 400_000, partial: 400_000)
    try await expectComplete(fixture, requests: ["bytes=400000-"])
  }

  @Test func `killed after bytes that no checkpoint knows of`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 400_000, partial: 700_000)
    try await expectComplete(fixture, requests: ["bytes=400000-"])
  }

  @Test func `a partial file that somebody cut is not trusted`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 400_000, partial: 300_000)
    try await expectComplete(fixture, requests: [nil])
  }

  @Test func `a partial file that is longer than the whole is cut`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 400_000, partial: 1_200_000)
    try await expectComplete(fixture, requests: ["bytes=400000-"])
  }

  @Test func `killed with every byte there and nothing else done`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 1_000_000, partial: 1_000_000)
    try await expectComplete(fixture, requests: [])
  }

  @Test func `killed between the finalizing commit and the rename`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .finalizing, received: 1_000_000, partial: 1_000_000)
    try await expectComplete(fixture, requests: [])
  }

  @Test func `killed between the rename and the last commit`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(
      fixture,
      state: .finalizing,
      received: 1_000_000,
      partial: 1_000_000,
      named: "a"
    )
    try await expectComplete(fixture, requests: [])
  }

  @Test func `killed with the file under both names`() async throws {
    let fixture = try EngineFixture()
    let record = try killed(
      fixture,
      state: .finalizing,
      received: 1_000_000,
      partial: 1_000_000,
      named: "a"
    )
    let layout = try fixture.store.roots().layout(of: record)
    try FileManager.default.linkItem(atPath: layout.finalPath, toPath: layout.partialPath)
    try await expectComplete(fixture, requests: [])
  }

  @Test func `a file that was lost on its way to its name is downloaded again`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .finalizing, received: 1_000_000, partial: nil)
    try await expectComplete(fixture, requests: [nil])
  }

  @Test func `killed before a retry that was due later`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .failedRetryable, received: 400_000, partial: 400_000) {
      $0.nextRetryAt = Date(timeIntervalSinceNow: 0.2)
    }
    try await expectComplete(fixture, requests: ["bytes=400000-"])
  }

  @Test func `a transfer that was killed often is not to blame`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 0, partial: nil) {
      $0.unresolvedStarts = 3
    }
    let (_, events) = try await fixture.run { $0.previousExit = .innocent }
    #expect(events.contains { if case .completed = $0 { true } else { false } })
  }

  @Test func `a transfer that crashed the process three times is quarantined`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 0, partial: nil) {
      $0.unresolvedStarts = 3
    }
    let (summary, _) = try await fixture.run { $0.previousExit = .crashed }
    #expect(summary == RunSummary(completed: 0, failed: 1))
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.record("/a").attempts.last?.failure.code == .quarantined)
  }

  @Test(arguments: [DownloadState.paused, .failedPermanent, .completed, .cancelled])
  func `what stands still is not started by a launch`(state: DownloadState) async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: state, received: 400_000, partial: 400_000)
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary())
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.record("/a").state == state)
  }
}
