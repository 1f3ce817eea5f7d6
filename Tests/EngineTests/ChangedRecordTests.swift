import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import Testing

/// A transfer whose record another process changes before the engine notices.
@Suite(.timeLimit(.minutes(10)))
struct ChangedRecordTests {
  /// A response with a different entity than the one being resumed.
  private static let otherEntity = ResponseHead(
    status: 200,
    fields: [
      HeaderField(name: "Content-Length", value: "6"), HeaderField(name: "ETag", value: "\"2\""),
    ]
  )

  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
    try fixture.add("a")
    try fixture.change("a", partial: 3) { record in
      record.received = 3
      record.expected = 6
      record.entityTag = "\"1\""
    }
  }

  @Test func `a changed entity does not touch the partial file of a record with a new URL`()
    async throws
  {
    let engine = try fixture.engine()
    let path = try fixture.layout("a").partialPath
    try await fixture.running(engine) {
      try await fixture.started(1)
      let task = fixture.transport.started[0]
      #expect(task.request.offset == 3)
      try fixture.store.replaceURLNow(matching: fixture.url("a"), with: fixture.url("b"))
      // This holds whether or not the engine has seen the change.
      #expect(task.sink.receive(Self.otherEntity) == .cancel)
      #expect(try Data(contentsOf: URL(filePath: path)) == Data(repeating: 7, count: 3))
      task.sink.finish(.cancelled)
      try await fixture.started(2)
      let next = fixture.transport.started[1].request
      #expect(next.url == fixture.url("b"))
      #expect(next.offset == 3)
      #expect(next.validator == "\"1\"")
      #expect(try Data(contentsOf: URL(filePath: path)) == Data(repeating: 7, count: 3))
    }
    #expect(try fixture.record("b").received == 3)
  }

  @Test func `a changed entity does not touch the partial file of a restarted record`() async throws
  {
    let engine = try fixture.engine()
    let path = try fixture.layout("a").partialPath
    try await fixture.running(engine) {
      try await fixture.started(1)
      try fixture.store.apply(.restart, to: .matching(fixture.url("a")))
      #expect(fixture.transport.started[0].sink.receive(Self.otherEntity) == .cancel)
      #expect(try Data(contentsOf: URL(filePath: path)).count == 3)
      fixture.transport.started[0].sink.finish(.cancelled)
      try await fixture.started(2)
      #expect(fixture.transport.started[1].request.offset == 0)
    }
  }

  @Test func `a changed entity drops the bytes of an unchanged record`() async throws {
    let engine = try fixture.engine()
    let path = try fixture.layout("a").partialPath
    try await fixture.running(engine) {
      try await fixture.started(1)
      #expect(fixture.transport.started[0].sink.receive(Self.otherEntity) == .proceed)
      let record = try fixture.record("a")
      #expect(record.received == 0)
      #expect(record.entityTag == "\"2\"")
      #expect(try Data(contentsOf: URL(filePath: path)).isEmpty)
    }
  }
}
