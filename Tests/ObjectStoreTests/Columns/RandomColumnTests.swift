import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Runs random writes on a model with columns and on one without, and compares them.
@Suite struct RandomColumnTests {
  private typealias Columnar = Meter<WithColumns>
  private typealias Plain = Meter<WithoutColumns>
  private struct Rollback: Error {}

  @Test(arguments: [1, 2, 3, UInt64.random(in: 4 ... .max)])
  func `every query finds the same with columns as without`(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [Columnar.self, Plain.self])
    var objects: [Int: Measures] = [:]
    for round in 0..<12 {
      let before = objects
      let isRolledBack = random.chance(20)
      let snapshot = try store.snapshot()
      do {
        try store.write { tx in
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            try change(&objects, &tx, &random)
            if random.chance(50) { try compare(tx, objects, &random, "seed \(seed)") }
          }
          if isRolledBack { throw Rollback() }
        }
      } catch is Rollback {
        objects = before
      }
      try snapshot.read { tx in
        try compare(tx, before, &random, "seed \(seed), round \(round), before")
      }
      try store.read { tx in try compare(tx, objects, &random, "seed \(seed), round \(round)") }
    }
    let report = try store.verify()
    #expect(report.problems == [], "seed \(seed)")
  }

  // MARK: Writes

  private func change(
    _ objects: inout [Int: Measures],
    _ tx: inout StoreTransaction,
    _ random: inout SplitMix64
  ) throws {
    let keys = objects.keys.sorted()
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1:
      let first = (keys.last ?? 0) + 1
      let new = (0..<Int.random(in: 1...600, using: &random)).map {
        ($0 + first, random.measures())
      }
      try tx.upsert(contentsOf: new.map { Columnar($0.0, $0.1) })
      try tx.insert(contentsOf: new.map { Plain($0.0, $0.1) })
      for (id, measures) in new { objects[id] = measures }
    case 2 where !keys.isEmpty:
      for _ in 0..<20 {
        let id = random.element(keys)
        let measures = random.measures()
        objects[id] = measures
        try tx.upsert(Columnar(id, measures))
        try tx.update(Plain.self, key: id) { $0.measures = measures }
      }
    case 3 where !keys.isEmpty:
      // A range of neighbors, which may empty whole chunks.
      let first = random.element(keys)
      let last = first + Int.random(in: 0...700, using: &random)
      let count = keys.count { (first...last).contains($0) }
      #expect(try tx.delete(Columnar.where { $0.id.between(first, last) }) == count)
      #expect(try tx.delete(Plain.where { $0.id.between(first, last) }) == count)
      for id in first...last { objects[id] = nil }
    case 4 where !keys.isEmpty:
      for _ in 0..<30 {
        let id = random.element(keys)
        let (large, small) = (Int64(random.next() % 100), random.chance(50) ? nil : Int16(3))
        objects[id]?.large = large
        objects[id]?.small = small
        try tx.edit(Columnar.self, key: id) {
          $0.set(\.large, to: large)
          $0.set(\.small, to: small)
        }
        try tx.edit(Plain.self, key: id) {
          $0.set(\.large, to: large)
          $0.set(\.small, to: small)
        }
      }
    case 5 where !keys.isEmpty:
      let bound = random.element(Measures.samples).medium
      let query = Columnar.where { $0.medium > bound }
      let count = objects.values.count { $0.medium > bound }
      #expect(try tx.update(query) { $0.measures.score = 1.5 } == count)
      try tx.update(Plain.where { $0.medium > bound }) { $0.measures.score = 1.5 }
      for id in keys where objects[id].map({ $0.medium > bound }) ?? false {
        objects[id]?.score = 1.5
      }
    default:
      let before = objects
      let isRolledBack = random.chance(50)
      do {
        try tx.nested { tx in
          try change(&objects, &tx, &random)
          if isRolledBack { throw Rollback() }
        }
      } catch is Rollback {
        objects = before
      }
    }
  }

  // MARK: Queries

  private func compare(
    _ tx: borrowing some ObjectReader & ~Copyable,
    _ objects: [Int: Measures],
    _ random: inout SplitMix64,
    _ context: String
  ) throws {
    for _ in 0..<12 {
      let sample = random.measures()
      let (kind, offset) = (Int.random(in: 0..<14, using: &random), Int(random.next() % 4))
      let left = condition(Columnar.self, kind, sample)
      let right = condition(Plain.self, kind, sample)
      let other = condition(Columnar.self, (kind + 5) % 14, sample)
      let otherPlain = condition(Plain.self, (kind + 5) % 14, sample)
      let (columnar, plain): (Filter<Columnar>, Filter<Plain>) =
        switch Int.random(in: 0..<5, using: &random) {
        case 0: (left && other, right && otherPlain)
        case 1: (left || other, right || otherPlain)
        case 2: (!left, !right)
        case 3: (left && !other && .init(.always), right && !otherPlain && .init(.always))
        default: (left, right)
        }
      let (query, expected) = (Query(columnar), Query(plain))
      let plan = try tx.explain(query)
      let text = "\(context), condition \(kind), \(sample): \(plan)"
      // A condition that every object meets needs no column.
      #expect(columnar.node.isAlways || !"\(plan)".hasPrefix("scan"), "\(text)")
      #expect(try tx.count(query) == tx.count(expected), "\(text)")
      #expect(try tx.exists(query) == tx.exists(expected), "\(text)")
      #expect(
        try tx.fetch(query).map(\.measures.stored) == tx.fetch(expected).map(\.measures.stored),
        "\(text)"
      )
      #expect(
        try tx.fetch(query.order(by: \.score).offset(offset).limit(5)).map(\.id)
          == tx.fetch(expected.order(by: \.score).offset(offset).limit(5)).map(\.id),
        "\(text)"
      )
      #expect(
        try tx.fetch(query.order(by: \.small, .descending)).map(\.id)
          == tx.fetch(expected.order(by: \.small, .descending)).map(\.id),
        "\(text)"
      )
      #expect(try tx.sum(query, of: \.medium) == tx.sum(expected, of: \.medium), "\(text)")
      #expect(
        try tx.sum(query, of: \.ratio).bitPattern == tx.sum(expected, of: \.ratio).bitPattern,
        "\(text)"
      )
      #expect(try tx.min(query, of: \.date) == tx.min(expected, of: \.date), "\(text)")
      #expect(try tx.max(query, of: \.large) == tx.max(expected, of: \.large), "\(text)")
      #expect(try tx.max(query, of: \.level) == tx.max(expected, of: \.level), "\(text)")
      #expect(try tx.sections(query, by: \.byte) == tx.sections(expected, by: \.byte), "\(text)")
      #expect(try tx.distinct(query, \.flag) == tx.distinct(expected, \.flag), "\(text)")
    }
    #expect(try tx.count(Columnar.where { $0.id > .min }) == objects.count, "\(context)")
    #expect(
      try tx.fetch(Columnar.all.order(by: \.long).limit(9)).map(\.id)
        == tx.fetch(Plain.all.order(by: \.long).limit(9)).map(\.id),
      "\(context)"
    )
    #expect(try tx.sum(Columnar.all, of: \.short) == tx.sum(Plain.all, of: \.short), "\(context)")
  }

  private func condition<Kind: MeterKind>(
    _ model: Meter<Kind>.Type,
    _ kind: Int,
    _ sample: Measures
  ) -> Filter<Meter<Kind>> {
    let columns = Meter<Kind>.columns
    return switch kind {
    case 0: columns.tiny <= sample.tiny
    case 1: columns.small == sample.small
    case 2: columns.medium != sample.medium
    case 3: columns.large.isIn([sample.large, 3, 7, 99])
    case 4: columns.byte != nil
    case 5: columns.short > sample.short
    case 6: columns.word.between(0, sample.word)
    case 7: columns.long >= sample.long
    case 8: columns.ratio < (sample.ratio ?? -0.0)
    case 9: columns.score == sample.score
    case 10: columns.date != sample.date
    case 11: columns.flag == sample.flag
    case 12: columns.level > sample.level
    default: columns.level.isIn([sample.level, .high])
    }
  }
}

