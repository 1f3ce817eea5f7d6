import DownloadStore
import EngineTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import DownloadSync

/// Engines with more waiting downloads than they keep in memory.
@Suite(.timeLimit(.minutes(10)))
struct LongQueueTests {
  private let fixture: ManualFixture
  private let bounds = QueueBounds(perHost: 3, delayed: 2, page: 4, pagesPerTurn: 2)
  private var store: RecordStore { fixture.store }
  private var transport: ManualTransport { fixture.transport }

  init() throws {
    fixture = try ManualFixture()
  }

  private var started: [String] {
    transport.started.map { String($0.request.url.split(separator: "/").last ?? "") }
  }

  private func add(_ urls: [String], priority: Int32 = 0, notBefore: Date? = nil) throws {
    try store.addNow(
      urls.map { url in
        var request = DownloadRequest(url: url)
        request.priority = priority
        request.notBefore = notBefore
        return request
      }
    )
  }

  /// Completes `count` downloads one after another, and returns the largest number in memory.
  private func complete(_ count: Int, of engine: DownloadEngine) async throws -> Int {
    var largest = 0
    for number in 1...count {
      try await fixture.started(number)
      largest = max(largest, await engine.queue.count)
      transport.started[number - 1].complete()
    }
    return largest
  }

  @Test func `downloads that are not in memory start in the order of priority and arrival`()
    async throws
  {
    try add((0..<20).map { fixture.url("a\($0)") })
    try add((0..<10).map { fixture.url("high\($0)") }, priority: 7)
    try add((0..<10).map { fixture.url("low\($0)") }, priority: -7)
    let engine = try fixture.engine(1, queue: bounds)
    try await fixture.running(engine) {
      let largest = try await complete(40, of: engine)
      #expect(largest <= bounds.perHost + bounds.page)
    }
    let names = ["high": 10, "a": 20, "low": 10]
    #expect(
      started
        == ["high", "a", "low"].flatMap { name in
          (0..<(names[name] ?? 0)).map { "\(name)\($0)" }
        }
    )
  }

  @Test func `the downloads of a scope start in the order in which they were added`() async throws {
    let names = ["c", "a", "d", "b"]
    try add(names.map { fixture.url($0) })
    var options = EngineOptions(maximumRunning: 1)
    options.removeTimeLimits()
    options.scope = URLSet(names.map { fixture.url($0) })
    let engine = try DownloadEngine(store: store, transport: transport, options: options)
    try await fixture.running(engine) { _ = try await complete(4, of: engine) }
    #expect(started == names)
  }

  @Test func `a host without a free slot does not delay another host far behind it`() async throws {
    try add((0..<50).map { fixture.url("a\($0)") })
    try add(["https://other.test/b"])
    try add((50..<60).map { fixture.url("a\($0)") })
    let engine = try fixture.engine(2, perHost: 1, queue: bounds)
    try await fixture.running(engine) {
      try await fixture.started(2)
      #expect(Set(started) == ["a0", "b"])
      #expect(await engine.queue.count <= bounds.perHost + bounds.page)
      transport.started[0].complete()
      try await fixture.started(3)
      transport.started[1].complete()
      for number in 3...61 {
        try await fixture.started(number)
        transport.started[number - 1].complete()
      }
    }
    #expect(started.filter { $0 != "b" } == (0..<60).map { "a\($0)" })
  }

  @Test func `a priority change applies to a download that is not in memory`() async throws {
    try add((0..<30).map { fixture.url("a\($0)") })
    let engine = try fixture.engine(1, queue: bounds)
    try await fixture.running(engine) {
      try await fixture.started(1)
      var update = RecordUpdate()
      update.priority = 7
      try await store.update(matching: fixture.url("a25"), with: update)
      try await store.update(matching: fixture.url("a1"), with: update)
      try await fixture.settle()
      for number in 1...5 {
        try await fixture.started(number)
        transport.started[number - 1].complete()
      }
    }
    #expect(started.first == "a0" && Set(started[1...2]) == ["a1", "a25"])
    #expect(Array(started[3...4]) == ["a2", "a3"])
  }

  @Test func `a download that is not in memory can be preferred, paused, resumed and removed`()
    async throws
  {
    try add((0..<30).map { fixture.url("a\($0)") })
    let engine = try fixture.engine(1, queue: bounds)
    try await fixture.running(engine) {
      try await fixture.started(1)
      for name in ["a1", "a20", "a21"] {
        _ = try await store.pause(.matching(fixture.url(name)))
      }
      _ = try await store.remove(.matching(fixture.url("a22")))
      _ = try await store.resume(.matching(fixture.url("a20")))
      try await fixture.settle()
      _ = try await complete(27, of: engine)
    }
    let expected = Set((0..<30).map { "a\($0)" }).subtracting(["a1", "a21", "a22"])
    #expect(Set(started.prefix(27)) == expected && started.count == 27)
    #expect(throws: (any Error).self) { try fixture.record("a22") }
  }

  @Test func `more downloads than are kept in memory wait for their earliest start`() async throws {
    let clocks = ManualClocks()
    let date = clocks.date + 2
    try add((0..<12).map { fixture.url("late\($0)") }, notBefore: date)
    try add((0..<4).map { fixture.url("a\($0)") })
    var options = EngineOptions(maximumRunning: 1)
    options.queueBounds = bounds
    let engine = try DownloadEngine(
      store: store,
      transport: transport,
      options: options,
      now: { clocks.date },
      environment: clocks.environment
    )
    try await fixture.running(engine) {
      _ = try await complete(4, of: engine)
      try await fixture.settle()
      #expect(Set(started) == ["a0", "a1", "a2", "a3"])
      clocks.advance(by: .seconds(3))
      for number in 5...16 {
        try await fixture.started(number)
        #expect(transport.started.count == number)
        transport.started[number - 1].complete()
      }
    }
    #expect(Set(started.dropFirst(4)) == Set((0..<12).map { "late\($0)" }))
  }

  @Test func `more retries than are kept in memory are all made`() async throws {
    try add((0..<12).map { fixture.url("a\($0)") })
    var options = EngineOptions(maximumRunning: 3, maximumPerHost: 3)
    options.removeTimeLimits()
    options.queueBounds = bounds
    options.retry.base = .milliseconds(200)
    options.retry.cap = .milliseconds(200)
    let engine = try DownloadEngine(store: store, transport: transport, options: options)
    try await fixture.running(engine) {
      for number in 1...24 {
        try await fixture.started(number)
        let task = transport.started[number - 1]
        if started.prefix(number).count(where: { $0 == started[number - 1] }) == 1 {
          task.sink.finish(.failed(DownloadFailure(.connectionLost, "lost")))
        } else {
          task.complete()
        }
      }
      try await waitUntil("all to be complete") {
        try store.records(DownloadRecord.where { $0.state == .completed }).count == 12
      }
    }
  }

  @Test func `after more changes than are read, the queue follows the store`() async throws {
    let names = (0..<40).map { fixture.url("a\($0)") }
    try add(names)
    let engine = try fixture.engine(1, queue: bounds)
    try await fixture.running(engine) {
      try await fixture.started(1)
      // One commit with more changes than the follower reads.
      let more = (0...StoreFollower.maximumChanges).map { fixture.url("more\($0)") }
      try store.objects.writeNow { tx in
        for name in names.dropFirst() { try tx.delete(DownloadRecord.self, key: name) }
      }
      try add(more)
      try add([fixture.url("first")], priority: 3)
      try await fixture.settle()
      _ = try await complete(4, of: engine)
    }
    #expect(started.prefix(4) == ["a0", "first", "more0", "more1"])
  }

  @Test func `only records that may have files or bytes are examined at launch`() async throws {
    try add((0..<50).map { fixture.url("a\($0)") })
    try fixture.change("a40") { _ = try? $0.apply(.started(keepingBytes: true), at: Date()) }
    _ = try await store.cancel(.matching(fixture.url("a45")))
    let engine = try fixture.engine(1, queue: bounds)
    try await fixture.running(engine) {
      try await fixture.started(1)
      #expect(try fixture.record("a45").state == .cancelled)
      #expect(await engine.queue.count <= bounds.perHost + bounds.page)
      _ = try await complete(49, of: engine)
    }
    #expect(started.first == "a40" && started.dropFirst().first == "a0")
  }

  @Test func `an engine keeps nothing of 2,000 completed downloads`() async throws {
    try add((0..<2_000).map { fixture.url("a\($0)") })
    let engine = try fixture.engine(8, queue: QueueBounds(perHost: 16, delayed: 16, page: 16))
    try await fixture.running(engine) {
      let largest = try await complete(2_000, of: engine)
      #expect(largest <= 32)
      try await waitUntil("all to be complete") {
        try store.objects.read { tx in
          try tx.count(DownloadRecord.where { $0.state == .completed })
        } == 2_000
      }
      // The commit is visible to others before the engine continues after it.
      try await waitUntil("the engine to keep nothing") {
        guard await engine.queue.isEmpty, await engine.active.isEmpty else { return false }
        return await engine.active.unacknowledgedCount == 0
      }
    }
  }
}
