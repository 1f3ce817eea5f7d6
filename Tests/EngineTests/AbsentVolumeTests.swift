import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import TestSupport
import Testing

/// Downloads that are cancelled or removed while the volume with their files is away.
@Suite(.timeLimit(.minutes(10)))
struct AbsentVolumeTests {
  private let fixture: ManualFixture
  private let layout: FileLayout
  /// Where the folder with the files is while its volume is away.
  private let away: String

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a", "b")
    try fixture.change("a", partial: 5) { $0.received = 5 }
    layout = try fixture.layout("a")
    away = fixture.folder.path("away")
  }

  private var transport: ManualTransport { fixture.transport }
  private var hasPartial: Bool { FileManager.default.fileExists(atPath: layout.partialPath) }

  private func unmount(leavingFolder: Bool) throws {
    try FileManager.default.moveItem(atPath: layout.folderPath, toPath: away)
    guard leavingFolder else { return }
    try FileManager.default.createDirectory(
      atPath: layout.folderPath,
      withIntermediateDirectories: false
    )
  }

  private func mount() throws {
    try? FileManager.default.removeItem(atPath: layout.folderPath)
    try FileManager.default.moveItem(atPath: away, toPath: layout.folderPath)
  }

  @Test(arguments: [false, true])
  func `the first engine that finds the partial file of a cancelled download deletes it`(
    leavesFolder: Bool
  ) async throws {
    try unmount(leavingFolder: leavesFolder)
    try fixture.store.apply(.cancel, to: .all)
    try await fixture.engine().reconcile()
    #expect(try fixture.record("a").state == .cancelled)
    try mount()
    #expect(hasPartial)
    let summary = try await fixture.engine().run(until: .idle)
    #expect(summary == RunSummary() && !hasPartial)
    #expect(try fixture.record("a").state == .cancelled)
  }

  @Test func `reconcile deletes it too, and other files stay`() async throws {
    try unmount(leavingFolder: false)
    try fixture.store.apply(.cancel, to: .named([fixture.url("a")]))
    try await fixture.engine().reconcile()
    try mount()
    try fixture.change("b", partial: 3) { $0.received = 3 }
    let other = layout.folderPath + "/mine"
    try Data("mine".utf8).write(to: URL(filePath: other))
    try await fixture.engine().reconcile()
    #expect(!hasPartial)
    #expect(FileManager.default.fileExists(atPath: try fixture.layout("b").partialPath))
    #expect(FileManager.default.fileExists(atPath: other))
  }

  @Test func `a file in use stays until the next engine`() async throws {
    try unmount(leavingFolder: false)
    try fixture.store.apply(.cancel, to: .all)
    try await fixture.engine().reconcile()
    try mount()
    do {
      let file = try LockedFile(layout.partialPath, for: .writing)
      _ = try await fixture.engine().run(until: .idle)
      #expect(hasPartial)
      withExtendedLifetime(file) {}
    }
    _ = try await fixture.engine().run(until: .idle)
    #expect(!hasPartial)
  }

  /// Completes the download, whose file is then in the folder.
  private func complete() throws {
    try FileManager.default.moveItem(atPath: layout.partialPath, toPath: layout.finalPath)
    let identity = FileIdentity(ofFileAt: layout.finalPath)
    try fixture.change("a") { record in
      (record.state, record.expected, record.fileIdentity) = (.completed, 5, identity)
      record.completedAt = Date(timeIntervalSince1970: 1)
    }
  }

  @Test(arguments: [false, true])
  func `a removed download stays until its folder is back and its file is deleted`(
    isComplete: Bool
  ) async throws {
    if isComplete { try complete() }
    try unmount(leavingFolder: false)
    let name = fixture.url("a")
    try fixture.store.apply(.remove(withFile: isComplete), to: .matching(name))
    try fixture.store.apply(.pause, to: .matching(fixture.url("b")))
    let found = try await fixture.engine().reconcileRecords()
    let problem = try #require(found.first { $0.record.url == name }?.unreachableFolder)
    #expect(problem.hasPrefix("the folder \(layout.folderPath) is missing: "))
    // A run does not wait for the volume.
    #expect(try await fixture.engine().run(until: .idle) == RunSummary())
    #expect(try fixture.record("a").state == .removed)
    try mount()
    _ = try await fixture.engine().run(until: .idle)
    #expect(throws: RecordStoreError.self) { try fixture.record("a") }
    #expect(!hasPartial && !FileManager.default.fileExists(atPath: layout.finalPath))
  }

  @Test func `a removed download whose finished file stays does not wait for its folder`()
    async throws
  {
    try complete()
    try unmount(leavingFolder: false)
    try fixture.store.apply(.remove(withFile: false), to: .matching(fixture.url("a")))
    try await fixture.engine().reconcile()
    #expect(throws: RecordStoreError.self) { try fixture.record("a") }
  }

  @Test func `a purge forgets a removed download whose folder does not come back`() async throws {
    try unmount(leavingFolder: false)
    try fixture.store.apply(.remove(withFile: false), to: .matching(fixture.url("a")))
    try await fixture.engine().reconcile()
    let record = try fixture.record("a")
    try fixture.store.purge(try fixture.store.purgePlan([record], withFiles: false))
    #expect(throws: RecordStoreError.self) { try fixture.record("a") }
  }

  @Test func `bytes in a folder that is missing are not downloaded again`() async throws {
    let before = try fixture.record("a")
    try unmount(leavingFolder: false)
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await fixture.reached(.failedPermanent, "a")
      // A download that has nothing on the volume creates the folder.
      try await fixture.started(1)
      #expect(transport.started[0].request.url == fixture.url("b"))
    }
    let record = try fixture.record("a")
    #expect(record.received == before.received && record.fileIdentity == before.fileIdentity)
    let failure = try #require(record.attempts.last?.failure)
    #expect(failure.code == .fileSystem)
    #expect(
      failure.message.hasPrefix(
        "the folder \(layout.folderPath) is missing, and with it 5 bytes of it: mount its volume"
      )
    )
    try mount()
    #expect(hasPartial)
    try fixture.store.apply(.resume(immediately: false), to: .named([fixture.url("a")]))
    #expect(try fixture.record("a").received == 5)
  }

  @Test(arguments: [DownloadState.waiting, .running])
  func `a run of this download alone keeps bytes in a folder that is missing, too`(
    state: DownloadState
  ) async throws {
    try fixture.change("a") { $0.state = state }
    try unmount(leavingFolder: false)
    var options = EngineOptions()
    options.scope = [fixture.url("a")]
    let engine = try DownloadEngine(store: fixture.store, transport: transport, options: options)
    #expect(try await engine.run(until: .idle) == RunSummary(failed: 1))
    let record = try fixture.record("a")
    #expect(record.state == .failedPermanent && record.received == 5)
    try mount()
    #expect(hasPartial && transport.started.isEmpty)
  }

  @Test func `a restart creates the folder that is missing`() async throws {
    try unmount(leavingFolder: false)
    try fixture.store.apply(.restart, to: .named([fixture.url("a")]))
    try fixture.store.apply(.pause, to: .named([fixture.url("b")]))
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      #expect(transport.started[0].request.url == fixture.url("a"))
    }
  }
}
