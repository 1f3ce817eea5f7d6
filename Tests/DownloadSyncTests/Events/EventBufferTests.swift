import DownloadStore
import TestSupport
import Testing

@testable import DownloadSync

@Suite struct EventBufferTests {
  private let failure = DownloadFailure(.entityChanged, "the file on the server has changed")

  private func drain(_ buffer: inout EventBuffer) -> [String] {
    var events: [String] = []
    while let event = buffer.next() {
      switch event {
      case .missed(let count): events.append("missed \(count)")
      case .released(let url): events.append("end \(url)")
      case .rolledBack(let url, _, _): events.append(url)
      default: Issue.record("unexpected event \(event)")
      }
    }
    return events
  }

  private func event(_ name: String) -> DownloadEvent { .rolledBack(url: name, from: 0, failure) }

  @Test func `events are delivered once and in order`() {
    var buffer = EventBuffer(capacity: 4)
    #expect(buffer.next() == nil)
    for name in ["a", "b", "c"] { buffer.append(event(name)) }
    #expect(drain(&buffer) == ["a", "b", "c"])
    #expect(drain(&buffer) == [])
    buffer.append(event("d"))
    #expect(drain(&buffer) == ["d"])
  }

  @Test func `the newest events are kept after the count of missed ones`() {
    var buffer = EventBuffer(capacity: 3)
    for name in ["a", "b", "c", "d", "e"] { buffer.append(event(name)) }
    #expect(drain(&buffer) == ["missed 2", "c", "d", "e"])
    buffer.append(event("f"))
    #expect(drain(&buffer) == ["f"])
  }

  @Test func `end events are kept longer than newer events`() {
    var buffer = EventBuffer(capacity: 3)
    buffer.append(event("a"))
    buffer.append(.released(url: "x"))
    for name in ["b", "c", "d", "e"] { buffer.append(event(name)) }
    #expect(drain(&buffer) == ["missed 3", "end x", "d", "e"])
  }

  @Test func `of too many end events the last are kept`() {
    var buffer = EventBuffer(capacity: 2)
    for name in ["a", "b", "c"] { buffer.append(.released(url: name)) }
    #expect(drain(&buffer) == ["missed 1", "end b", "end c"])
  }

  @Test(arguments: 0..<50 as Range<UInt64>)
  func `delivered and missed events together are all events`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let capacity = Int.random(in: 1...100, using: &random)
    var buffer = EventBuffer(capacity: capacity)
    var told = 0
    var counted = 0
    var last = -1
    for number in 0..<3000 {
      buffer.append(.rolledBack(url: "", from: Int64(number), failure))
      told += 1
      #expect(buffer.count <= capacity)
      for _ in 0..<Int.random(in: 0...2, using: &random) {
        switch buffer.next() {
        case .missed(let count): counted += count
        case .rolledBack(_, let number, _):
          #expect(Int(number) > last)
          last = Int(number)
          counted += 1
        default: break
        }
      }
    }
    while let event = buffer.next() {
      if case .missed(let count) = event { counted += count } else { counted += 1 }
    }
    #expect(counted == told)
  }
}
