import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Tests `StoreOptions.compaction`, which compacts a store when it is opened.
@Suite struct CompactionTests {
  private let always = CompactionRule(minimumFileSize: 0, minimumFreeFraction: 0)

  @Test func `a rule applies from a minimum file size and a minimum free fraction`() {
    let rule = CompactionRule(minimumFileSize: 1_000, minimumFreeFraction: 0.5)
    #expect(!rule.applies(fileSize: 999, freeBytes: 999))
    #expect(!rule.applies(fileSize: 1_000, freeBytes: 499))
    #expect(rule.applies(fileSize: 1_000, freeBytes: 500))
    #expect(!always.applies(fileSize: 1_000, freeBytes: 0))
    #expect(always.applies(fileSize: 1_000, freeBytes: 1))
  }

  @Test func `a rule does not apply if more than a maximum must be copied`() {
    var rule = always
    rule.maximumCopySize = 400
    #expect(rule.applies(fileSize: 1_000, freeBytes: 600))
    #expect(!rule.applies(fileSize: 1_000, freeBytes: 599))
  }

  /// Creates a store whose file is half free, and returns it with the file size in bytes.
  private func makeStore() throws -> (DamagedStore, Int64) {
    let made = try DamagedStore()
    let store = try Store(at: made.path, models: [NewNote.self])
    try store.write { tx in for id in 1...390 { _ = try tx.delete(NewNote.self, key: id) } }
    return (made, try FileSize.of(made.path + "/data.mdb"))
  }

  @Test func `opening compacts a file to which the rule applies, and logs it`() throws {
    let (made, before) = try makeStore()
    let log = RecordingLog()
    let options = StoreOptions(compaction: always, logger: log.logger)
    let store = try Store(at: made.path, models: [Ticket.self], options: options)
    #expect(try FileSize.of(made.path + "/data.mdb") < before)
    #expect(try store.statistics().freePages == 0)
    #expect(try store.read { tx in try tx.find(Ticket.self, key: 400)?.seat } == "seat 400")
    #expect(log.entries("compacted the store").count == 1)
    try store.write { tx in try tx.insert(Ticket(id: 401, seat: "seat 401", row: 0)) }
    #expect(try store.verify().isValid)
  }

  @Test func `opening does not change a file to which the rule does not apply`() throws {
    let (made, before) = try makeStore()
    let log = RecordingLog()
    let options = StoreOptions(compaction: CompactionRule(), logger: log.logger)
    _ = try Store(at: made.path, models: [Ticket.self], options: options)
    #expect(try FileSize.of(made.path + "/data.mdb") == before)
    #expect(log.entries("compacted the store").isEmpty)
  }

  @Test func `a store that is already open is not compacted`() throws {
    let (made, before) = try makeStore()
    let log = RecordingLog()
    let other = try Store(at: made.path, models: [Ticket.self])
    let options = StoreOptions(compaction: always, logger: log.logger)
    let store = try Store(at: made.path, models: [Ticket.self], options: options)
    #expect(try FileSize.of(made.path + "/data.mdb") == before)
    #expect(log.entries("did not compact the store").count == 1)
    #expect(try store.commitNumber() == other.commitNumber())
  }

  @Test func `neither a read-only open nor a new store is compacted`() throws {
    let (made, before) = try makeStore()
    var options = StoreOptions(access: .readOnly, compaction: always)
    _ = try Store(at: made.path, models: [Ticket.self], options: options)
    #expect(try FileSize.of(made.path + "/data.mdb") == before)
    options.access = .create
    _ = try Store(at: made.folder.path("new"), models: [Ticket.self], options: options)
  }

  @Test func `a history token from before a compaction stays valid`() throws {
    let (made, _) = try makeStore()
    let token = try Store(at: made.path, models: [Ticket.self]).historyToken()
    do {
      let store = try Store(at: made.path, models: [Ticket.self])
      try store.write { tx in try tx.insert(Ticket(id: 401, seat: "seat 401", row: 0)) }
    }
    #expect(try Store.compact(at: made.path, if: always) != nil)
    let store = try Store(at: made.path, models: [Ticket.self])
    try store.write { tx in try tx.insert(Ticket(id: 402, seat: "seat 402", row: 0)) }
    guard case .changes(let changes) = try store.changes(since: token, of: Ticket.self) else {
      Issue.record("the token has expired")
      return
    }
    #expect(Set(changes.inserted.map(\.id)) == [401, 402])
  }

  @Test func `compacting throws for a missing store, and returns nil if the rule does not apply`()
    throws
  {
    let (made, before) = try makeStore()
    let error = #expect(throws: StoreError.self) {
      try Store.compact(at: made.path + "-none", if: always)
    }
    #expect(error?.code == .notFound)
    #expect(try Store.compact(at: made.path, if: CompactionRule()) == nil)
    #expect(try FileSize.of(made.path + "/data.mdb") == before)
  }

  @Test func `compacting an open store throws busy, also with a rule`() throws {
    let (made, before) = try makeStore()
    let store = try Store(at: made.path, models: [Ticket.self])
    let error = #expect(throws: StoreError.self) { try Store.compact(at: made.path, if: always) }
    #expect(error?.code == .busy)
    #expect(try FileSize.of(made.path + "/data.mdb") == before)
    #expect(try store.verify().isValid)
  }
}
