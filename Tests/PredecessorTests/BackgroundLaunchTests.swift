import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import ResumeData
import TestSupport
import TestTraits
import Testing

/// A launch of the app that finds tasks of a simulated background session.
@Suite struct BackgroundLaunchTests {
  private let fixture: BackgroundFixture

  init() throws {
    fixture = try BackgroundFixture()
  }

  @Test(.requirements("ZY30", "SC1", "MO2"))
  func `a background task continues without the app, and the next launch adopts it`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    // No app receives these bytes.
    fixture.session.advance(task, atMost: 100)
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      try await waitUntil("the session's byte count") {
        await engine.currentProgress().map(\.received) == [500]
      }
      fixture.finish(task)
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.requests.count == 1)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(
    .requirements("FK5", "FK30", "ZY34"),
    arguments: [DownloadState.running, .waiting, .paused]
  )
  func `a task that finished without the app is delivered at the next launch`(
    state: DownloadState
  ) async throws {
    try fixture.add("a")
    fixture.finish(try fixture.leave(400, as: state))
    #expect(await fixture.session.liveTasks().map(\.state) == [.ended])
    try await fixture.running(try fixture.engine()) { try await fixture.reached(.completed) }
    #expect(fixture.session.requests.count == 1)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("ZY33", "ZY34", "ZY35", "FK32", "SC10"))
  func `resume data delivered at launch is stored and continues the download`() async throws {
    try fixture.add("a", "b")
    for name in ["a", "b"] {
      let lost = DownloadFailure(.connectionLost, "the system ended the task")
      fixture.session.network.interrupt(fixture.url(name), afterBytes: 400, with: lost)
    }
    let held = fixture.url("b")
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: held) {
        try $0.apply(.command(.pause), at: Date())
      }
    }
    let left = [
      try fixture.leave(400, "a", as: .running), try fixture.leave(400, "b", as: .paused),
    ]
    for task in left { fixture.finish(task) }
    try await fixture.running(try fixture.engine()) {
      let next = try await fixture.task(3)
      #expect(fixture.session.requests[2].url == fixture.url("a"))
      #expect(fixture.session.network.requests[2].offset == 400)
      fixture.finish(next)
      try await fixture.reached(.completed, "a")
      try await waitUntil("resume data") { try fixture.record("b").resumeData != nil }
      #expect(try fixture.record("b").state == .paused)
    }
    #expect(fixture.body.matches(try fixture.file("a")))
    #expect(try fixture.resumeData("b")?.received == 400)
  }

  @Test(.requirements("ZY32", "SC8"))
  func `the running task of a paused download is cancelled at launch with resume data`()
    async throws
  {
    try fixture.add("a")
    try fixture.store.apply(.pause, to: .all)
    let task = try fixture.leave(400, as: .paused)
    try await fixture.running(try fixture.engine()) {
      try await fixture.endCancelled(task)
      try await waitUntil("resume data") { try fixture.record().resumeData != nil }
    }
    #expect(try fixture.record().state == .paused)
    #expect(try fixture.resumeData()?.received == 400)
  }

  @Test(.requirements("FK31"))
  func `a task without a record is cancelled, and of two tasks the one with more bytes wins`()
    async throws
  {
    try fixture.add("a", "b")
    let less = try fixture.leave(100, "a", as: .running)
    let more = try fixture.leave(400, "a", as: .running)
    let orphan = try fixture.leave(100, "b", as: .running)
    try fixture.store.objects.writeNow { [url = fixture.url("b")] tx in
      try tx.delete(DownloadRecord.self, key: url)
    }
    try await fixture.running(try fixture.engine()) {
      try await fixture.endCancelled(less)
      try await fixture.endCancelled(orphan)
      fixture.finish(more)
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.requests.count == 3)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("ZY25", "FK17"))
  func `a download removed without the app is deleted when its task has ended`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    try fixture.store.apply(.remove(withFile: true), to: .all)
    try await fixture.running(try fixture.engine()) {
      #expect(throws: Never.self) { try fixture.record() }
      try await fixture.endCancelled(task)
      try await waitUntil("the record to be deleted") {
        try fixture.store.records(DownloadRecord.all).isEmpty
      }
    }
    #expect(try fixture.folder.names(in: "store/files").isEmpty)
  }

  @Test func `a launch waits for a task that is already being cancelled`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    fixture.session.cancel(task)
    try await fixture.running(try fixture.engine()) {
      try await fixture.endCancelled(task)
      // Its bytes are not requested again.
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.map(\.offset) == [0, 400])
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test func `adopting a live task marks its record running and drops the old resume data`()
    async throws
  {
    try fixture.add("a", "b")
    let left = try fixture.leave(400, as: .running)
    try fixture.store.objects.writeNow { [url = fixture.url("a")] tx in
      _ = try tx.update(DownloadRecord.self, key: url) { record in
        record.resumeData = Data([1])
        record.unresolvedStarts = 2
      }
    }
    try await fixture.running(try fixture.engine()) {
      // The other download starts after the launch.
      let other = try await fixture.task(2)
      let record = try fixture.record()
      #expect(record.state == .running)
      #expect(record.resumeData == nil && record.unresolvedStarts == 0)
      for task in [left, other] { fixture.finish(task) }
      for name in ["a", "b"] { try await fixture.reached(.completed, name) }
    }
    #expect(fixture.session.requests.count == 2)
  }

  @Test func `a suspended task of an active download is resumed`() async throws {
    try fixture.add("a")
    let task = try fixture.leave(400, as: .running)
    fixture.session.suspend(task)
    try await fixture.running(try fixture.engine()) {
      let adopted = try await fixture.task(1)
      fixture.finish(adopted)
      try await fixture.reached(.completed)
    }
    #expect(fixture.body.matches(try fixture.file()))
  }
}
