import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

// Downloads that stay in the store until a slot needs them.

extension StartQueueTests {
  /// A queue that keeps one download of each host, and one that waits for a time, in memory.
  private func shortQueue(running: Int = 9) -> StartQueue {
    StartQueue(
      limits: ConcurrencyLimits(maximumRunning: running, maximumPerHost: 9),
      bounds: QueueBounds(perHost: 1, delayed: 1, page: 1)
    )
  }

  /// What the queue reads from the store, if nothing runs.
  private func need(
    _ queue: inout StartQueue,
    at moment: ContinuousClock.Instant? = nil,
    available: Int64? = nil
  ) -> Backlog.Need? {
    queue.takeStarts(beside: ActiveTransfers(), at: moment ?? now) { _ in available }.need
  }

  /// Inserts a download whose next attempt is due after some seconds.
  private func insertAgain(_ name: String, _ seconds: Int, in queue: inout StartQueue) {
    queue.insertAgain(.sample(url: "https://example.com/\(name)"), volume: 1) { _ in
      RetryDeadline(date: .now, instant: now.advanced(by: .seconds(seconds)))
    }
  }

  @Test func `a retry that is in memory gets its new time, although many others wait`() {
    var queue = shortQueue()
    insertAgain("a", 9, in: &queue)
    insertAgain("a", 3, in: &queue)
    let later = now.advanced(by: .seconds(3))
    let starts = queue.takeStarts(beside: ActiveTransfers(), at: later) { _ in nil }
    #expect(starts.starting.map(\.url) == ["https://example.com/a"])
    #expect(queue.isEmpty)
  }

  @Test func `a retry that is left in the store is read when its time has come`() {
    var queue = shortQueue()
    insertAgain("a", 9, in: &queue)
    insertAgain("b", 5, in: &queue)
    #expect(queue.count == 1 && !queue.isEmpty)
    #expect(need(&queue, at: now.advanced(by: .seconds(4))) == nil)
    #expect(need(&queue, at: now.advanced(by: .seconds(5))) == .frontier(.start))
  }

  /// Offers a new download that may start now.
  private func offer(
    _ name: String,
    to queue: inout StartQueue,
    change: (inout DownloadRecord) -> Void = { _ in }
  ) {
    var record = DownloadRecord.sample(url: "https://example.com/\(name)")
    change(&record)
    queue.offer(record, isNew: true, volume: 1) { _ in nil }
  }

  @Test func `a new download does not overtake those that are still in the store`() {
    var queue = StartQueue(limits: ConcurrencyLimits(maximumRunning: 9, maximumPerHost: 9))
    queue.readStore()
    offer("b", to: &queue)
    #expect(queue.count == 0)
    let stored = ["a", "b"].map { name in
      StartQueue.Stored(record: .sample(url: "https://example.com/\(name)"), volume: 1)
    }
    queue.insert(stored, of: QueuePage(start: .start), for: .frontier(.start))
    #expect(starts(&queue) == ("ab", ""))
  }

  @Test func `a download that was read and given up before it is reported as added is not lost`() {
    var queue = StartQueue(limits: ConcurrencyLimits(maximumRunning: 9, maximumPerHost: 9))
    queue.readStore()
    let record = DownloadRecord.sample(url: "https://example.com/a")
    var page = QueuePage(start: .start)
    page.next = QueuePosition(QueueLane(record))
    queue.insert(
      [StartQueue.Stored(record: record, volume: 1)],
      of: page,
      for: .frontier(.start)
    )
    // The URL had another record before, whose deletion is applied first.
    queue.remove(record.url)
    queue.noteGivenUp(record.id)
    offer("a", to: &queue)
    offer("b", to: &queue)
    #expect(queue.urls == [record.url])
    queue.noteChangesApplied()
    queue.remove(record.url)
    offer("a", to: &queue)
    #expect(queue.urls == [])
  }

  @Test func `a download in memory keeps its time when a page of the store has it`() {
    var queue = shortQueue()
    insertAgain("a", 9, in: &queue)
    queue.readStore()
    let stored = StartQueue.Stored(record: .sample(url: "https://example.com/a"), volume: 1)
    queue.insert([stored], of: QueuePage(start: .start), for: .frontier(.start))
    #expect(starts(&queue) == ("", ""))
    #expect(queue.count == 1)
  }

