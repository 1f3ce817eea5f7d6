import ObjectStore
import TestSupport
import Testing

/// Tests chunks of hot parts that a write transaction holds in memory before it stores them.
@Suite(.timeLimit(.minutes(10))) struct NewHotPartsTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
  }

  @Test func `a read inside the write sees the hot fields of new objects`() throws {
    try store.write { tx in
      var expected = 0
      for start in stride(from: 0, to: 300, by: 25) {
        let batch = (start..<start + 25).map { Everything(id: Int64($0), received: Int64($0)) }
        for object in batch { try tx.insert(object) }
        expected += batch.count { $0.received >= 20 }
        // This query scans only the hot parts.
        #expect(try tx.count(Everything.where { $0.received >= 20 }) == expected)
      }
      try tx.edit(Everything.self, key: 299) { $0.set(\.received, to: 0) }
      #expect(try tx.count(Everything.where { $0.received >= 20 }) == expected - 1)
    }
    #expect(try store.read { try $0.count(Everything.where { $0.received >= 20 }) } == 279)
    #expect(try store.verify().isValid)
  }

  @Test func `objects inserted and deleted in one write leave no hot part`() throws {
    try store.write { tx in
      for id in 0..<100 as Range<Int64> { try tx.insert(Everything(id: id)) }
      for id in 0..<64 as Range<Int64> {
        try tx.delete(Everything.self, key: id)
        // The count stores the pending parts in the middle of a chunk.
        if id == 40 { #expect(try tx.count(Everything.where { $0.received == 0 }) == 59) }
      }
    }
    let statistics = try store.statistics()
    // Ids 65 to 100 are in chunks 2 and 3.
    #expect(statistics.models["Everything"]?.hotParts.entries == 2)
    #expect(try store.verify().isValid)
  }
}
