import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct WriteBatchTests {
  private func batch(_ hashes: [UInt64]) -> WriteBatch {
    var batch = WriteBatch(capacity: hashes.count)
    for hash in hashes { batch.append(hash) }
    return batch
  }

  @Test func `each hash is looked up once, in order`() {
    var lookups: [UInt64] = []
    var batch = batch([5, .max, 3, 5, 0, 5])
    batch.resolveIDs { hash in
      lookups.append(hash)
      return 0
    }
    #expect(lookups == [0, 3, 5, .max])
  }

  @Test func `existing objects are ordered by id, followed by new objects in input order`() {
    var batch = batch([40, 30, 20, 10, 50])
    batch.resolveIDs { [40: 7, 20: 9, 50: 2][$0] ?? 0 }
    batch.sortByID()
    #expect(batch.entries.map(\.position) == [4, 0, 2, 1, 3])
    #expect(batch.entries.map(\.id) == [2, 7, 9, 0, 0])
    #expect(batch.entries.allSatisfy { !$0.isRepeated })
    batch.sortByPosition()
    #expect(batch.entries.map(\.position) == [0, 1, 2, 3, 4])
  }

  @Test func `objects with the same hash are marked as repeated and keep their order`() {
    var batch = batch([8, 1, 8, 2, 1, 8])
    batch.resolveIDs { $0 == 8 ? 3 : 0 }
    batch.sortByID()
    #expect(batch.entries.map(\.position) == [0, 2, 5, 1, 3, 4])
    #expect(batch.entries.map(\.isRepeated) == [true, true, true, true, false, true])
    #expect(batch.entries.map(\.id) == [3, 3, 3, 0, 0, 0])
  }

  @Test func `a random batch keeps every object with its hash and id`() {
    var random = SplitMix64(seed: 3)
    for _ in 0..<500 {
      let hashes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
        UInt64.random(in: 0...30, using: &random)
      }
      let ids = (0...30).map { _ in UInt64.random(in: 0...9, using: &random) }
      var batch = batch(hashes)
      batch.resolveIDs { ids[Int($0)] }
      batch.sortByID()
      #expect(batch.entries.map(\.position).sorted() == Array(hashes.indices))
      for entry in batch.entries {
        #expect(entry.hash == hashes[entry.position])
        #expect(entry.id == ids[Int(entry.hash)])
        #expect(entry.isRepeated == (hashes.count { $0 == entry.hash } > 1))
      }
      let keys = batch.entries.map { ($0.id == 0 ? .max : $0.id, $0.position) }
      #expect(zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 })
    }
  }
}
