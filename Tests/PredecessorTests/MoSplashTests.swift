import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import TestTraits
import Testing

/// Requirements of MoSplash's JHDownloader and its manager.
@Suite(.timeLimit(.minutes(10)))
struct MoSplashTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
  }

  @Test(.requirements("MO1"), arguments: DownloadState.allCases)
  func `isDownloading is true for the states running and finalizing only`(state: DownloadState) {
    #expect(state.isDownloading == [.running, .finalizing].contains(state))
  }

  private func isDownloading(_ isDownloading: Bool, _ name: String) async throws {
    try await waitUntil("\(name) \(isDownloading ? "to download" : "to stop")") {
      try fixture.record(name).state.isDownloading == isDownloading
    }
  }

  @Test(.requirements("MO3", "MO4"))
  func `isDownloading follows start, pause, failure, resume and completion`() async throws {
    let engine = try fixture.engine(1)
    try await fixture.running(engine) {
      let handle = try await engine.download(DownloadRequest(url: fixture.url("a")))
      try await isDownloading(true, "a")
      try await fixture.started(1)
      // Another download takes the slot that the pause frees.
      try await engine.download(DownloadRequest(url: fixture.url("b")))
      try await engine.store.pause(.matching(fixture.url("a")))
      try await waitUntil("a to end") { !fixture.transport.cancelled.isEmpty }
      fixture.transport.started[0].sink.finish(.cancelled)
      try await isDownloading(false, "a")
      try await fixture.started(2)
      try await isDownloading(true, "b")
      // A failure ends the download, too.
      fixture.transport.started[1].sink.finish(
        .failed(DownloadFailure(.insecure, "no"))
      )
      try await isDownloading(false, "b")
      try await engine.store.resume(.matching(fixture.url("a")))
      try await isDownloading(true, "a")
      try await fixture.started(3)
      fixture.transport.started[2].complete()
      _ = try await handle.value()
      try await isDownloading(false, "a")
    }
  }

  @Test(.requirements("MO5"))
  func `one download or all downloads are added, paused, resumed and listed`() async throws {
    let engine = try fixture.engine()
    let names = ["a", "b", "c"]
    try await engine.store.add(names.map { DownloadRequest(url: fixture.url($0)) })
    try await engine.store.pause(.matching(fixture.url("a")))
    #expect(try names.map { try fixture.record($0).state } == [.paused, .waiting, .waiting])
    try await engine.store.pause(.all)
    #expect(try names.map { try fixture.record($0).state } == [.paused, .paused, .paused])
    try await engine.store.resume(.matching(fixture.url("b")))
    #expect(try names.map { try fixture.record($0).state } == [.paused, .waiting, .paused])
    try await engine.store.resume(.all)
    #expect(try names.map { try fixture.record($0).state } == [.waiting, .waiting, .waiting])
    #expect(try engine.store.records().count == 3)
  }

  @Test(.requirements("MO8", "FK32"))
  func `a task that fails permanently fails its download with the task's message`() async throws {
    try fixture.add("a")
    let engine = try fixture.engine()
    let handle = engine.handle(forURL: fixture.url("a"))
    async let summary = engine.run(until: .idle)
    try await fixture.started(1)
    fixture.transport.started[0].sink.finish(
      .failed(DownloadFailure(.unsupportedURL, "the session is invalid"))
    )
    #expect(try await summary == RunSummary(failed: 1))
    let failure = await #expect(throws: DownloadFailure.self) { try await handle.value() }
    #expect(failure?.message == "the session is invalid")
  }
}
