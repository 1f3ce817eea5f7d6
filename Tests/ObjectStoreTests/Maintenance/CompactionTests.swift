import TestSupport
import Testing

@testable import ObjectStore

/// Compaction at the opening of a store.
@Suite struct CompactionTests {
  private let always = CompactionRule(leastFileSize: 0, leastFreePart: 0)

  @Test func `a rule asks for a size and for a part that is free`() {
    let rule = CompactionRule(leastFileSize: 1_000, leastFreePart: 0.5)
    #expect(!rule.applies(fileSize: 999, freeBytes: 999))
    #expect(!rule.applies(fileSize: 1_000, freeBytes: 499))
    #expect(rule.applies(fileSize: 1_000, freeBytes: 500))
    #expect(!always.applies(fileSize: 1_000, freeBytes: 0))
    #expect(always.applies(fileSize: 1_000, freeBytes: 1))
  }

  /// A store of which half is free, and the size of its file.
  private func makeStore() throws -> (DamagedStore, Int64) {
    let made = try DamagedStore()
    let store = try ObjectStore(at: made.path, models: [NewNote.self])
    try store.write { tx in for id in 1...390 { _ = try tx.delete(NewNote.self, id) } }
    return (made, try FileSize.of(made.path + "/data.mdb"))
  }

  @Test func `an open compacts a file that has much free, and tells of it`() throws {
    let (made, before) = try makeStore()
    let log = RecordingLog()
    let options = StoreOptions(compaction: always, logger: log.logger)
    let store = try ObjectStore(at: made.path, models: [Ticket.self], options: options)
    #expect(try FileSize.of(made.path + "/data.mdb") < before)
    #expect(try store.statistics().freePages == 0)
    #expect(try store.read { tx in try tx.get(Ticket.self, 400)?.seat } == "seat 400")
    #expect(log.entries("compacted the store").count == 1)
    try store.write { tx in try tx.insert(Ticket(id: 401, seat: "seat 401", row: 0)) }
    #expect(try store.verify().isSound)
  }

  @Test func `a file that the rule leaves out is as it was`() throws {
    let (made, before) = try makeStore()
    let log = RecordingLog()
    let options = StoreOptions(compaction: CompactionRule(), logger: log.logger)
    _ = try ObjectStore(at: made.path, models: [Ticket.self], options: options)
    #expect(try FileSize.of(made.path + "/data.mdb") == before)
    #expect(log.entries("compacted the store").isEmpty)
  }

  @Test func `a store that somebody has open opens as it is`() throws {
    let (made, before) = try makeStore()
    let log = RecordingLog()
    let other = try ObjectStore(at: made.path, models: [Ticket.self])
    let options = StoreOptions(compaction: always, logger: log.logger)
    let store = try ObjectStore(at: made.path, models: [Ticket.self], options: options)
    #expect(try FileSize.of(made.path + "/data.mdb") == before)
    #expect(log.entries("did not compact the store").count == 1)
    #expect(try store.changeCount() == other.changeCount())
  }

  @Test func `an open for reading alone, and one of a new store, compact nothing`() throws {
    let (made, before) = try makeStore()
    var options = StoreOptions(access: .readOnly, compaction: always)
    _ = try ObjectStore(at: made.path, models: [Ticket.self], options: options)
    #expect(try FileSize.of(made.path + "/data.mdb") == before)
    options.access = .create
    _ = try ObjectStore(at: made.folder.path("new"), models: [Ticket.self], options: options)
  }
}
