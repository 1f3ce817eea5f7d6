import CommandTestSupport
import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The numbers in the summaries of `run` and `list --watch`.
struct QueueCountsTests: StoreSuite {
  private let folder: TemporaryFolder
  let store: String

  init() async throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    let urls = (1...5).map { "http://h/\($0)" }
    #expect(await dlstore(["--store", store, "add"] + urls).status == .done)
    let states: [DownloadState] = [.waiting, .failedRetryable, .running, .paused, .completed]
    for (url, state) in zip(urls, states) {
      try change(url) { record in
        record.state = state
        record.received = 10
        record.expected = 100
      }
    }
  }

  @Test func `remaining downloads and the missing bytes of those that wait are counted`() throws {
    var counts = QueueCounts(store: try RecordStore(at: store), scope: nil)
    let found = counts.remaining(ended: 0)
    #expect(found.count == 3 && found.waitingBytes == 180)
    let unfinished = try #require(counts.unfinished())
    #expect(unfinished.count == 3 && unfinished.bytes == 270)
  }

  @Test func `only downloads in the engine's scope are counted`() throws {
    let scope = ["http://h/2", "http://h/3", "http://h/none"]
    var counts = QueueCounts(store: try RecordStore(at: store), scope: scope)
    let found = counts.remaining(ended: 0)
    #expect(found.count == 2 && found.waitingBytes == 90)
  }

  @Test(arguments: [0, 1, 1_002])
  func `a scope of any size is counted alone`(waiting: Int) throws {
    let records = try RecordStore(at: store)
    let size = 2 * QueueCounts.maximumRead + 200
    let scope = (0..<size).map { "http://scope/\($0)" }
    let others = (0..<waiting).map { "http://other/\($0)" }
    _ = try records.addNow((scope + others).map { DownloadRequest(url: $0) })
    func complete(_ urls: some Sequence<String>) throws {
      try records.objects.write { tx in
        for url in urls {
          _ = try tx.update(DownloadRecord.self, key: url) { $0.state = .completed }
        }
      }
    }
    #expect(QueueCounts(store: records, scope: scope).unfinished()?.count == size)
    #expect(QueueCounts(store: records, scope: scope).unfinished().map { $0.bytes == nil } == true)
    try complete(scope.dropFirst(3))
    #expect(QueueCounts(store: records, scope: scope).unfinished()?.count == 3)
    try complete(scope.prefix(3))
    #expect(QueueCounts(store: records, scope: scope).unfinished()?.count == 0)
    #expect(QueueCounts(store: records, scope: nil).unfinished()?.count == 3 + waiting)
  }

  /// A time at which the counts may be read again, however long a read has taken.
  private func later(_ days: Int) -> ContinuousClock.Instant { .now + .seconds(days * 86_400) }

  @Test func `counts are read again after a commit, and not too often`() throws {
    var counts = QueueCounts(store: try RecordStore(at: store), scope: nil)
    let start = ContinuousClock.now
    #expect(counts.remaining(ended: 0, at: start).count == 3)
    try change("http://h/1") { $0.expected = nil }
    #expect(counts.remaining(ended: 0, at: start).waitingBytes == 180)
    let last = counts.remaining(ended: 0, at: later(1))
    #expect(last.count == 3 && last.waitingBytes == nil)
  }

  @Test func `ended and remaining downloads always add up to the same total`() throws {
    var counts = QueueCounts(store: try RecordStore(at: store), scope: nil)
    #expect(counts.remaining(ended: 0).count == 3)
    try change("http://h/3") { $0.state = .completed }
    // The end is reported before the store is read again.
    #expect(counts.remaining(ended: 1).count == 2)
    try change("http://h/2") { $0.state = .failedPermanent }
    // The store is read before the end is reported.
    #expect(counts.remaining(ended: 1, at: later(1)).count == 2)
    #expect(counts.remaining(ended: 2).count == 1)
    #expect(counts.remaining(ended: 2, at: later(2)).count == 1)
    // A download that another process pauses neither ends nor remains.
    try change("http://h/1") { $0.state = .paused }
    _ = counts.remaining(ended: 2, at: later(3))
    #expect(counts.remaining(ended: 2, at: later(4)).count == 0)
  }

  @Test func `speeds are measured from the stored byte counts of running downloads`() throws {
    var speeds = ListSpeeds()
    let start = SuspendingClock.now
    let date = Date(timeIntervalSince1970: 1_000)
    for second in 0...4 {
      try change("http://h/3") { record in
        record.received = Int64(second) * 10
        record.updatedAt = date + Double(second)
      }
      speeds.note(try entries(), at: start + .seconds(second), date: date + Double(second))
    }
    #expect(speeds.values.count == 1)
    let speed = try #require(speeds.values.values.first)
    #expect((9...11).contains(speed))
    let summary = speeds.summary(of: try entries())
    #expect(summary.completed == 1 && summary.remaining == 3 && summary.failed == 0)
    #expect(summary.remainingBytes == Int64(90 + 90 + 60))
    // A download that has stopped has no speed.
    try change("http://h/3") { $0.state = .paused }
    speeds.note(try entries(), at: start + .seconds(5), date: date + 5)
    #expect(speeds.values.isEmpty && !speeds.hasRunning)
  }

  @Test(arguments: 0..<10)
  func `a speed is unknown until it is right, whenever the list is read`(tenths: Int) throws {
    var speeds = ListSpeeds()
    let start = SuspendingClock.now
    let date = Date(timeIntervalSince1970: 1_000)
    // The engine stores a count each second; the list is read twice a second.
    var known = 0
    for read in 0..<20 {
      let time = Double(read) / 2 + Double(tenths) / 10
      let second = time.rounded(.down)
      try change("http://h/3") { record in
        record.received = Int64(second) * 1_000
        record.updatedAt = date + second
      }
      speeds.note(try entries(), at: start + .seconds(time), date: date + time)
      guard let speed = speeds.values.values.first else { continue }
      known += 1
      #expect((990...1_010).contains(speed), "\(time): \(speed)")
    }
    #expect(known >= 17 && speeds.hasRunning)
    // Nothing has arrived for longer than the window.
    speeds.note(try entries(), at: start + .seconds(30), date: date + 30)
    #expect(speeds.values.values.first == 0)
  }

  @Test func `a download that the list does not show for a while keeps its speed`() throws {
    var speeds = ListSpeeds()
    let start = SuspendingClock.now
    let date = Date(timeIntervalSince1970: 1_000)
    for second in [0, 1, 2, 10] {
      try change("http://h/3") { record in
        record.received = Int64(second) * 1_000
        record.updatedAt = date + Double(second)
      }
      speeds.note(try entries(), at: start + .seconds(second), date: date + Double(second))
      // Another filter hides it.
      if second == 2 { speeds.note([], at: start + .seconds(3), date: date + 3) }
    }
    let speed = try #require(speeds.values.values.first)
    #expect((990...1_010).contains(speed))
  }

  private func entries() throws -> [DownloadEntry] {
    let store = try RecordStore(at: store)
    let roots = try store.roots()
    return try store.records(DownloadRecord.all).map { DownloadEntry($0, roots) }
  }
}
