import DownloadReports
import DownloadStore
import DownloadSync
import ObjectStore
import TestSupport
import Testing

@testable import DownloadServer

/// The looks of a feed at its store: which downloads were removed, and which are running.
struct LiveReaderTests {
  private let folder: TemporaryFolder
  private let store: RecordStore
  private let url = "http://h.example/a"
  private let newURL = "http://h.example/b"

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  /// Returns the next look of a reader; the store has changed since the previous one.
  private func look(_ reader: LiveReader = LiveReader()) async throws -> LiveReader.Step {
    while true {
      if let step = try reader.step(in: store) { return step }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private func add(_ url: String, id: String? = nil) throws -> DownloadRecord {
    var request = DownloadRequest(url: url)
    request.id = id
    return try store.addNow([request])[0].record
  }

  private func move(_ record: DownloadRecord, to url: String) throws {
    var update = RecordUpdate()
    update.url = url
    try store.updateNow(matching: record.url, with: update)
  }

  private func setState(_ state: DownloadState, of url: String) throws {
    try store.objects.write { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.state = state }
    }
  }

  private func delete(_ url: String) throws {
    try store.objects.write { tx in _ = try tx.delete(DownloadRecord.self, key: url) }
  }

  @Test func `a moved download is removed with the id that it was added with`() async throws {
    var step = try await look()
    let record = try add(url)
    step = try await look(step.reader)
    try move(record, to: newURL)
    step = try await look(step.reader)
    let moved = try #require(step.change)
    #expect(!moved.isReset && moved.removed.isEmpty)
    #expect(moved.items.map(\.entry.record.id) == [record.id])
    try delete(newURL)
    step = try await look(step.reader)
    let change = try #require(step.change)
    #expect(!change.isReset && change.items.isEmpty && change.removed == [record.id])
  }

  @Test func `a download at the previous URL of another one is removed with its own id`()
    async throws
  {
    var step = try await look()
    let first = try add(url)
    try move(first, to: newURL)
    let second = try add(url)
    #expect(first.id != second.id)
    step = try await look(step.reader)
    try delete(url)
    step = try await look(step.reader)
    let change = try #require(step.change)
    #expect(!change.isReset && change.items.isEmpty && change.removed == [second.id])
  }

  @Test func `a download that replaces one with the same URL removes it`() async throws {
    var step = try await look()
    let first = try add(url)
    step = try await look(step.reader)
    try delete(url)
    let second = try add(url, id: "00000000000000aa")
    step = try await look(step.reader)
    let change = try #require(step.change)
    #expect(!change.isReset && change.removed == [first.id])
    #expect(change.items.map(\.entry.record.id) == [second.id])
  }

  @Test func `a client reads again if a deleted download may be one with another id`() async throws
  {
    let first = try add(url)
    try move(first, to: newURL)
    let second = try add(url)
    let step = try await look()
    let token = try store.objects.historyToken()
    try delete(url)
    let change = try #require(try await look(step.reader).change)
    #expect(change.isReset && change.items.isEmpty && change.removed.isEmpty)
    // A client that connects again.
    #expect(try step.reader.change(since: token, in: store).0.isReset)
    // A client that was away while another download took the URL.
    #expect(try add(url, id: "00000000000000aa").id != second.id)
    #expect(try step.reader.change(since: token, in: store).0.isReset)
  }

  @Test(arguments: [true, false])
  func `a deleted download is not among the running ones`(isKnown: Bool) async throws {
    let lock = try EngineLock(storePath: store.path)
    var step = try await look()
    let record = try add(url)
    try move(record, to: newURL)
    try setState(.running, of: newURL)
    step = try await look(isKnown ? step.reader : LiveReader())
    #expect(step.reader.running.keys.sorted() == [record.id])
    try delete(newURL)
    step = try await look(step.reader)
    let change = try #require(step.change)
    #expect(change.isReset == !isKnown && change.removed == (isKnown ? [record.id] : []))
    #expect(change.items.isEmpty && step.reader.running.isEmpty)
    withExtendedLifetime(lock) {}
  }

  @Test func `the running downloads of a client's first change are those of its token`()
    async throws
  {
    let lock = try EngineLock(storePath: store.path)
    let record = try add(url)
    try setState(.running, of: url)
    let reader = try await look().reader
    var (change, end) = try reader.change(since: nil, in: store)
    #expect(change.items.map(\.entry.record.id) == [record.id])
    try setState(.completed, of: url)
    (change, end) = try reader.change(since: nil, in: store)
    #expect(change.items.isEmpty)
    #expect(try end == store.objects.historyToken())
    // A download that has started since the last look of the feed.
    try setState(.running, of: url)
    (change, end) = try reader.change(since: end, in: store)
    #expect(change.items.map(\.entry.record.state) == [.running])
    withExtendedLifetime(lock) {}
  }
}
