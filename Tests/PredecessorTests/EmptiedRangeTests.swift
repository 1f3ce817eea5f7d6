import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

/// Servers that answer a request for a range with an empty body, to a session that resumes by itself.
@Suite struct EmptiedRangeTests {
  private let fixture: BackgroundFixture

  init() throws {
    fixture = try BackgroundFixture()
  }

  /// Lets the server answer requests for ranges with an empty body.
  private func emptyRanges(saysLength: Bool = true) {
    var resource = SimulatedResource(fixture.body, entityTag: "\"1\"")
    resource.emptiesRanges = true
    resource.saysLength = saysLength
    fixture.session.network.serve(resource, at: fixture.url("a"))
  }

  @Test(arguments: [true, false])
  func `an empty body in answer to a range does not become the file`(
    saysLength: Bool
  ) async throws {
    try fixture.add("a")
    let lost = DownloadFailure(.connectionLost, "the connection was lost")
    fixture.session.network.interrupt(fixture.url("a"), afterBytes: 400, with: lost)
    try await fixture.running(try fixture.engine()) {
      let first = try await fixture.task(1)
      emptyRanges(saysLength: saysLength)
      fixture.finish(first)
      fixture.finish(try await fixture.task(2))
      // The whole file is requested.
      fixture.finish(try await fixture.task(3))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.map(\.offset) == [0, 400, 0])
    #expect(fixture.body.matches(try fixture.file()))
    #expect(try fixture.record().attempts.map(\.failure.code) == [.connectionLost, .badResponse])
  }

  @Test(arguments: [true, false])
  func `an empty body that was delivered without the app does not become the file`(
    isAdopted: Bool
  ) async throws {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      fixture.receive(400, try await fixture.task(1))
    }
    let data = try #require(try fixture.record().resumeData)
    emptyRanges()
    // The app starts a task, and dies. Another launch may have adopted the task before it ended.
    let url = fixture.url("a")
    let request = TaskRequest(url: url, recordID: try fixture.record().id, resumeData: data)
    let task = fixture.session.start(request, sink: DeadSink())
    fixture.session.crash()
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { record in
        record.state = .running
        if isAdopted { _ = try? record.apply(.taskAdopted(entityTag: "\"1\""), at: Date()) }
      }
    }
    fixture.finish(task)
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(3))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.map(\.offset) == [0, 400, 0])
    #expect(fixture.body.matches(try fixture.file()))
  }

  @Test func `a file that has become empty is stored after one more request`() async throws {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      fixture.receive(400, try await fixture.task(1))
    }
    let empty = SimulatedBody(seed: 8, byteCount: 0)
    fixture.session.network.serve(
      SimulatedResource(empty, entityTag: "\"2\""),
      at: fixture.url("a")
    )
    try await fixture.running(try fixture.engine()) {
      fixture.finish(try await fixture.task(2))
      fixture.finish(try await fixture.task(3))
      try await fixture.reached(.completed)
    }
    #expect(fixture.session.network.requests.map(\.offset) == [0, 400, 0])
    #expect(try fixture.file().isEmpty)
  }
}
