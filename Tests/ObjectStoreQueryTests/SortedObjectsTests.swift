import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

/// Tests sorting by keys computed from views.
@Suite struct SortedObjectsTests {
  private let folder: TemporaryFolder
  private let store: Store
  private let rows: [Row]

  init() throws {
    folder = try TemporaryFolder()
    var random = SplitMix64(seed: 21)
    var rows = (0..<400).map { random.row($0) }
    for index in 0..<100 { rows[index].ratio = nil }
    // The first rows have an older layout, in which `rank` is a cold field and `nick` a hot one.
    let old = try Store(at: folder.path, models: [OldSample<BareSample>.self])
    try old.write { [rows] tx in
      for row in rows[..<100] { try tx.insert(OldSample<BareSample>(row: row)) }
    }
    store = try Store(at: folder.path, models: [BareSample.self])
    try store.write { [rows] tx in
      for row in rows[100...] { try tx.insert(BareSample(row: row)) }
    }
    self.rows = rows
  }

  /// Returns the ids of rows sorted by a key, stably and with missing keys last.
  private func expected<Key: Comparable>(
    _ rows: [Row],
    _ direction: SortDirection,
    _ key: (Row) -> Key?
  ) -> [Int] {
    let keyed = rows.compactMap { row in key(row).map { (key: $0, row: row) } }
    let sorted = keyed.enumerated().sorted { left, right in
      if left.element.key != right.element.key {
        return (left.element.key < right.element.key) == (direction == .ascending)
      }
      return left.offset < right.offset
    }
    return sorted.map(\.element.row.id) + rows.filter { key($0) == nil }.map(\.id)
  }

  private func check<Key: Comparable>(
    _ rowKey: (Row) -> Key?,
    _ key: (inout ObjectView<BareSample>) throws -> SortKey?
  ) throws {
    for (limit, offset) in [(nil, 0), (1, 0), (7, 3), (1_000, 0), (0, 0), (nil, 5)] {
      for direction in [SortDirection.ascending, .descending] {
        for isFiltered in [false, true] {
          var query = isFiltered ? BareSample.where { $0.flag == true } : BareSample.all
          query.limit = limit
          query.offset = offset
          let matches = isFiltered ? rows.filter(\.flag) : rows
          let wanted = expected(matches, direction, rowKey).dropFirst(offset).prefix(limit ?? .max)
          let found = try store.read { tx in
            let objects = try tx.sorted(query, direction, by: key)
            #expect(objects.count == wanted.count)
            var ids: [Int] = []
            try tx.forEach(objects) { object in
              ids.append(object.row.id)
              return true
            }
            return ids
          }
          #expect(found == Array(wanted))
        }
      }
    }
  }

  @Test func `objects sort by hot, cold and optional fields as in an array`() throws {
    try check({ $0.rank }, { SortKey(try $0.rank) })
    try check({ $0.level.map { Int($0) } }, { try $0.level.map { SortKey($0) } })
    try check({ ComparableBytes(bytes: Array($0.name.utf8)) }, { SortKey(try $0.name) })
    try check(
      // Some dates are NaN, which no array can be sorted by.
      { $0.date.flatMap { words([SortKey($0.timeIntervalSinceReferenceDate)]).first } },
      { try $0.date.map { SortKey($0.timeIntervalSinceReferenceDate) } }
    )
    try check(
      { $0.tags.count + $0.rank % 7 },
      { view in SortKey(try view.tags.count + view.rank % 7) }
    )
  }

  @Test func `the key is computed once for each match, and only the results are decoded`() throws {
    try store.read { tx in
      var keyCount = 0
      let objects = try tx.sorted(BareSample.all.limit(5), .descending) { view in
        keyCount += 1
        return SortKey(try view.rank)
      }
      #expect(keyCount == rows.count)
      var decodedCount = 0
      try tx.forEach(objects) { _ in
        decodedCount += 1
        return decodedCount < 3
      }
      #expect(decodedCount == 3)
    }
  }

  @Test func `deleted objects are skipped`() throws {
    let objects = try store.read { tx in
      try tx.sorted(BareSample.all) { SortKey(try $0.id) }
    }
    try store.write { tx in _ = try tx.delete(BareSample.self, key: 3) }
    var ids: [Int] = []
    try store.read { tx in
      try tx.forEach(objects) { object in
        ids.append(object.row.id)
        return true
      }
    }
    #expect(ids == rows.map(\.id).filter { $0 != 3 })
  }

  @Test func `an error of the key ends the sort`() throws {
    struct Refusal: Error {}
    try store.read { tx in
      _ = #expect(throws: Refusal.self) {
        try tx.sorted(BareSample.all) { _ in throw Refusal() }
      }
    }
  }

  // MARK: Keys

  @Test func `numbers sort by value, and NaN last`() {
    let numbers = [
      -Double.infinity, -2.5, -1, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1, 1e300,
      .infinity, .nan,
    ]
    #expect(words(numbers.map { SortKey($0) }) == words(numbers.map { SortKey($0) }).sorted())
    #expect(Set(numbers.map { SortKey($0) }).count == numbers.count)
    #expect(SortKey(-0.0) == SortKey(0.0) && SortKey(-Double.nan) == SortKey(Double.nan))
    let integers = [Int64.min, -1, 0, 1, .max].map { SortKey($0) }
    #expect(words(integers) == words(integers).sorted())
    #expect(SortKey(Int8(-1)) == SortKey(-1))
  }

  private func words(_ keys: [SortKey]) -> [UInt64] {
    keys.compactMap { key in
      if case .word(let word) = key.content { word } else { nil }
    }
  }

  @Test(arguments: [Int.max, 0, 1, 10, 999, 1_000, 2_000])
  func `a selection has the smallest keys in order, also with keys of many megabytes`(limit: Int) {
    var random = SplitMix64(seed: 5)
    var selection = KeySelection(limit: limit)
    var keys: [(bytes: [UInt8], id: UInt64)] = []
    for id in 0..<1_000 as Range<UInt64> {
      // Equal beginnings, keys shorter than eight bytes without the id, and one of two megabytes.
      let count = id == 500 ? 2 << 20 : Int.random(in: 0...3_000, using: &random)
      let content =
        [UInt8](repeating: 7, count: count)
        + [UInt8.random(in: 0...3, using: &random)]
      let key = KeyEncoding.append(id, to: content)
      keys.append((key, id))
      _ = unsafe key.withUnsafeBytes { unsafe selection.insert($0) }
    }
    let sorted = keys.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
    #expect(selection.sortedIDs() == sorted.map(\.id).prefix(limit).map { $0 })
  }
}

/// Bytes that compare lexicographically.
private struct ComparableBytes: Comparable {
  let bytes: [UInt8]

  static func < (left: Self, right: Self) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }
}
