import DownloadStore
import Foundation
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct StartQueueTests {
  let folder: TemporaryFolder
  let now = ContinuousClock.now

  init() throws { folder = try TemporaryFolder() }

  func queue(
    _ names: String...,
    running: Int = 2,
    volume: UInt64 = 1,
    change: (inout DownloadRecord) -> Void = { _ in }
  ) -> StartQueue {
    var queue = StartQueue(limits: ConcurrencyLimits(maximumRunning: running, maximumPerHost: 9))
    for name in names { insert(name, in: &queue, volume: volume, change: change) }
    return queue
  }

  func insert(
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
  func starts(
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
