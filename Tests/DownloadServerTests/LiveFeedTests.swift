import DownloadReports
import DownloadStore
import Foundation
import Logging
import ObjectStore
import TestSupport
import Testing

@testable import DownloadServer

/// The feed of changes, which follows what other users of a store commit.
struct LiveFeedTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  /// The store as another process has it open.
  private let other: RecordStore

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    other = store
  }

  /// Runs a body beside a feed.
  private func withFeed<R: Sendable>(
    _ body: @Sendable (LiveFeed) async throws -> R
  ) async throws -> R {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let feed = LiveFeed(of: store, logger: logger)
    // No client gets a sign of life, however long a test takes.
    let running = Task { await feed.run(heartbeat: .seconds(86_400)) }
    defer { running.cancel() }
    return try await body(feed)
  }

  private func requests(_ numbers: Range<Int>) -> [DownloadRequest] {
    numbers.map { DownloadRequest(url: "http://h.example/\($0)") }
  }

  @Test func `a client gets the totals at once, and then each change`() async throws {
    try await store.add(requests(0..<3))
    try await withFeed { feed in
      let changes = feed.changes(after: nil).makeAsyncIterator()
      let first = try #require(try await changes.next())
      #expect(first.items.isEmpty && !first.isReset)
      let added = try await other.add(requests(3..<4))[0].record
      var ids: [String] = []
      while ids.isEmpty {
        let change = try #require(try await changes.next())
        ids = change.items.map(\.entry.record.id)
        if !ids.isEmpty { #expect(change.summary.counts["waiting"] == 4) }
      }
      #expect(ids == [added.id])
    }
  }

  @Test func `a client that was away gets the sum of what it has missed`() async throws {
    let records = try await store.add(requests(0..<5)).map(\.record)
    try await withFeed { feed in
      let first = try await feed.changes(after: nil).makeAsyncIterator().next()
      let token = try #require(first?.token)
      try await other.pause(.matching(records[0].id))
      try await other.resume(.matching(records[0].id))
      try await other.pause(.matching(records[1].id))
      try await other.remove(.matching(records[2].id))
      let next = try await feed.changes(after: token).makeAsyncIterator().next()
      let change = try #require(next)
      #expect(!change.isReset)
      #expect(Set(change.items.map(\.entry.record.id)) == [records[0].id, records[1].id])
      #expect(change.removed == [records[2].id])
      // Continuing from there, nothing is missing and nothing comes twice.
      let last = try await feed.changes(after: change.token).makeAsyncIterator().next()
      #expect(last?.items.isEmpty == true && last?.removed.isEmpty == true)
    }
  }

  @Test func `too many changes, and a token that is none, make a client read again`() async throws {
    try await withFeed { feed in
      let first = try await feed.changes(after: nil).makeAsyncIterator().next()
      try await other.add(requests(0..<LiveFeed.maximumItems + 1))
      let next = try await feed.changes(after: first?.token).makeAsyncIterator().next()
      #expect(next?.isReset == true && next?.items.isEmpty == true)
      for token in ["", "x", "1", "1-2-3", "99999999-1"] {
        let change = try await feed.changes(after: token).makeAsyncIterator().next()
        #expect(change?.isReset == true, "\(token)")
      }
    }
  }

  @Test func `clients that keep up share one change`() async throws {
    try await withFeed { feed in
      let clients = (0..<10).map { _ in feed.changes(after: nil).makeAsyncIterator() }
      for client in clients { _ = try await client.next() }
      let record = try await other.add(requests(0..<1))[0].record
      for client in clients {
        var isFound = false
        while !isFound {
          let change = try #require(try await client.next())
          isFound = change.items.contains { $0.entry.record.id == record.id }
        }
      }
    }
  }

  @Test func `the changes end with the feed`() async throws {
    let iterator = try await withFeed { feed in
      let iterator = feed.changes(after: nil).makeAsyncIterator()
      _ = try await iterator.next()
      return SendableIterator(iterator)
    }
    var count = 0
    while try await iterator.iterator.next() != nil { count += 1 }
    #expect(count <= 2)
  }

  @Test func `the position in the history is its own text`() throws {
    let token = try store.objects.historyToken()
    let text = LiveToken.text(of: token)
    #expect(LiveToken.token(text) == token)
    #expect(text.split(separator: "-").count == 2)
  }

  @Test func `an event has one line of data whatever a name contains`() async throws {
    var request = DownloadRequest(url: "http://h.example/a?x=\u{2028}<script>")
    request.filename = "a\nb\r\u{2028}</script>.bin"
    request.tags = ["line\nfeed"]
    let record = try await store.add([request])[0].record
    let entry = DownloadEntry(record, try store.roots())
    let change = LiveChange(token: "1-2", items: [LiveChange.Item(entry: entry)])
    let lines = EventText.text(of: change).split(
      separator: "\n",
      omittingEmptySubsequences: false
    )
    #expect(lines.count == 5 && lines[0] == "id: 1-2" && lines[1] == "event: change")
    #expect(lines[2].hasPrefix("data: {\"records\":[{") && lines[3] == "" && lines[4] == "")
    let data = Data(lines[2].dropFirst(6).utf8)
    let object = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    #expect(Set((object ?? [:]).keys) == ["records", "removed", "summary"])
  }

  @Test func `counts follow from the number of all downloads once the most frequent is known`()
    async throws
  {
    let records = try await store.add(requests(0..<20)).map(\.record)
    var counts = StateCounts()
    for step in 0..<4 {
      counts = try await store.objects.read { [counts] tx in
        var next = counts
        try next.update(in: &tx)
        return next
      }
      let words = counts.words(engineRuns: false)
      #expect(words["waiting"] == 20 - 5 * step && (words["paused"] ?? 0) == 5 * step)
      for record in records[5 * step..<5 * step + 5] {
        try await store.pause(.matching(record.id))
      }
    }
  }
}

/// An iterator that one task hands over to the next.
private struct SendableIterator: @unchecked Sendable {
  // Only the task that waits for the first one uses it afterwards.
  let iterator: LiveChanges.Iterator

  init(_ iterator: LiveChanges.Iterator) { self.iterator = iterator }
}
