import TestSupport
import Testing

@testable import LMDB
@testable import ObjectStoreCore

@Suite struct PendingKeysTests {
  /// The distribution of the hashes: uniform, at both ends of the range, or close together.
  enum Spread: CaseIterable {
    case uniform
    case extremes
    case close

    func hash(_ random: inout SplitMix64) -> UInt64 {
      switch self {
      case .uniform: random.next()
      case .extremes: Bool.random(using: &random) ? random.next() >> 50 : ~(random.next() >> 50)
      case .close: 0x8000_0000_0000_0000 | random.next() >> 48
      }
    }
  }

  @Test(arguments: Spread.allCases)
  func `pending keys can be found and are flushed in order`(_ spread: Spread) throws {
    let folder = try TemporaryFolder()
    let environment = try Environment.open(folder.path)
    var transaction = try environment.beginWrite()
    let database = try transaction.createDatabase("keys", keys: .integers)
    var random = SplitMix64(seed: 5)
    var keys = DeferredKeys()
    var expected: [UInt64: UInt64] = [:]
    var id: UInt64 = 0
    for count in [1, 33, 500, 3_000] {
      var added: [UInt64: UInt64] = [:]
      while added.count < count {
        let hash = spread.hash(&random)
        #expect(keys.id(withHash: hash) == added[hash])
        guard expected[hash] == nil, added[hash] == nil else { continue }
        id += 1
        keys.add(id, withHash: hash)
        added[hash] = id
      }
      for (hash, id) in added { #expect(keys.id(withHash: hash) == id) }
      unsafe try keys.flush(to: database, in: WriteTransactionReference(transaction))
      #expect(keys.count == 0)
      for hash in added.keys { #expect(keys.id(withHash: hash) == nil) }
      expected.merge(added) { $1 }

      var stored: [(UInt64, UInt64)] = []
      let cursor = unsafe try transaction.cursor(on: database)
      var entry = unsafe try cursor.first()
      while let found = unsafe entry {
        unsafe stored.append(
          (found.key.loadUnaligned(as: UInt64.self), found.value.loadUnaligned(as: UInt64.self))
        )
        unsafe entry = unsafe try cursor.next()
      }
      #expect(stored.map(\.0) == expected.keys.sorted())
      #expect(Dictionary(uniqueKeysWithValues: stored) == expected)
    }
  }
}
