import DownloadReports
import DownloadStore
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The lists of `list --watch`, kept up to date from the store's history.
struct WatchedListTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private static let columns = DownloadRecord.columns
  private static let even: Filter<DownloadRecord> = columns.filename.satisfies { name in
    Int(name).map { $0 % 10 == 0 } ?? false
  }
  private static let listings: [RecordListing] = [
    RecordListing(condition: .all), RecordListing(condition: .all, limit: 5),
    RecordListing(condition: even), RecordListing(condition: even, limit: 2),
    RecordListing(
      condition: columns.state == .waiting,
      order: ListOrder("updatedAt:desc"),
      limit: 4
    ),
    RecordListing(condition: .all, order: ListOrder("updatedAt:desc"), limit: 6),
    RecordListing(condition: .all, order: ListOrder("priority"), limit: 7),
    RecordListing(condition: .all, order: ListOrder("fraction:desc"), limit: 3),
    RecordListing(condition: even, order: ListOrder("received")),
    RecordListing(condition: .all, order: ListOrder("id"), limit: 3),
    RecordListing(condition: .none), RecordListing(condition: .all, limit: 0),
  ]

  init() async throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
    try await store.add((0..<40).map { DownloadRequest(url: "http://h/\($0)") })
  }

  private func update(_ list: inout WatchedList) throws {
    let roots = try store.roots()
    var updated = list
    try store.objects.read { tx in try updated.update(in: &tx, roots) }
    list = updated
  }

  private func change(_ url: String, _ body: @Sendable (inout DownloadRecord) -> Void) throws {
    try store.objects.write { tx in
      guard var record = try tx.find(DownloadRecord.self, key: url) else { return }
      body(&record)
      try tx.upsert(record)
    }
  }

  @Test(arguments: listings.indices, [1, 2, 3] as [UInt64])
  func `a list that follows the history equals one that is read again`(
    number: Int,
    seed: UInt64
  ) async throws {
    let listing = Self.listings[number]
    var random = SplitMix64(seed: seed)
    // Every read counts as long, so that the history is used whenever possible.
    var list = WatchedList(listing, shortRead: .zero)
    for step in 0..<60 {
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let url = "http://h/\(Int.random(in: 0..<60, using: &random))"
        let value = Int32.random(in: -5...5, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
          try await store.objects.write { tx in
            _ = try tx.delete(DownloadRecord.self, key: url)
          }
        case 1: try await store.add([DownloadRequest(url: url)])
        default:
          try change(url) { record in
            record.priority = value
            record.received = Int64(value) + 5
            record.expected = value == 0 ? nil : 10
            record.state = value < -2 ? .waiting : .paused
            record.updatedAt = Date(timeIntervalSince1970: Double(step * 10) - Double(value))
          }
        }
      }
      try update(&list)
      var fresh = WatchedList(listing)
      try update(&fresh)
      #expect(list.entries.map(\.record) == fresh.entries.map(\.record))
    }
  }

  @Test func `a list without a limit, and one whose beginning stays, are read once`() throws {
    var filtered = WatchedList(RecordListing(condition: Self.even), shortRead: .zero)
    let newest = RecordListing(condition: .all, order: ListOrder("updatedAt:desc"), limit: 5)
    var sorted = WatchedList(newest, shortRead: .zero)
    for step in 10..<40 {
      try change("http://h/\(step)") { record in
        record.received += 1
        record.updatedAt = .now.addingTimeInterval(Double(step))
      }
      try update(&filtered)
      try update(&sorted)
    }
    #expect(filtered.readCount == 1 && sorted.readCount == 1)
    #expect(filtered.entries.map(\.record.received) == [0, 1, 1, 1])
    #expect(sorted.entries.map(\.record.url) == (35..<40).reversed().map { "http://h/\($0)" })
  }

  @Test func `downloads whose URLs differ only in their bytes stay in a list that has changed`()
    async throws
  {
    let urls = ["http://h/\u{E9}", "http://h/e\u{301}"]
    try await store.add(urls.map { DownloadRequest(url: $0) })
    var list = WatchedList(RecordListing(condition: .all), shortRead: .zero)
    try update(&list)
    try change(urls[1]) { $0.received = 1 }
    try update(&list)
    #expect(list.readCount == 1 && list.entries.count == 42)
    #expect(list.entries.map(\.record.received).suffix(2) == [0, 1])
  }

  @Test func `a short read is repeated, and needs no history`() throws {
    var list = WatchedList(RecordListing(condition: .all, limit: 3), shortRead: .seconds(3600))
    try update(&list)
    try change("http://h/1") { $0.received = 9 }
    try update(&list)
    #expect(list.readCount == 2 && list.entries[1].record.received == 9)
  }

  @Test func `the downloads of a long list are counted by their states`() async throws {
    try await store.add((100..<1_400).map { DownloadRequest(url: "http://h/\($0)") })
    for (url, state) in [(1, DownloadState.completed), (2, .failedPermanent), (3, .running)] {
      try change("http://h/\(url)") { $0.state = state }
    }
    for condition in [Filter.all, Self.columns.url.hasPrefix("http")] {
      var content = WatchContent(of: RecordListing(condition: condition))
      try content.update(from: store)
      #expect(content.count == 1_340 && content.entries.count == WatchedList.maximumCount + 1)
      #expect(content.running.map(\.record.url) == ["http://h/3"])
      var expected = ProgressSummary(remainingBytes: nil)
      (expected.completed, expected.failed, expected.remaining) = (1, 1, 1_338)
      #expect(content.summary(ListSpeeds()) == expected)
    }
    var limited = WatchContent(of: RecordListing(condition: .all, limit: 1_100))
    try limited.update(from: store)
    #expect(limited.count == 1_100)
    var short = WatchContent(of: RecordListing(condition: .all, limit: 10))
    try short.update(from: store)
    #expect(short.count == 10 && short.summary(ListSpeeds()).completed == 1)
  }
}
