import TestSupport
import Testing

@testable import LMDB

/// Tests `BatchLookup`, which must find what `mdb_get` finds.
@Suite struct BatchLookupTests {
  let folder: TemporaryFolder
  let environment: Environment
  let database: Database

  init() throws {
    folder = try TemporaryFolder()
    environment = try Environment.open(folder.path)
    database = try environment.database("numbers", keys: .integers)
  }

  /// Stores a value of a random size for each key; some values have pages of their own.
  private func put(_ keys: some Sequence<UInt64>, _ random: inout SplitMix64) throws {
    try environment.write { transaction in
      for key in keys {
        let isLarge = Int.random(in: 0..<50, using: &random) == 0
        let size = Int.random(in: isLarge ? 2_100...9_000 : 0...400, using: &random)
        let value = [UInt8](repeating: UInt8(truncatingIfNeeded: key), count: size)
        let bytes = unsafe withUnsafeBytes(of: key) { unsafe Array($0) }
        try transaction.put(value.span, for: bytes.span, in: database)
      }
    }
  }

  private func delete(_ keys: some Sequence<UInt64>) throws {
    try environment.write { transaction in
      for key in keys {
        let bytes = unsafe withUnsafeBytes(of: key) { unsafe Array($0) }
        try transaction.delete(bytes.span, in: database)
      }
    }
  }

  private func isSame(_ one: UnsafeRawBufferPointer?, _ other: UnsafeRawBufferPointer?) -> Bool {
    unsafe one?.baseAddress == other?.baseAddress && one?.count == other?.count
  }

  /// Looks up keys in batches, and compares the values with those that LMDB finds.
  private func expectSame(
    _ keys: [UInt64],
    in transaction: borrowing ReadTransaction,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let reference = unsafe TransactionReference(transaction)
    let made = unsafe try BatchLookup(reference, database)
    let lookup = unsafe try #require(made, sourceLocation: location)
    let size = unsafe BatchLookup.size
    for start in stride(from: 0, to: keys.count, by: size) {
      let batch = Array(keys[start..<min(start + size, keys.count)])
      let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
      var values = unsafe [UnsafeRawBufferPointer](repeating: none, count: batch.count)
      let isFound = unsafe batch.withUnsafeBufferPointer { batch in
        unsafe values.withUnsafeMutableBufferPointer {
          unsafe lookup.find(batch, requesting: 64, $0)
        }
      }
      #expect(isFound, sourceLocation: location)
      for (index, key) in batch.enumerated() {
        let expected = try unsafe withUnsafeBytes(of: key) {
          unsafe try reference.value(for: $0, in: database)
        }
        let inBatch = unsafe values[index].baseAddress == nil ? nil : values[index]
        let isSame = unsafe isSame(inBatch, expected)
        #expect(isSame, "key \(key)", sourceLocation: location)
      }
    }
  }

  @Test func `present and missing keys are found as by single lookups, in every shape of a tree`()
    throws
  {
    var random = SplitMix64(seed: 3)
    for round in 0..<12 {
      let spread: UInt64 = round.isMultiple(of: 2) ? 50_000 : .max
      try put((0..<1_500).map { _ in UInt64.random(in: 0...spread, using: &random) }, &random)
      // A tree that was filled in ascending order has other pages than one filled at random.
      try put((0..<1_000).map { UInt64(round) * 1_000_000 + $0 }, &random)
      try delete((0..<800).map { _ in UInt64.random(in: 0...50_000, using: &random) })
      let snapshot = try environment.beginRead()
      let keys =
        [0, 1, .max, .max - 1]
        + (0..<900).map { _ in UInt64.random(in: 0...spread, using: &random) }
        + (0..<900).map { UInt64(round) * 1_000_000 + $0 }
      try expectSame(keys, in: snapshot)
      try expectSame(keys.sorted(), in: snapshot)
    }
  }

  @Test func `keys are found however unevenly they are distributed`() throws {
    var random = SplitMix64(seed: 6)
    let powers = (0..<64).flatMap { bit in
      (0..<60).map { ((1 as UInt64) << bit) &+ UInt64($0) &* UInt64(bit + 1) }
    }
    let ends = (0..<600).map { UInt64($0) } + (0..<600).map { .max - UInt64($0) }
    let clusters = (0..<30).flatMap { _ in
      let start = UInt64.random(in: 0...(.max >> 1), using: &random)
      return (0..<100).map { start + $0 * 3 }
    }
    let keys = powers + ends + clusters
    try put(keys, &random)
    let snapshot = try environment.beginRead()
    try expectSame(keys + keys.map { $0 &+ 1 } + keys.map { $0 &- 1 }, in: snapshot)
  }

  @Test func `a snapshot finds its own values while a writer replaces and deletes them`() throws {
    var random = SplitMix64(seed: 4)
    try put(0..<4_000, &random)
    let before = try environment.beginRead()
    try delete(1_000..<2_000)
    try put(0..<1_000, &random)
    var transaction = try environment.beginWrite()
    try transaction.removeAll(in: database)
    try expectSame(Array(0..<4_100), in: before)
    try expectSame(Array(0..<4_100), in: environment.beginRead())
    try transaction.commit()
    try expectSame(Array(0..<4_100), in: before)
  }

  @Test func `a write transaction and a small database have no batches`() throws {
    var random = SplitMix64(seed: 5)
    try put(0..<20, &random)
    let small = try environment.beginRead()
    let inSmall = unsafe try BatchLookup(TransactionReference(small), database)
    #expect(unsafe inSmall == nil)
    try put(0..<4_000, &random)
    var transaction = try environment.beginWrite()
    try transaction.put([1].span, for: [1, 2, 3, 4, 5, 6, 7, 8].span, in: database)
    let inWrite = unsafe try BatchLookup(TransactionReference(transaction), database)
    #expect(unsafe inWrite == nil)
  }
}
