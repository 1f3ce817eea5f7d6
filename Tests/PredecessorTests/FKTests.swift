import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import ObjectStore
import TestTraits
import Testing

/// Requirements of FKDownloader.
@Suite(.timeLimit(.minutes(10)))
struct FKTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
  }

  @Test(
    .requirements("FK3", "FK29"),
    arguments: [(true, false), (false, false), (true, true), (false, true)]
  )
  func `a task request carries the cellular and background preferences`(
    allowsCellular: Bool,
    prefersBackground: Bool
  ) async throws {
    var request = DownloadRequest(url: fixture.url("a"))
    #expect(request.allowsCellular && !request.prefersBackground)
    request.allowsCellular = allowsCellular
    request.prefersBackground = prefersBackground
    try fixture.store.addNow([request])
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let request = fixture.transport.started[0].request
      #expect(request.allowsCellular == allowsCellular)
      #expect(request.prefersBackground == prefersBackground)
    }
  }

  @Test(.requirements("FK6")) func `no task starts before the engine runs`() async throws {
    try fixture.add("a")
    let engine = try fixture.engine()
    try await engine.store.add([DownloadRequest(url: fixture.url("b"))])
    try await engine.store.resume(.all, immediately: true)
    #expect(fixture.transport.started.isEmpty)
    try await fixture.running(engine) { try await fixture.started(2) }
  }

  @Test(.requirements("FK10")) func `a store answers queries before any engine has run`() throws {
    try fixture.add("a")
    try fixture.change("a") { record in
      record.state = .paused
      record.received = 40
      record.expected = 100
    }
    let again = try RecordStore(at: fixture.store.path)
    let record = try again.record(matching: fixture.url("a"))
    #expect(record.state == .paused)
    #expect(record.received == 40 && record.expected == 100)
  }

  @Test(.requirements("FK22"))
  func `a group totals the downloads of a tag as members join and leave`() throws {
    try fixture.add("a", "b", "c")
    for (index, name) in ["a", "b", "c"].enumerated() {
      try fixture.change(name) { record in
        record.received = Int64(10 * index)
        record.expected = 100
      }
    }
    var join = RecordUpdate()
    join.addedTags = ["set"]
    for name in ["a", "b", "c"] {
      try fixture.store.updateNow(matching: fixture.url(name), with: join)
    }
    let group = fixture.store.group("set")
    #expect(try group.progress().received == 30)
    #expect(try group.progress().expected == 300)
    var leave = RecordUpdate()
    leave.removedTags = ["set"]
    try fixture.store.updateNow(matching: fixture.url("c"), with: leave)
    #expect(try group.progress().received == 10)
    #expect(
      try Set(fixture.store.records(group.query).map(\.url)) == [
        fixture.url("a"), fixture.url("b"),
      ]
    )
    // A group without members is empty, and its downloads remain.
    for name in ["a", "b"] { try fixture.store.updateNow(matching: fixture.url(name), with: leave) }
    #expect(try group.progress() == GroupProgress())
    #expect(try fixture.store.records(DownloadRecord.all).count == 3)
  }

  @Test(.requirements("FK30", "SC12")) func `a task request carries its record's id`() async throws
  {
    try fixture.add("a")
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(1)
      let request = fixture.transport.started[0].request
      #expect(try request.recordID == fixture.record("a").id)
    }
  }

  @Test(.requirements("FK5", "FK31"))
  func `live tasks without a record do not block the reconciliation of others`() async throws {
    let known = RecordIdentity.id(forURL: "https://example.com/a")
    let ids = ["0000000000000000", known, "1111111111111111"]
    let left = ids.enumerated().map { index, id in
      TaskSnapshot(id: TaskID(rawValue: UInt64(index + 1)), recordID: id, bytesReceived: 1)
    }
    let fixture = try ManualFixture(left: left)
    try fixture.add("a", "b")
    try fixture.change("a", partial: 40) { record in
      record.state = .running
      record.received = 40
      record.entityTag = "\"1\""
    }
    let found = try await fixture.engine().reconcileRecords()
    #expect(fixture.transport.cancelled == left.map(\.id))
    #expect(found.map(\.record.filename) == ["a", "b"])
    #expect(try fixture.record("a").received == 40)
    #expect(try fixture.record("a").state == .waiting)
  }

  @Test(
    .requirements("FK35"),
    arguments: [
      "https://example.com/a%2Fb", "https://example.com/a/b", "https://example.com/%61/b",
      "https://example.com/a%252Fb", "https://example.com/a/b?sig=%2B%20+/=",
      "https://example.com/é",
    ]
  )
  func `a URL is requested byte for byte as it was given`(
    url: String
  ) async throws {
    try fixture.store.addNow(
      [DownloadRequest(url: url), DownloadRequest(url: "https://example.com/A/b")]
    )
    #expect(try fixture.store.records(DownloadRecord.all).count == 2)
    try await fixture.running(try fixture.engine()) {
      try await fixture.started(2)
      #expect(fixture.transport.started.contains { $0.request.url.utf8.elementsEqual(url.utf8) })
    }
  }

  @Test(.requirements("FK35")) func `URLs that differ in spelling are separate downloads`() throws {
    let urls = ["a%2Fb", "a/b", "%61/b", "a%252Fb", "a//b", "a/./b"].map(fixture.url)
    let added = try fixture.store.addNow(urls.map(DownloadRequest.init))
    #expect(added.allSatisfy { $0.isNew })
    #expect(Set(added.map(\.record.id)).count == urls.count)
  }
}
