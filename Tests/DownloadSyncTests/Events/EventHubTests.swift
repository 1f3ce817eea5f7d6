import DownloadStore
import TestTraits
import Testing

@testable import DownloadSync

@Suite(.timeLimit(.minutes(10)))
struct EventHubTests {
  private let hub = EventHub()
  private let failure = DownloadFailure(.entityChanged, "the file on the server has changed")

  private func events(of url: String? = nil, keeping capacity: Int = 1000) -> DownloadEvents {
    let interest = url.map { EventHub.Interest.url($0) } ?? .everything
    return DownloadEvents(subscription: hub.subscribe(to: interest, capacity: capacity))
  }

  private func urls(_ events: DownloadEvents) async -> [String] {
    await events.reduce(into: []) { $0.append($1.url ?? "missed") }
  }

  @Test func `each consumer receives every event since its subscription`() async {
    let first = events()
    hub.emit(.released(url: "a"))
    let second = events()
    hub.emit(.released(url: "b"))
    hub.end()
    #expect(await urls(first) == ["a", "b"])
    #expect(await urls(second) == ["b"])
  }

  @Test func `waiting consumers are resumed`() async {
    let tasks = (0..<20).map { _ in
      let events = events()
      return Task { await urls(events) }
    }
    for name in ["a", "b", "c"] {
      hub.emit(.released(url: name))
      await Task.yield()
    }
    hub.end()
    for task in tasks { #expect(await task.value == ["a", "b", "c"]) }
  }

  @Test(.requirements("ZF8")) func `a handle receives only the events of its own download`() async {
    let events = events(of: "a")
    for name in ["b", "a", "ab", "a"] { hub.emit(.released(url: name)) }
    hub.end()
    #expect(await urls(events) == ["a", "a"])
  }

  @Test func `a consumer of a record receives the record's events under any URL`() async {
    let events = DownloadEvents(subscription: hub.subscribe(to: .record(id: "1"), capacity: 10))
    hub.emit(.released(url: "a"), of: "1")
    hub.emit(.released(url: "a"), of: "2")
    hub.emit(.released(url: "a"))
    hub.emit(.rolledBack(url: "b", from: 0, failure), of: "1")
    hub.end()
    #expect(await urls(events) == ["a", "b"])
  }

  @Test func `URLs that are canonically equal but differ in bytes are different`() async {
    let events = events(of: "caf\u{E9}")
    hub.emit(.released(url: "cafe\u{301}"))
    hub.end()
    #expect(await urls(events) == [])
  }

  @Test func `a consumer that never reads keeps a bounded number of events`() async {
    let dead = events(keeping: 10)
    let alive = events(keeping: 100_000)
    for number in 0..<50_000 { hub.emit(.rolledBack(url: "\(number)", from: 0, failure)) }
    hub.end()
    #expect(await urls(alive).count == 50_000)
    let left = await urls(dead)
    #expect(left == ["missed"] + (49_990..<50_000).map { "\($0)" })
  }

  @Test func `a released consumer is removed`() {
    var events: DownloadEvents? = events()
    #expect(hub.consumerCount == 1)
    withExtendedLifetime(events) {}
    events = nil
    #expect(hub.consumerCount == 0)
  }

  @Test func `a consumer that subscribes after the end receives nothing`() async {
    hub.end()
    #expect(await urls(events()) == [])
    #expect(hub.consumerCount == 0)
  }

  @Test func `cancelling a waiting task ends its sequence for later readers, too`() async {
    let events = events()
    let task = Task { await urls(events) }
    task.cancel()
    #expect(await task.value == [])
    #expect(await urls(events) == [])
  }

  @Test(arguments: [false, true])
  func `a cancelled task receives no event that is still in the buffer`(runHasEnded: Bool) async {
    let events = events()
    for name in ["a", "b", "c"] { hub.emit(.released(url: name)) }
    if runHasEnded { hub.end() }
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await urls(events)
    }
    task.cancel()
    #expect(await task.value == [])
  }

  @Test func `waiting for an end event returns when it arrives`() async {
    let events = events(of: "a")
    let wait = Task { await events.subscription.consumer.waitForEnd(atMost: .seconds(3600)) }
    hub.emit(.rolledBack(url: "a", from: 0, failure))
    hub.emit(.released(url: "a"))
    await wait.value
    #expect(events.subscription.consumer.takeEnd())
    #expect(!events.subscription.consumer.takeEnd())
  }

  @Test func `waiting for an end event returns after the timeout`() async {
    let events = events(of: "a")
    let start = ContinuousClock.now
    await events.subscription.consumer.waitForEnd(atMost: .milliseconds(20))
    #expect(start.duration(to: .now) >= .milliseconds(20))
    #expect(!events.subscription.consumer.takeEnd())
  }
}
