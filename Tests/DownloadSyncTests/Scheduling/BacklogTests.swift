import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct BacklogTests {
  private let now = ContinuousClock.now

  private func record(
    _ priority: Int32,
    change: (inout DownloadRecord) -> Void = { _ in }
  ) -> DownloadRecord {
    var record = DownloadRecord.sample(url: "https://example.com/a")
    record.priority = priority
    change(&record)
    return record
  }

  private func candidate(_ record: DownloadRecord) -> Scheduler.Candidate {
    Scheduler.Candidate(record, order: 1, volume: 1)
  }

  /// A backlog whose frontier is at a position.
  private func backlog(at position: QueuePosition?) -> Backlog {
    var backlog = Backlog()
    backlog.rewind()
    backlog.note(.frontier(.start), readUpTo: position)
    return backlog
  }

  @Test func `a download of the store may precede those of lower priorities`() {
    let backlog = backlog(at: QueuePosition(QueueLane(record(3))))
    #expect(backlog.mayPrecede(candidate(record(2))))
    #expect(!backlog.mayPrecede(candidate(record(3))))
    #expect(!backlog.mayPrecede(candidate(record(2) { $0.startsImmediately = true })))
    #expect(self.backlog(at: .start).mayPrecede(candidate(record(9))))
    var slow = candidate(record(9))
    slow.wasSlow = true
    #expect(backlog.mayPrecede(slow), "any other download starts before a slow one")
    #expect(!self.backlog(at: nil).mayPrecede(candidate(record(-9))))
  }

  @Test func `the frontier will read what is after it, and new downloads of its own lane`() {
    let backlog = backlog(at: QueuePosition(QueueLane(record(3))))
    #expect(backlog.willRead(record(2), isNew: false))
    #expect(backlog.willRead(record(3), isNew: true))
    #expect(!backlog.willRead(record(3), isNew: false))
    #expect(!backlog.willRead(record(3) { $0.notBefore = Date() }, isNew: true))
    #expect(!backlog.willRead(record(4), isNew: true))
    let end = QueuePosition(QueueLane(record(3)), isAfterLane: true)
    #expect(!self.backlog(at: end).willRead(record(3), isNew: true))
    #expect(!self.backlog(at: nil).willRead(record(-9), isNew: true))
  }

  @Test func `the frontier has passed new downloads when it is among those with a start`() throws {
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path("store"))
    try store.addNow(["a", "b"].map { DownloadRequest(url: "https://example.com/\($0)") })
    let lane = QueueLane(record(0))
    let page = try store.objects.read { tx in try tx.page(lane.query, size: 1) }
    let token = try #require(page.next)
    for isTimed in [true, false] {
      let backlog = backlog(at: QueuePosition(lane, after: token, isTimed: isTimed))
      #expect(backlog.willRead(record(0), isNew: true) == !isTimed)
    }
  }

  @Test func `a host is read on from the earliest position that was left`() {
    var backlog = backlog(at: nil)
    let host = HostQueueKey(origin: "h", volume: 1)
    let (early, late) = (QueuePosition(QueueLane(record(3))), QueuePosition(QueueLane(record(2))))
    backlog.leave(host, at: late)
    backlog.leave(host, at: early)
    backlog.leave(host, at: late)
    #expect(backlog.cursors == [host: early] && !backlog.isEmpty)
    backlog.note(.host(host, early), readUpTo: nil)
    #expect(backlog.isEmpty)
  }

  @Test func `downloads to a full volume are read again when it has space`() {
    var backlog = backlog(at: nil)
    backlog.leave(HostQueueKey(origin: "h", volume: 1), at: .start)
    backlog.leave(HostQueueKey(origin: "h", volume: 2), at: .start)
    backlog.block(volume: 1)
    #expect(backlog.cursors.keys.map(\.volume) == [2] && backlog.skippedVolumes == [1])
    backlog.unblock(volume: 1)
    #expect(backlog.frontier == .start && backlog.skippedVolumes.isEmpty)
  }

  @Test func `downloads that wait for a time are read at it, or when few are in memory`() {
    var backlog = backlog(at: nil)
    backlog.leave(until: now.advanced(by: .seconds(2)), areManyDelayed: false)
    backlog.leave(until: now.advanced(by: .seconds(1)), areManyDelayed: false)
    backlog.leave(until: now.advanced(by: .seconds(3)), areManyDelayed: false)
    backlog.advance(to: now, areFewDelayed: true)
    #expect(backlog.frontier == nil && !backlog.isEmpty)
    backlog.advance(to: now.advanced(by: .seconds(1)), areFewDelayed: false)
    #expect(backlog.frontier == .start && backlog.due == nil)
    backlog.note(.frontier(.start), readUpTo: nil)
    backlog.leave(until: now.advanced(by: .seconds(9)), areManyDelayed: true)
    backlog.advance(to: now, areFewDelayed: true)
    #expect(backlog.frontier == .start)
  }

  @Test(arguments: 0..<8) func `pages have all waiting downloads in starting order`(
    seed: UInt64
  )
    throws
  {
    let folder = try TemporaryFolder()
    let store = try RecordStore(at: folder.path("store"))
    var random = SplitMix64(seed: seed)
    let moment = Date(timeIntervalSinceReferenceDate: 1_000)
    try store.addNow((0..<150).map { DownloadRequest(url: "https://example.com/\($0)") })
    var records = try store.records()
    for index in records.indices where Bool.random(using: &random) {
      records[index].priority = Int32.random(in: -1...1, using: &random)
      records[index].isHeld = Int.random(in: 0..<8, using: &random) == 0
      records[index].startsImmediately = Int.random(in: 0..<4, using: &random) == 0
      records[index].intent = Int.random(in: 0..<8, using: &random) == 0 ? .cancel : .run
      records[index].state = [.waiting, .failedRetryable, .running].randomElement(using: &random)!
      let (early, late) = (moment, moment.addingTimeInterval(1))
      records[index].notBefore = [nil, early, late].randomElement(using: &random)!
      if records[index].state == .failedRetryable {
        records[index].nextRetryAt = [early, late].randomElement(using: &random)!
      }
    }
    try store.objects.write { [records] tx in for record in records { try tx.upsert(record) } }
    let expected = records.enumerated().filter { $0.element.mayStart }.sorted { left, right in
      let lanes = (QueueLane(left.element), QueueLane(right.element))
      if lanes.0 != lanes.1 { return lanes.0 < lanes.1 }
      func times(_ record: DownloadRecord) -> [Double] {
        [record.notBefore, record.nextRetryAt].map { $0?.timeIntervalSinceReferenceDate ?? 0 }
      }
      let keys = (times(left.element), times(right.element))
      return keys.0 == keys.1
        ? left.offset < right.offset : keys.0.lexicographicallyPrecedes(keys.1)
    }
    var position: QueuePosition? = .start
    var found: [String] = []
    while let start = position {
      let page = try store.objects.read { tx in try tx.queuePage(at: start, size: 7) }
      found += page.records.map(\.url)
      if let next = page.next { #expect(start < next && !(next < start)) }
      position = page.next
    }
    #expect(found == expected.map(\.element.url))
    let plan = try store.objects.read { tx in
      try tx.explain(QueueLane(records[0]).query.order(by: \.notBefore).order(by: \.nextRetryAt))
    }
    #expect(plan.isExact && plan.isOrderServed, "\(plan)")
    for query in DownloadEngine.interrupted {
      let plan = try store.objects.read { tx in try tx.explain(query) }
      guard case .orderedIndex = plan.access else {
        Issue.record("\(plan)")
        continue
      }
    }
  }
}
