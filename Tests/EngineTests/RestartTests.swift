import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import TestTraits
import Testing

/// Every point at which a process can be killed, and the result of the next launch.
@Suite(.timeLimit(.minutes(10)))
struct RestartTests {
  static let body = Body.generated(byteCount: 1_000_000, seed: 5)
  private static let digest = {
    var hasher = DigestHasher(.sha256)
    hasher.update(body.bytes(at: 0, count: 1_000_000).span)
    return hasher.digest
  }()

  /// Stores a record in the given state, with the given bytes in its partial file.
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
      try tx.update(DownloadRecord.self, key: record.url) { record in
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

  @Test func `bytes that were received after the last checkpoint are not trusted after a kill`()
    async throws
  {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 400_000, partial: 700_000)
    try await expectComplete(fixture, requests: ["bytes=400000-"])
  }

  @Test func `a truncated partial file is not trusted`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 400_000, partial: 300_000)
    try await expectComplete(fixture, requests: [nil])
  }

  @Test func `a partial file longer than the expected size is truncated`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 400_000, partial: 1_200_000)
    try await expectComplete(fixture, requests: ["bytes=400000-"])
  }

  @Test func `a download killed with all of its bytes completes without a request`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 1_000_000, partial: 1_000_000)
    try await expectComplete(fixture, requests: [])
  }

  @Test func `a download killed before the final rename completes without a request`() async throws
  {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .finalizing, received: 1_000_000, partial: 1_000_000)
    try await expectComplete(fixture, requests: [])
  }

  @Test func `a download killed after the final rename completes without a request`() async throws {
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

  @Test func `a download killed with the file under both names completes without a request`()
    async throws
  {
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

  /// A backup has given it another name, or a kill during a rename whose volume was then away.
  @Test(arguments: [true, false], [0, 400_000, 1_000_000] as [Int64])
  func `a download whose partial file has a second name begins again with a file of its own`(
    hasDigest: Bool,
    received: Int64
  ) async throws {
    let fixture = try EngineFixture()
    let record = try killed(fixture, state: .waiting, received: received, partial: 1_000_000) {
      if hasDigest { $0.expectedDigest = Self.digest.text }
    }
    let layout = try fixture.store.roots().layout(of: record)
    let other = fixture.folder.appending(path: "backup").path
    try FileManager.default.linkItem(atPath: layout.partialPath, toPath: other)
    let backup = FileIdentity(ofFileAt: other)
    try await expectComplete(fixture, requests: [nil])
    #expect(FileIdentity(ofFileAt: fixture.file("a"))?.inode != backup?.inode)
    #expect(FileIdentity(ofFileAt: other) == backup)
  }

  @Test func `a file lost during the final rename is downloaded again`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .finalizing, received: 1_000_000, partial: nil)
    try await expectComplete(fixture, requests: [nil])
  }

  @Test func `a download killed during a retry delay resumes when the retry is due`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .failedRetryable, received: 400_000, partial: 400_000) {
      $0.nextRetryAt = Date(timeIntervalSinceNow: 0.2)
    }
    try await expectComplete(fixture, requests: ["bytes=400000-"])
  }

  @Test func `kills and power cuts do not quarantine a download that has crashed before`()
    async throws
  {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 0, partial: nil) {
      $0.unresolvedStarts = 3
    }
    let (_, events) = try await fixture.run { $0.previousExit = .clean }
    #expect(events.contains { if case .completed = $0 { true } else { false } })
    #expect(try fixture.record("/a").unresolvedStarts == 0)
  }

  @Test func `a download that crashed the process three times is quarantined`() async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: .running, received: 0, partial: nil) {
      $0.unresolvedStarts = 2
    }
    let (summary, _) = try await fixture.run { $0.previousExit = .crashed }
    #expect(summary == RunSummary(completed: 0, failed: 1))
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.record("/a").attempts.last?.failure.code == .quarantined)
  }

  @Test func `a refresh that crashed the process three times leaves the finished file alone`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(Self.body))
    let record = try fixture.add("/a")
    _ = try await fixture.run()
    try await fixture.store.refresh(.all)
    try fixture.store.objects.writeNow { tx in
      try tx.update(DownloadRecord.self, key: record.url) {
        $0.state = .running
        $0.received = 400_000
        $0.expected = 1_000_000
        $0.unresolvedStarts = 2
      }
    }
    let partial = try fixture.store.roots().layout(of: record).partialPath
    try Data(count: 400_000).write(to: URL(filePath: partial))
    let (summary, _) = try await fixture.run { $0.previousExit = .crashed }
    #expect(summary == RunSummary(completed: 0, failed: 1))
    #expect(fixture.ranges("/a") == [nil])
    let refreshed = try fixture.record("/a")
    #expect(refreshed.state == .completed && refreshed.received == 1_000_000)
    #expect(refreshed.refreshFailure?.code == .quarantined)
    #expect(Self.body.matches(file: fixture.file("a")))
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == ["a"])
  }

  @Test(arguments: [DownloadState.paused, .failedPermanent, .completed, .cancelled])
  func `a paused, failed, completed or cancelled download is not started by a launch`(
    state: DownloadState
  ) async throws {
    let fixture = try EngineFixture()
    _ = try killed(fixture, state: state, received: 400_000, partial: 400_000)
    let (summary, _) = try await fixture.run()
    #expect(summary == RunSummary())
    #expect(fixture.server.requests.isEmpty)
    #expect(try fixture.record("/a").state == state)
  }
}
