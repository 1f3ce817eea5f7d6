import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import SystemInterface
import TestSupport
import Testing

/// Downloads that are cancelled while the volume with their files is away.
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
}