  @Test func `a download that starts immediately does not wait for those that follow it`() {
    var queue = shortQueue()
    var record = DownloadRecord.sample(url: "https://example.com/a")
    record.startsImmediately = true
    queue.readStore()
    let stored = StartQueue.Stored(record: record, volume: 1)
    let page = QueuePage(start: .start, next: QueuePosition(QueueLane(record)))
    queue.insert([stored], of: page, for: .frontier(.start))
    #expect(starts(&queue) == ("a", ""))
  }

  @Test func `nothing is read for a host without a free slot`() {
    var queue = shortQueue(running: 1)
    offer("a", to: &queue)
    offer("b", to: &queue)
    let starts = queue.takeStarts(beside: ActiveTransfers(), at: now) { _ in nil }
    #expect(starts.starting.map(\.url) == ["https://example.com/a"])
    #expect(starts.need == nil && !queue.isEmpty)
  }

  @Test func `nothing is read for a full volume`() {
    var queue = shortQueue()
    offer("a", to: &queue)
    offer("b", to: &queue)
    #expect(queue.count == 1)
    queue.noteFull(1, folder: "/full", at: now)
    #expect(need(&queue) == nil)
    #expect(queue.fullFolder == "/full")
  }

  @Test func `of many downloads that start immediately, most are left in the store`() {
    var queue = shortQueue()
    for name in ["a", "b", "c"] { offer(name, to: &queue) { $0.startsImmediately = true } }
    #expect(queue.urls == ["https://example.com/a"])
    #expect(starts(&queue) == ("a", ""))
    guard case .host = need(&queue) else {
      Issue.record("nothing is read from the store")
      return
    }
  }

  @Test func `downloads to a full volume are left in the store, and read when it has space`() {
    var queue = shortQueue()
    queue.noteFull(1, folder: "/full", at: now)
    queue.readStore()
    let stored = StartQueue.Stored(record: .sample(), volume: 1)
    queue.insert([stored], of: QueuePage(start: .start), for: .frontier(.start))
    #expect(queue.count == 0 && !queue.isEmpty && queue.fullFolder == "/full")
    #expect(need(&queue) == nil)
    let later = now.advanced(by: .seconds(5))
    queue.checkDiskSpace(at: later, interval: .seconds(5)) { _ in .max }
    #expect(need(&queue) == .frontier(.start))
  }

  @Test func `of many downloads that do not fit on a disk, none is forgotten`() {
    var queue = shortQueue()
    let names = ["a", "b", "c"]
    for name in names { insert(name, in: &queue) { $0.expected = 10 << 20 } }
    queue.noteFull(1, folder: "/full", at: now)
    func check(_ number: Int) {
      let moment = now.advanced(by: .seconds(5 * number))
      queue.checkDiskSpace(at: moment, interval: .seconds(5)) { _ in 30 << 20 }
    }
    check(1)
    // One fits, one is deferred in memory, and the third one is left in the store.
    #expect(starts(&queue, available: 15 << 20) == ("a", ""))
    #expect(queue.urls == ["https://example.com/b"])
    #expect(starts(&queue, available: 15 << 20) == ("", ""))
    check(2)
    #expect(need(&queue, available: 15 << 20) == .frontier(.start))
    queue.insert([], of: QueuePage(start: .start), for: .frontier(.start))
    #expect(starts(&queue, available: 15 << 20) == ("b", ""))
  }

  @Test func `a download that is left in the store keeps its volume monitored`() {
    var queue = shortQueue()
    for name in ["a", "b", "c"] { insert(name, in: &queue) { $0.expected = 10 << 20 } }
    queue.noteFull(1, folder: "/full", at: now)
    queue.checkDiskSpace(at: now.advanced(by: .seconds(5)), interval: .seconds(5)) { _ in .max }
    #expect(starts(&queue, available: 15 << 20) == ("a", ""))
    queue.remove("https://example.com/b")
    queue.checkDiskSpace(at: now.advanced(by: .seconds(10)), interval: .seconds(5)) { _ in .max }
    #expect(need(&queue, available: 15 << 20) == .frontier(.start))
    queue.insert([], of: QueuePage(start: .start), for: .frontier(.start))
    // Whatever it reads is compared with the free space again.
    insert("c", in: &queue) { $0.expected = 20 << 20 }
    #expect(starts(&queue, available: 15 << 20) == ("", ""))
  }
}
