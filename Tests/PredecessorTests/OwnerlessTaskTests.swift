import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Tasks of a background session without a record (rules N1 to N3).
@Suite struct OwnerlessTaskTests {
  private let fixture: BackgroundFixture

  init() throws {
    fixture = try BackgroundFixture()
  }

  /// Deletes the record, as a purge does, and leaves its task.
  private func purge() throws {
    let url = fixture.url("a")
    try fixture.store.objects.writeNow { tx in _ = try tx.delete(DownloadRecord.self, key: url) }
  }

  @Test func `a live task without a record is cancelled`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    try purge()
    try await fixture.running(try fixture.engine()) { try await fixture.endCancelled(task) }
    #expect(try fixture.store.records(DownloadRecord.all) == [])
  }

  @Test func `a file that a cancelled task without a record delivers is deleted`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    fixture.session.cancel(task)
    fixture.session.crash()
    try purge()
    // The engine starts this download after it has handled the tasks.
    try fixture.add("b")
    try await fixture.running(try fixture.engine()) {
      _ = try await fixture.task(2)
      let network = fixture.session.network
      let work = try #require(network.tasks.first { $0.request.url == fixture.url("a") }).id
      // What has been sent before the cancel is the whole body.
      while network.advance(work, heedsCancel: false) {}
      #expect(await fixture.session.liveTasks().map(\.id) == [TaskID(rawValue: 2)])
      fixture.finish(TaskID(rawValue: 2))
      try await fixture.reached(.completed, "b")
      try await waitUntil("the files to be deleted") { try fixture.sessionFiles() == [] }
    }
  }

  @Test func `a file delivered without a record is deleted`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    fixture.finish(task)
    #expect(await fixture.session.liveTasks().map(\.state) == [.ended])
    try purge()
    try await fixture.running(try fixture.engine()) {
      try await waitUntil("the file to be deleted") {
        let tasks = await fixture.session.liveTasks()
        return tasks == [] && fixture.session.requests.count == 1
      }
    }
    #expect(try fixture.sessionFiles() == [])
    #expect(!FileManager.default.fileExists(atPath: fixture.folder.path("store/files/a")))
  }
}
