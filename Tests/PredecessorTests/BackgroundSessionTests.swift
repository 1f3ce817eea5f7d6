import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ResumeData
import TestSupport
import TestTraits
import Testing

/// Downloads over a simulated background session, with the app running.
@Suite struct BackgroundSessionTests {
  private let fixture: BackgroundFixture

  init() throws {
    fixture = try BackgroundFixture()
  }

  @Test(.requirements("ZY31", "ZY32", "ZY33", "ZY35", "SC8", "MO10"))
  func `pausing a background task stores resume data, and resuming continues from it`() async throws
  {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      fixture.receive(400, first)
      try fixture.store.apply(.pause, to: .all)
      try await fixture.endCancelled(first)
      try await waitUntil("resume data") { try fixture.record().resumeData != nil }
      let data = try #require(try fixture.resumeData())
      #expect(try fixture.record().state == .paused)
      #expect(data.received == 400 && data.entityTag == "\"1\"" && data.form.isKeyedArchive)
      #expect(data.temporaryFileName?.hasPrefix("CFNetworkDownload_") == true)
      #expect(try fixture.sessionFiles() == [data.temporaryFileName])

      try fixture.store.apply(.resume(immediately: false), to: .all)
      let second = try await fixture.task(2)
      #expect(fixture.session.requests[1].resumeData != nil)
      #expect(fixture.session.network.requests[1].offset == 400)
      #expect(fixture.session.network.requests[1].validator == "\"1\"")
      fixture.finish(second)
      try await fixture.reached(.completed)
    }
    #expect(fixture.body.matches(try fixture.file()))
    #expect(try fixture.record().resumeData == nil)
    #expect(try fixture.sessionFiles().isEmpty)
  }

  @Test(.requirements("ZY38", "ZY63"))
  func `a preempted background task leaves resume data and continues from it`() async throws {
    try fixture.add("a")
    try await fixture.running(try fixture.engine(1)) {
      let first = try await fixture.task(1)
      fixture.receive(400, first)
      try fixture.add("b")
      try fixture.store.apply(.resume(immediately: true), to: .matching(try fixture.record("b").id))
      try await fixture.endCancelled(first)
      let second = try await fixture.task(2)
      #expect(try fixture.resumeData()?.received == 400)
      try fixture.store.apply(.resume(immediately: false), to: .matching(try fixture.record().id))
      fixture.finish(second)
      let third = try await fixture.task(3)
      #expect(fixture.session.network.requests[2].offset == 400)
      fixture.finish(third)
      try await fixture.reached(.completed)
    }
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test func `stopping the engine stores resume data for the next run`() async throws {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      fixture.receive(400, try await fixture.task(1))
    }
    #expect(try fixture.record().state == .waiting)
    #expect(try fixture.resumeData()?.received == 400)
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests[1].offset == 400)
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test(.requirements("FK34"))
  func `stalled background tasks continue when the app enters the foreground`() async throws {
    try fixture.add("a")
    let engine = try fixture.engine()
    try await fixture.running(engine) {
      let task = try await fixture.task(1)
      fixture.receive(400, task)
      fixture.session.fallSilent()
      #expect(!fixture.session.advance(task))
      engine.wakeTasks()
      fixture.finish(task)
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.requests.count == 1)
  }
}
