import DownloadStore
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DownloadGroupTests {
  private let fixture: StoreFixture
  private var store: RecordStore { fixture.store }

  init() throws {
    fixture = try StoreFixture()
  }

  private func add(_ name: String, _ tags: Set<String>) throws -> String {
    try fixture.add("https://example.com/\(name)") { $0.tags = tags }.record.url
  }

  private func change(_ url: String, _ body: (inout DownloadRecord) -> Void) throws {
    try fixture.change(url, body)
  }

  @Test func `a group contains the records of its tag only`() throws {
    let a = try add("a", ["models", "large"])
    _ = try add("b", ["large"])
    try change(a) {
      $0.received = 10
      $0.expected = 40
    }
    #expect(try store.group("models").progress().received == 10)
    #expect(try store.group("models").progress().members == 1)
    #expect(try store.group("large").progress().members == 2)
    #expect(try store.group("large").progress().unknownTotals == 1)
    #expect(try store.group("none").progress() == GroupProgress())
  }

  @Test func `changes of a group are delivered as they are committed`() async throws {
    let a = try add("a", ["models"])
    var changes = store.group("models").changes(every: .zero).makeAsyncIterator()
    #expect(try await changes.next()?.members == 1)
    try change(a) {
      $0.state = .running
      $0.received = 30
      $0.expected = 60
    }
    let running = try await changes.next()
    #expect(running?.running == 1)
    #expect(running?.fraction == 0.5)
    let b = try add("b", ["models"])
    #expect(try await changes.next()?.members == 2)
    // A record can leave its group.
    try change(a) { $0.tags = [] }
    #expect(try await changes.next()?.received == 0)
    try change(b) { $0.tags = ["large"] }
    #expect(try await changes.next() == GroupProgress())
  }

  @Test func `a slow reader receives only the latest progress`() async throws {
    let a = try add("a", ["models"])
    var changes = store.group("models").changes(every: .zero).makeAsyncIterator()
    _ = try await changes.next()
    for received in 1...100 { try change(a) { $0.received = Int64(received) } }
    #expect(try await changes.next()?.received == 100)
  }

  @Test func `a change that does not affect the totals is not delivered`() async throws {
    let a = try add("a", ["models"])
    var changes = store.group("models").changes(every: .zero).makeAsyncIterator()
    _ = try await changes.next()
    try change(a) { $0.priority = 7 }
    try change(a) { $0.tags.insert("other") }
    try change(a) { $0.received = 5 }
    #expect(try await changes.next()?.received == 5)
  }

  @Test func `the speed counts received bytes, not bytes stored before`() async throws {
    let a = try add("a", ["models"])
    try change(a) { $0.received = 1_000_000 }
    var changes = store.group("models").changes(every: .milliseconds(250)).makeAsyncIterator()
    let first = try await changes.next()
    #expect(first?.received == 1_000_000)
    #expect(first?.bytesPerSecond == nil)
    try change(a) { $0.received += 500 }
    let next = try await changes.next()
    let speed = try #require(next?.bytesPerSecond)
    #expect(speed > 0 && speed <= 2000)
  }

  @Test func `the sequence ends when its task is cancelled`() async throws {
    let changes = store.group("models").changes()
    let task = Task {
      var count = 0
      for try await _ in changes { count += 1 }
      return count
    }
    task.cancel()
    #expect(try await task.value <= 1)
  }
}
