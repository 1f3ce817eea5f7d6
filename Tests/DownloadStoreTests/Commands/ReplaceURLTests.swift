import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@Suite struct ReplaceURLTests {
  let fixture: StoreFixture
  let url = "https://example.com/a?signature=old"
  let new = "https://example.com/a?signature=new"

  init() throws {
    fixture = try StoreFixture()
    try fixture.add(url) { request in
      request.headers = [HeaderField(name: "Cookie", value: "x")]
      request.mirrors = ["https://mirror.example/a", new]
    }
    try fixture.change(url) { record in
      record.state = .failedPermanent
      record.received = 40
      record.entityTag = "\"1\""
      record.resumeData = Data([1])
      record.failedAttempts = 3
      record.attempts = [
        Attempt(
          at: fixture.now,
          url: url,
          failure: DownloadFailure(.refused, "403"),
          received: 40
        )
      ]
    }
  }

  private func code(_ body: () throws -> CommandOutcome) -> RecordStoreError.Code? {
    #expect(throws: RecordStoreError.self) { _ = try body() }?.code
  }

  @Test func `each change of the URL starts a new generation, also a change back`() throws {
    let before = try fixture.store.record(matching: url).generation
    try fixture.store.replaceURLNow(matching: url, with: new)
    #expect(try fixture.store.record(matching: new).generation == before + 1)
    try fixture.store.replaceURLNow(matching: new, with: url)
    #expect(try fixture.store.record(matching: url).generation == before + 2)
  }

  @Test func `a download keeps its id, bytes and history under a new URL`() throws {
    let before = try fixture.store.record(matching: url)
    let partial = try fixture.layout(of: before).partialPath
    #expect(try fixture.store.replaceURLNow(matching: url, with: new).isDone)
    #expect(throws: RecordStoreError.self) { try fixture.store.record(matching: url) }
    let record = try fixture.store.record(matching: new)
    #expect(record.id == before.id)
    #expect(try fixture.layout(of: record).partialPath == partial)
    #expect(record.received == 40 && record.entityTag == "\"1\"")
    #expect(record.attempts == before.attempts)
    #expect(record.destination == before.destination)
    #expect(try fixture.store.headers(of: record).map(\.name) == ["Cookie"])
    #expect(record.mirrors == ["https://mirror.example/a"])
    // Resume data contains the old URL.
    #expect(record.resumeData == nil)
    #expect(try fixture.store.records(DownloadRecord.all).count == 1)
  }

  @Test(arguments: [
    (DownloadState.failedPermanent, DownloadState.waiting), (.failedRetryable, .waiting),
    (.running, .waiting), (.waiting, .waiting), (.paused, .paused), (.completed, .completed),
    (.cancelled, .cancelled),
  ])
  func `replacing the URL resumes a failed download and keeps other states`(
    state: DownloadState,
    then: DownloadState
  ) throws {
    try fixture.change(url) { record in
      record.state = state
      record.intent = state == .paused ? .pause : .run
    }
    let record = try #require(try fixture.store.replaceURLNow(matching: url, with: new).record)
    #expect(record.state == then)
    #expect(record.failedAttempts == 0)
  }

  @Test func `a URL of another download or an invalid URL is rejected`() throws {
    try fixture.add(new)
    let before = try fixture.store.records(DownloadRecord.all)
    #expect(code { try fixture.store.replaceURLNow(matching: url, with: new) } == .urlTaken)
    #expect(
      code { try fixture.store.replaceURLNow(matching: url, with: "ftp://x/y") } == .invalidURL
    )
    #expect(
      code { try fixture.store.replaceURLNow(matching: "https://x.org/", with: new) }
        == .unknownRecord
    )
    #expect(try fixture.store.records(DownloadRecord.all) == before)
    #expect(try !fixture.store.replaceURLNow(matching: url, with: url).isDone)
  }

  @Test func `a URL cannot be replaced during the final rename`() throws {
    try fixture.change(url) { $0.state = .finalizing }
    #expect(code { try fixture.store.replaceURLNow(matching: url, with: new) } == .busy)
  }

  @Test func `the old URL can be added again with an id of its own`() throws {
    let first = try fixture.store.record(matching: url)
    try fixture.store.replaceURLNow(matching: url, with: new)
    let again = try fixture.add(url)
    #expect(again.isNew)
    #expect(again.record.id != first.id && again.record.id.count == 16)
    let partial = PartialName(recordID: again.record.id, storeID: fixture.store.id)
    #expect(PartialName(partial.text) == partial)
    #expect(again.record.destination != first.destination)
    // The new record's URL can be replaced, too.
    try fixture.store.replaceURLNow(matching: url, with: "https://example.com/b")
    let third = try fixture.add(url).record
    #expect(Set([first.id, again.record.id, third.id]).count == 3)
  }

  // MARK: Header fields

  private let elsewhere = "https://other.example/a"

  private func sent(to url: String) throws -> [String] {
    let record = try fixture.store.record(matching: url)
    return try fixture.store.headers(of: record, sentTo: url).map(\.value)
  }

  @Test func `header fields stay with the origin that they were given for`() throws {
    #expect(try sent(to: url) == ["x"])
    try fixture.store.replaceURLNow(matching: url, with: elsewhere)
    #expect(try sent(to: elsewhere) == [])
    // They are stored, and sent again to their own origin.
    let record = try fixture.store.record(matching: elsewhere)
    #expect(try fixture.store.headers(of: record).map(\.value) == ["x"])
    try fixture.store.replaceURLNow(matching: elsewhere, with: new)
    #expect(try sent(to: new) == ["x"])
  }

  @Test func `header fields added with a new URL belong to its origin`() throws {
    try fixture.store.replaceURLNow(matching: url, with: elsewhere)
    try fixture.add(elsewhere) { $0.headers = [HeaderField(name: "Cookie", value: "y")] }
    #expect(try sent(to: elsewhere) == ["y"])
    try fixture.store.replaceURLNow(matching: elsewhere, with: new)
    #expect(try sent(to: new) == [])
  }
}