extension Measures {
  /// Values that compare as the stored ones do, also for NaN.
  fileprivate struct Stored: Equatable {
    var numbers: [UInt64?]
    var text: String
  }

  fileprivate var stored: Stored {
    func bits(_ value: some BinaryInteger) -> UInt64 { UInt64(truncatingIfNeeded: value) }
    return Stored(
      numbers: [
        bits(tiny), small.map(bits), bits(medium), bits(large), byte.map(bits), bits(short),
        bits(word), long, (ratio?.bitPattern).map(bits), score.bitPattern,
        date?.timeIntervalSinceReferenceDate.bitPattern, flag.map { $0 ? 1 : 0 },
        bits(level.rawValue),
      ],
      text: text
    )
  }

  /// Boundary values.
  fileprivate static let samples: [Measures] = {
    var low = Measures()
    low.tiny = .min
    low.small = .min
    low.medium = .min
    low.large = .min
    low.byte = 0
    low.ratio = -.infinity
    low.score = -0.0
    low.date = Date(timeIntervalSinceReferenceDate: -1.5)
    low.flag = false
    var high = Measures()
    high.tiny = .max
    high.small = .max
    high.medium = .max
    high.large = .max
    high.byte = .max
    high.short = 500
    high.word = .max
    high.long = .max
    high.ratio = .nan
    high.score = .infinity
    high.date = Date(timeIntervalSinceReferenceDate: 1e9)
    high.flag = true
    high.level = .high
    return [low, high, Measures()]
  }()
}

extension SplitMix64 {
  fileprivate mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &self) < percent
  }

  fileprivate mutating func element<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: elements.indices, using: &self)]
  }

  fileprivate mutating func measures() -> Measures {
    var values = element(Measures.samples)
    // Small sums, which do not overflow.
    values.medium = Int32(truncatingIfNeeded: next()) >> 16
    if chance(70) { values.tiny = Int8(truncatingIfNeeded: next()) }
    if chance(50) { values.small = Int16(truncatingIfNeeded: next()) }
    if chance(70) { values.large = Int64(next() % 100) }
    if chance(50) { values.byte = UInt8(truncatingIfNeeded: next()) }
    values.short = UInt16(next() % 3)
    if chance(50) { values.word = UInt32(truncatingIfNeeded: next()) }
    if chance(50) { values.long = next() }
    if chance(60) { values.ratio = chance(20) ? nil : Float(next() % 200) / 8 - 10 }
    if chance(60) { values.score = Double(next() % 50) - 25 }
    if chance(40) { values.date = Date(timeIntervalSinceReferenceDate: Double(next() % 1_000)) }
    if chance(30) { values.flag = nil }
    values.level = element(Measures.Level.allCases)
    values.text = "text \(next() % 10)"
    return values
  }
}
