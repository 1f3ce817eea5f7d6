import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadSync

/// The events that follow from the records of another engine.
struct FollowedRecordsTests {
  private let folder: TemporaryFolder
  private let store: RecordStore

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  private func record(_ name: String) throws -> DownloadRecord {
    try store.addNow([DownloadRequest(url: "http://h/\(name)")])[0].record
  }

  private func words(_ events: [DownloadEvent]) -> [String] {
    events.map { event in
      switch event {
      case .started(_, let offset): "started \(offset)"
      case .completed: "completed"
      case .failed(_, let failure): "failed \(failure.code.rawValue)"
      case .retrying(_, _, let wait): "retrying \(wait / .seconds(1))"
      case .released: "released"
      default: "\(event)"
      }
    }
  }

  @Test func `each change of state is one event`() throws {
    let now = Date(timeIntervalSince1970: 1_000)
    var followed = FollowedRecords()
    var record = try record("a")
    func note() -> [String] { words(followed.note([record], now: now, at: .now)) }
    #expect(note() == [])
    (record.state, record.received) = (.running, 7)
    #expect(note() == ["started 7"])
    record.received = 9
    #expect(note() == [])
    #expect(followed.progress(at: .now).map(\.received) == [9])
    record.attempts = [
      Attempt(at: now, url: record.url, failure: .init(.serverBusy, ""), received: 9)
    ]
    (record.state, record.failedAttempts) = (.failedRetryable, 1)
    record.nextRetryAt = now.addingTimeInterval(3)
    #expect(note() == ["retrying 3.0"] && note() == [])
    record.failedAttempts = 2
    #expect(note() == ["retrying 3.0"])
    record.state = .paused
    #expect(note() == ["released"])
    record.state = .failedPermanent
    #expect(note() == ["failed serverBusy"])
    record.state = .completed
    #expect(note() == ["completed"] && note() == [])
    #expect(followed.progress(at: .now).isEmpty)
  }

  @Test func `a refresh that has ended before the first call is told by the known record`() throws {
    let now = Date(timeIntervalSince1970: 1_000)
    func end(_ change: (inout DownloadRecord) throws -> Void) throws -> [String] {
      var record = try record("a")
      record.fileIdentity = FileIdentity(size: 1, inode: 1, modified: 1)
      (record.state, record.completedAt, record.entityTag) = (.completed, now, "\"1\"")
      // An earlier refresh has failed.
      let earlier = DownloadFailure(.serverBusy, "busy")
      record.attempts = [Attempt(at: now + 1, url: record.url, failure: earlier, received: 0)]
      record.failedAttempts = 1
      try record.apply(.command(.refresh), at: now + 1)
      var followed = FollowedRecords(after: [record])
      try record.apply(.started(keepingBytes: false), at: now + 2)
      try change(&record)
      return words(followed.note([record], now: now, at: .now))
    }
    let unchanged = try end { try $0.apply(.notModified, at: now + 3) }
    #expect(unchanged.first?.hasPrefix("unchanged") == true)
    let failure = DownloadFailure(.notFound, "gone")
    let failing = DownloadRecord.Event.attemptFailed(.init(failure, from: "u") { _ in nil })
    #expect(try end { try $0.apply(failing, at: now + 3) } == ["failed notFound"])
    let cancelled = try end { record in
      try record.apply(.command(.cancel), at: now + 3)
      try record.apply(.cancellationCarriedOut(), at: now + 4)
    }
    #expect(cancelled == ["released"])
    #expect(try end { _ in } == ["started 0"])
  }

  @Test func `downloads whose URLs differ only in bytes are each followed`() throws {
    var (one, two) = (try record("\u{E9}"), try record("e\u{301}"))
    (one.state, one.received) = (.running, 1)
    (two.state, two.received) = (.running, 2)
    var followed = FollowedRecords()
    #expect(words(followed.note([one, two], now: .now, at: .now)) == ["started 1", "started 2"])
    #expect(followed.progress(at: .now).map(\.received).sorted() == [1, 2])
    one.state = .completed
    #expect(words(followed.note([one, two], now: .now, at: .now)) == ["completed"])
    #expect(words(followed.note([one, two], now: .now, at: .now)) == [])
  }

  @Test func `the first records tell which downloads have ended`() throws {
    var (old, failed, paused) = (try record("old"), try record("failed"), try record("paused"))
    (old.state, failed.state, paused.state) = (.completed, .failedPermanent, .paused)
    failed.attempts = [
      Attempt(at: .now, url: failed.url, failure: .init(.notFound, ""), received: 0)
    ]
    var followed = FollowedRecords()
    #expect(
      words(followed.note([old, failed, paused], now: .now, at: .now))
        == ["completed", "failed notFound"]
    )
  }
}

/// The buffer between a run of shared downloads and its consumer.
struct SharedOutputTests {
  private let failure = DownloadFailure(.entityChanged, "the file on the server has changed")

  private func progress(_ count: Int, leading: Bool = true) -> SharedProgress {
    let transfers = (0..<count).map { number in
      DownloadProgress(
        recordID: "\(number)",
        url: "http://h/\(number)",
        filename: "\(number)",
        state: .running,
        received: 1
      )
    }
    return SharedProgress(records: [], transfers: transfers, isLeading: leading)
  }

  private func element(_ output: SharedOutput) -> SharedProgress? {
    guard case .element(let progress) = output.next() else { return nil }
    return progress
  }

  @Test func `the speed is that of all transfers, and the sums do not overflow`() {
    var state = progress(3)
    #expect(state.bytesPerSecond == nil)
    (state.transfers[0].bytesPerSecond, state.transfers[1].bytesPerSecond) = (1, 2)
    #expect(state.bytesPerSecond == 3)
    var record = DownloadRecord.sample()
    (record.received, record.expected) = (1 << 62, .max)
    state.records = [record, record]
    #expect(state.received == .max && state.expected == .max)
    #expect(state.estimate.fraction == 1)
  }

  @Test func `a slow consumer gets the latest state with all events`() {
    let output = SharedOutput()
    #expect(element(output) == nil)
    output.report(progress(3), [.released(url: "http://h/9")])
    output.note(.released(url: "http://h/0"))
    output.report(progress(2), [])
    output.note(.rolledBack(url: "http://h/1", from: 7, failure))
    #expect(
      element(output)?.events
        == [
          .released(url: "http://h/9"), .released(url: "http://h/0"),
          .rolledBack(url: "http://h/1", from: 7, failure),
        ]
    )
    #expect(element(output) == nil)
  }

  @Test func `an event delivers the last state again, without the transfer that has ended`() {
    let output = SharedOutput()
    output.report(progress(2))
    #expect(element(output)?.transfers.count == 2)
    output.note(.rolledBack(url: "http://h/1", from: 7, failure))
    #expect(element(output)?.transfers.count == 2)
    output.note(.released(url: "http://h/0"))
    #expect(element(output)?.transfers.map(\.url) == ["http://h/1"])
  }

  @Test func `events beyond the capacity are counted`() {
    let output = SharedOutput()
    output.report(progress(0))
    for _ in 0..<1_030 { output.note(.rolledBack(url: "u", from: 1, failure)) }
    let events = element(output)?.events ?? []
    #expect(events.first == .missed(6) && events.count == 1_025)
  }

  @Test func `the error is thrown once, after the last state`() {
    let output = SharedOutput()
    output.report(progress(1))
    output.end(.failure(EngineError(.stopped, "x")))
    #expect(element(output) != nil)
    guard case .end(.failure) = output.next(), case .end(.success) = output.next() else {
      Issue.record("no end")
      return
    }
  }
}
