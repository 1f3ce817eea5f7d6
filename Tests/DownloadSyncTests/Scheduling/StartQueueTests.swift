import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct StartQueueTests {
  private let folder: TemporaryFolder
  private let now = ContinuousClock.now

  init() throws { folder = try TemporaryFolder() }

  private func queue(
    _ names: String...,
    running: Int = 2,
    volume: UInt64 = 1,
    change: (inout DownloadRecord) -> Void = { _ in }
  ) -> StartQueue {
    var queue = StartQueue(limits: ConcurrencyLimits(maximumRunning: running, maximumPerHost: 9))
    for name in names { insert(name, in: &queue, volume: volume, change: change) }
    return queue
  }

  private func insert(
    _ name: String,
    in queue: inout StartQueue,
    volume: UInt64 = 1,
    change: (inout DownloadRecord) -> Void = { _ in }
  ) {
    var record = DownloadRecord.sample(url: "https://example.com/\(name)")
    change(&record)
    queue.insert(record, volume: volume) { _ in nil }
  }

  /// The last letters of the URLs that start, and of those that are preempted for them.
  private func starts(
    _ queue: inout StartQueue,
    beside active: ActiveTransfers = ActiveTransfers(),
    available: Int64? = nil
  ) -> (String, String) {
    let starts = queue.takeStarts(beside: active, at: now) { _ in available }
    return (
      starts.starting.map { String($0.url.suffix(1)) }.joined(),
      starts.preempted.map { String($0.suffix(1)) }.joined()
    )
  }

  @Test func `downloads start in the order of arrival, up to the limit, and leave the queue`() {
    var queue = queue("b", "a", "c")
    #expect(starts(&queue) == ("ba", ""))
    #expect(queue.urls == ["https://example.com/c"])
    queue.limits.maximumRunning = 3
    #expect(starts(&queue) == ("c", ""))
    #expect(queue.isEmpty)
  }

  @Test func `an update keeps the place, and a request to start immediately takes the first`() {
    var queue = queue("a", "b", "c", running: 1)
    insert("a", in: &queue) { $0.expected = 7 }
    #expect(queue["https://example.com/a"]?.missingBytes == 7)
    insert("c", in: &queue) { $0.startsImmediately = true }
    #expect(starts(&queue) == ("c", ""))
    #expect(starts(&queue) == ("a", ""))
  }

  @Test func `a request to start immediately preempts a transfer that started before it`() throws {
    var queue = queue(running: 1)
    var active = ActiveTransfers()
    active.insert(try .sample(.sample(url: "https://example.com/r"), in: folder.path, task: 1))
    _ = queue.nextOrder()
    insert("i", in: &queue) { $0.startsImmediately = true }
    #expect(starts(&queue, beside: active) == ("", "r"))
    _ = active.noteEnding("https://example.com/r")
    #expect(starts(&queue, beside: active) == ("", ""))
    active.remove("https://example.com/r")
    #expect(starts(&queue, beside: active) == ("i", ""))
  }

  @Test func `a download without a free connection waits for one of a transfer that has two`()
    throws
  {
    var queue = queue("n", running: 2)
    var active = ActiveTransfers()
    let wide = try ActiveTransfer.sample(
      .sample(url: "https://example.com/r"),
      in: folder.path,
      task: 1
    )
    active.insert(wide)
    let url = wide.record.url
    let reading = Connections.Reading(
      claims: [],
      missing: ByteRanges(upTo: 20),
      spare: 10..<20,
      requestURL: url,
      minimumLength: 1,
      limits: ConnectionLimits(ConcurrencyLimits(), beside: [])
    )
    let opening = try #require(active.step(url) { $0.next(reading) } ?? nil)
    let part = TransferPart(
      opening.number,
      of: wide.transfer,
      range: 10..<20,
      origin: wide.candidate.origin,
      proof: .unchanged(nil),
      now: { Date() },
      inbox: EngineInbox()
    )
    active.insert(part, of: url)
    func taken() -> StartQueue.Starts { queue.takeStarts(beside: active, at: now) { _ in nil } }
    #expect(taken().narrowed.map(\.url) == [url])
    let endings = [
      active.step(url) { $0.noteEnding(1) }, active.step(url) { $0.noteEnding(1) },
    ]
    #expect(endings == [true, false])
    let waiting = taken()
    #expect(waiting.narrowed.isEmpty && waiting.starting.isEmpty && waiting.need == nil)
    _ = active.close(1, of: wide.transfer.key)
    #expect(taken().starting.map(\.url) == ["https://example.com/n"])
  }

  @Test func `a slow transfer gives way, also to a download in the store, and starts last again`()
    throws
  {
    var queue = queue(running: 1)
    var active = ActiveTransfers()
    let url = "https://example.com/s"
    active.insert(try .sample(.sample(url: url), in: folder.path, task: 1, startedAt: now))
    func taken() -> StartQueue.Starts { queue.takeStarts(beside: active, at: now) { _ in nil } }
    let limit = LowestSpeed(bytesPerSecond: 10, time: .seconds(1))
    active.noteSpeeds(limit, rateLimit: nil, at: now)
    queue.readStore()
    let position = QueuePosition(QueueLane(.sample()))
    queue.insert([], of: QueuePage(start: .start, next: position), for: .frontier(.start))
    #expect(taken().need == nil, "the transfer is not slow, and there is no free slot")
    active.noteSpeeds(limit, rateLimit: nil, at: now.advanced(by: .seconds(1)))
    #expect(taken().need == .frontier(position))
    insert("n", in: &queue) { $0.priority = -1 }
    queue.insert([], of: QueuePage(start: position), for: .frontier(position))
    #expect(taken().suspended == [url])
    _ = active.noteEnding(url)
    #expect(taken().suspended == [], "one slot is enough")
    active.remove(url)
    insert("s", in: &queue) { $0.priority = 9 }
    #expect(starts(&queue) == ("n", ""))
    #expect(starts(&queue) == ("s", ""))
    // It waits as any other download once it has started again.
    insert("s", in: &queue) { $0.priority = 9 }
    insert("n", in: &queue)
    #expect(starts(&queue) == ("s", ""))
  }

  @Test func `a suspect whose probation has ended starts as any other download`() {
    var queue = queue(running: 2)
    func insertSuspect() { insert("s", in: &queue) { $0.unresolvedStarts = 2 } }
    insertSuspect()
    insert("a", in: &queue)
    #expect(queue["https://example.com/s"]?.runsAlone == true)
    #expect(starts(&queue) == ("s", ""), "alone")
    queue.noteCleared([DownloadRecord.sample(url: "https://example.com/s").id])
    insertSuspect()
    #expect(starts(&queue) == ("as", ""))
  }

  @Test func `a failed download waits for its deadline`() {
    var queue = queue()
    let deadline = RetryDeadline(date: .now, instant: now.advanced(by: .seconds(3)))
    queue.insert(.sample(url: "https://example.com/a"), volume: 1) { _ in deadline }
    #expect(starts(&queue) == ("", ""))
    var known: RetryDeadline?
    queue.insert(.sample(url: "https://example.com/a"), volume: 1) {
      known = $0
      return $0
    }
    #expect(known == deadline)
    let later = queue.takeStarts(beside: ActiveTransfers(), at: deadline.instant) { _ in nil }
    #expect(later.starting.count == 1)
  }

  @Test func `nothing starts on a full volume, and all waiting downloads name its folder`() {
    var queue = queue("a", "b")
    #expect(queue.fullFolder == nil)
    queue.noteFull(1, folder: "/full", at: now)
    #expect(starts(&queue) == ("", ""))
    #expect(queue.fullFolder == "/full")
    insert("c", in: &queue, volume: 2)
    #expect(queue.fullFolder == nil)
    #expect(starts(&queue) == ("c", ""))
    // Less than the reserve is not free.
    let later = now.advanced(by: .seconds(5))
    queue.checkDiskSpace(at: later, interval: .seconds(5)) { _ in DiskSpaceMonitor.reserve }
    #expect(queue.fullFolder == "/full")
    queue.checkDiskSpace(at: later.advanced(by: .seconds(5)), interval: .seconds(5)) { _ in nil }
    #expect(queue.fullFolder == nil)
    #expect(starts(&queue) == ("ab", ""))
  }

  @Test func `after a full disk, a download waits until it fits beside the running ones`() throws {
    var queue = queue("a", "b") { $0.expected = 10 << 20 }
    queue.noteFull(1, folder: "/full", at: now)
    let later = now.advanced(by: .seconds(5))
    queue.checkDiskSpace(at: later, interval: .seconds(5)) { _ in 30 << 20 }
    #expect(starts(&queue, available: 15 << 20) == ("a", ""))
    #expect(queue.urls == ["https://example.com/b"])
    // The next check finds that a download is deferred, and lets it try again.
    queue.checkDiskSpace(at: later.advanced(by: .seconds(5)), interval: .seconds(5)) { _ in .max }
    // The volume stays monitored while a download waits for it.
    #expect(starts(&queue, available: 5 << 20) == ("", ""))
    queue.checkDiskSpace(at: later.advanced(by: .seconds(10)), interval: .seconds(5)) { _ in .max }
    #expect(starts(&queue, available: 15 << 20) == ("b", ""))
  }

  @Test func `a download of unknown size is tried alone, once with each amount of free space`() {
    var queue = queue("a", "b")
    var later = now
    func starts(_ available: Int64) -> String {
      queue.noteFull(1, folder: "/full", at: later)
      later = later.advanced(by: .seconds(5))
      queue.checkDiskSpace(at: later, interval: .seconds(5)) { _ in available }
      return self.starts(&queue, available: available).0
    }
    #expect(starts(4 << 20) == "a")
    insert("a", in: &queue)
    #expect(starts(4 << 20) == "b")
    insert("b", in: &queue)
    #expect(starts(4 << 20) == "")
    #expect(starts(5 << 20) == "a")
  }

  @Test func `a download that does not fit leaves the volume to the others`() {
    var queue = queue("a", "b") { $0.expected = 1 << 20 }
    insert("c", in: &queue) { $0.expected = 10 << 20 }
    queue.noteLimited(1, folder: "/small", at: now)
    #expect(queue.fullFolder == nil)
    #expect(starts(&queue, available: 4 << 20) == ("ab", ""))
    #expect(queue.urls == ["https://example.com/c"])
  }

  // MARK: Downloads that stay in the store

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

  @Test func `a shortage delays all starts, and then limits them until transfers progress`() {
    var queue = queue("a", "b", "c", running: 3)
    #expect(queue.noteShortage(at: now, running: 1) == .seconds(1))
    #expect(queue.delaysStarts(at: now))
    #expect(!queue.delaysStarts(at: now.advanced(by: .seconds(1))))
    #expect(starts(&queue) == ("a", ""))
    queue.noteProgress()
    #expect(starts(&queue) == ("bc", ""))
  }

  @Test func `a download that starts immediately is due before its date`() {
    let date = Date(timeIntervalSince1970: 1_000)
    var record = DownloadRecord.sample()
    #expect(record.isDue(at: date))
    record.notBefore = date + 1
    #expect(!record.isDue(at: date) && record.isDue(at: date + 1))
    record.startsImmediately = true
    #expect(record.isDue(at: date))
  }

  @Test func `a removed download does not start`() {
    var queue = queue("a", "b")
    #expect(queue.remove("https://example.com/a")?.url == "https://example.com/a")
    #expect(queue.remove("https://example.com/a") == nil)
    #expect(starts(&queue) == ("b", ""))
  }
}
