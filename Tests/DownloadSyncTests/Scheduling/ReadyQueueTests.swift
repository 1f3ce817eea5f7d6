import Foundation
import TestTraits
import Testing

@testable import DownloadSync

@Suite struct ReadyQueueTests {
  private func candidate(
    _ url: String,
    order: Int = 0,
    volume: UInt64 = 0,
    isSuspect: Bool = false
  ) -> Scheduler.Candidate {
    Scheduler.Candidate(
      url: url,
      origin: "h",
      priority: 0,
      order: order,
      isSuspect: isSuspect,
      volume: volume
    )
  }

  /// Returns all downloads that may start, in order.
  private func drain(_ queue: inout ReadyQueue) -> [String] {
    let limits = ConcurrencyLimits(maximumRunning: 1_000_000, maximumPerHost: 1_000_000)
    var urls: [String] = []
    while case .start(let candidate) = Scheduler(limits: limits).next(&queue, running: []) {
      urls.append(candidate.url)
    }
    return urls
  }

  private let start = ContinuousClock.now

  private func retry(after seconds: Int = 0) -> RetryDeadline {
    RetryDeadline(date: .distantPast, instant: start + .seconds(seconds))
  }

  @Test func `a retry waits for its deadline and then has its previous position`() {
    var queue = ReadyQueue()
    queue.insert(candidate("late", order: 1), notBefore: retry(after: 2))
    queue.insert(candidate("soon", order: 2), notBefore: retry(after: 1))
    queue.insert(candidate("now", order: 3))
    queue.advance(to: start)
    var early = queue
    #expect(drain(&early) == ["now"])
    queue.advance(to: start + .seconds(2))
    #expect(drain(&queue) == ["late", "soon", "now"])
  }

  @Test func `a retry deadline is kept after it has passed, while the download waits`() {
    var queue = ReadyQueue()
    queue.insert(candidate("a", order: 1), notBefore: retry(after: 1))
    queue.insert(candidate("b", order: 2))
    queue.advance(to: start + .seconds(2))
    #expect(queue.retryDeadline(of: "a") == retry(after: 1))
    #expect(queue.retryDeadline(of: "b") == nil && queue.retryDeadline(of: "none") == nil)
    queue.insert(candidate("a", order: 1), notBefore: queue.retryDeadline(of: "a"))
    queue.advance(to: start + .seconds(2))
    #expect(drain(&queue) == ["a", "b"])
  }

  @Test func `a host queue offers one download at a time`() throws {
    var queue = ReadyQueue()
    queue.insert(candidate("later", order: 2))
    queue.insert(candidate("earlier", order: 1))
    let (first, second) = (queue.popHead(), queue.popHead())
    let head = try #require(first)
    #expect(queue[head]?.url == "earlier" && second == nil)
    queue.putBack([head])
    #expect(drain(&queue) == ["earlier", "later"])
  }

  @Test(.requirements("ZY59"))
  func `inserting a queued download again moves it to its new position`() {
    var queue = ReadyQueue()
    queue.insert(candidate("a", order: 1), notBefore: retry(after: 9))
    queue.insert(candidate("b", order: 2))
    queue.insert(candidate("a", order: 3))
    queue.insert(candidate("a", order: 4), notBefore: retry())
    queue.insert(candidate("b", order: 5))
    #expect(queue.count == 2 && queue.urls == ["a", "b"] && queue["a"]?.order == 4)
    queue.advance(to: start + .seconds(100))
    #expect(drain(&queue) == ["a", "b"])
    #expect(queue.isEmpty)
    queue.advance(to: start + .seconds(200))
    #expect(drain(&queue) == [])
  }

  @Test(.requirements("ZY66")) func `a removed download is not started from any queue`() {
    var queue = ReadyQueue()
    queue.insert(candidate("lane", order: 1))
    queue.insert(candidate("suspect", order: 2, isSuspect: true))
    queue.insert(candidate("delayed", order: 3), notBefore: retry())
    queue.deferUntilUnblocked(candidate("aside", order: 4))
    queue.insert(candidate("stays", order: 5))
    for url in ["lane", "suspect", "delayed", "aside", "none"] { queue.remove(url) }
    queue.advance(to: start)
    queue.unblock(volume: 0)
    #expect(drain(&queue) == ["stays"])
  }

