import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import TestSupport
import TestTraits
import Testing

/// Requirements of SCDownloader.
@Suite(.timeLimit(.minutes(10)))
struct SCTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
  }

  @Test(.requirements("SC3")) func `the failure or pause of one download does not affect another`()
    async throws
  {
    try fixture.add("bad", "good", "held")
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await fixture.started(3)
      let tasks = fixture.transport.started
      for task in tasks { task.receive([1, 2, 3], of: 6) }
      tasks[0].sink.finish(.failed(DownloadFailure(.insecure, "no")))
      try await fixture.reached(.failedPermanent, "bad")
      try await engine.store.pause(.matching(fixture.url("held")))
      try await waitUntil("one to end") { !fixture.transport.cancelled.isEmpty }
      #expect(fixture.transport.cancelled == [TaskID(rawValue: 3)])
      tasks[2].sink.finish(.cancelled)
      _ = tasks[1].sink.receive([4, 5, 6].span)
      tasks[1].sink.finish(.completed)
      try await fixture.reached(.completed, "good")
    }
    #expect(try fixture.record("held").state == .paused)
    #expect(try fixture.record("held").attempts.isEmpty)
    #expect(
      try Data(contentsOf: URL(filePath: fixture.layout("good").finalPath)) == Data(1...6)
    )
  }

  @Test(.requirements("SC5"))
  func `the folder is the request's or the store's, and is created when needed`() async throws {
    try fixture.store.addNow([
      DownloadRequest(url: fixture.url("a")),
      {
        var request = DownloadRequest(url: fixture.url("b"))
        request.folder = "Videos/new"
        return request
      }(),
    ])
    #expect(!FileManager.default.fileExists(atPath: fixture.folder.path("store/files")))
    let engine = try fixture.engine()
    async let summary = engine.run(until: .idle)
    try await fixture.started(2)
    for task in fixture.transport.started { task.complete() }
    #expect(try await summary == RunSummary(completed: 2))
    #expect(try fixture.folder.names(in: "store/files") == ["Videos", "a"])
    #expect(try fixture.folder.names(in: "store/files/Videos/new") == ["b"])
  }
}