  @Test func `downloads to a full volume are held and keep their positions`() {
    var queue = ReadyQueue()
    for number in 0..<6 {
      queue.insert(candidate("\(number)", order: number, volume: UInt64(number % 2)))
    }
    queue.block(volume: 1)
    queue.insert(candidate("6", order: -1, volume: 1))
    #expect(!queue.waitsOnlyForDiskSpace)
    #expect(drain(&queue) == ["0", "2", "4"])
    #expect(queue.waitsOnlyForDiskSpace)
    queue.remove("3")
    queue.unblock(volume: 1)
    #expect(!queue.waitsOnlyForDiskSpace)
    #expect(drain(&queue) == ["6", "1", "5"])
    #expect(!queue.waitsOnlyForDiskSpace)
  }

  @Test func `a crash suspect does not start on a full volume`() {
    var queue = ReadyQueue()
    queue.insert(candidate("suspect", volume: 1, isSuspect: true))
    queue.block(volume: 1)
    #expect(queue.firstSuspect { _ in true } == nil)
    queue.unblock(volume: 1)
    #expect(queue.firstSuspect { _ in true }?.url == "suspect")
  }

  @Test func `the downloads that start immediately are counted while they wait`() {
    var queue = ReadyQueue()
    for name in ["a", "b"] {
      var candidate = candidate(name)
      candidate.startsImmediately = true
      queue.insert(candidate)
    }
    #expect(queue.immediateCount == 2)
    queue.remove("a")
    #expect(queue.immediateCount == 1)
    #expect(drain(&queue) == ["b"] && queue.immediateCount == 0)
  }

  @Test func `the downloads that wait for a time are counted until it has come`() {
    var queue = ReadyQueue()
    for name in ["a", "b"] { queue.insert(candidate(name), notBefore: retry(after: 1)) }
    #expect(queue.delayedCount == 2)
    queue.remove("a")
    #expect(queue.delayedCount == 1)
    queue.advance(to: start + .seconds(1))
    #expect(queue.delayedCount == 0 && queue.count == 1)
  }

  @Test func `the downloads of a host are counted while they wait`() {
    var queue = ReadyQueue()
    let host = candidate("a").host
    for name in ["a", "b", "b"] { queue.insert(candidate(name)) }
    #expect(queue.count(of: host) == 2)
    queue.remove("a")
    #expect(queue.count(of: host) == 1)
    #expect(drain(&queue) == ["b"] && queue.count(of: host) == 0)
  }

  @Test func `a deferred download returns when its volume is released`() {
    var queue = ReadyQueue()
    queue.deferUntilUnblocked(candidate("large", order: 0, volume: 1))
    queue.deferUntilUnblocked(candidate("suspect", order: 1, volume: 1, isSuspect: true))
    queue.insert(candidate("small", order: 2, volume: 1))
    #expect(queue.hasDeferred(volume: 1) && !queue.hasDeferred(volume: 0))
    #expect(drain(&queue) == ["small"])
    #expect(queue.waitsOnlyForDiskSpace)
    queue.block(volume: 1)
    #expect(queue.waitsOnlyForDiskSpace)
    queue.unblock(volume: 1)
    #expect(!queue.hasDeferred(volume: 1))
    #expect(drain(&queue) == ["suspect", "large"])
  }

  @Test func `many insertions and removals leave no entries behind`() {
    var queue = ReadyQueue()
    queue.insert(candidate("first", order: -1), notBefore: retry())
    for number in 0..<20_000 {
      queue.insert(candidate("a", order: number))
      if number % 3 == 0 { queue.remove("a") }
    }
    queue.insert(candidate("b", order: 3))
    #expect(queue.count == 3)
    queue.advance(to: start)
    #expect(drain(&queue) == ["first", "b", "a"])
  }

  @Test func `URLs that are canonically equal but differ in bytes are distinct`() {
    var queue = ReadyQueue()
    queue.insert(candidate("http://a/\u{E9}", order: 1))
    queue.insert(candidate("http://a/e\u{301}", order: 2))
    #expect(drain(&queue).count == 2)
  }
}
