import Foundation
import ObjectStore
import TestSupport

/// A random order, as a store query and as Swift comparisons.
struct RandomOrder<M: SampleModel> {
  private(set) var query: Query<M>
  private(set) var text = ""
  private(set) var hasComputed = false
  private var compare: [(Row, Row) -> Int] = []
  private var isReversed = false

  init(_ query: Query<M>) { self.query = query }

  /// Returns the rows, which must be in insertion order, in this order.
  func sorted(_ rows: [Row]) -> [Row] {
    rows.enumerated().sorted { left, right in
      for compare in compare {
        let comparison = compare(left.element, right.element)
        if comparison != 0 { return comparison < 0 }
      }
      return isReversed ? left.offset > right.offset : left.offset < right.offset
    }
    .map(\.element)
  }

  mutating func addRandom(_ random: inout SplitMix64) {
    switch Int.random(in: 0..<12, using: &random) {
    case 0, 1: add(\.rank, "rank", &random) { Self.compare($0.rank, $1.rank) }
    case 2:
      add(\.ratio, "ratio", &random) { Self.optional($0.ratio, $1.ratio, Self.compareTotally) }
    case 3: add(\.flag, "flag", &random) { Self.compare($0.flag ? 1 : 0, $1.flag ? 1 : 0) }
    case 4: add(\.level, "level", &random) { Self.optional($0.level, $1.level, Self.compare) }
    case 5, 6: add(\.name, "name", &random) { $0.name.compareBytes(to: $1.name) }
    case 7:
      add(\.nick, "nick", &random) { left, right in
        Self.optional(left.nick, right.nick) { $0.compareBytes(to: $1) }
      }
    case 8:
      add(\.date, "date", &random) { left, right in
        Self.optional(left.date, right.date) {
          Self.compareTotally(
            $0.timeIntervalSinceReferenceDate,
            $1.timeIntervalSinceReferenceDate
          )
        }
      }
    case 9:
      add(\.colour, "colour", &random) {
        $0.colour.rawValue.compareBytes(to: $1.colour.rawValue)
      }
    case 10: add(\.data, "data", &random) { Self.compareBytes($0.data, $1.data) }
    default:
      let direction = Self.direction(&random)
      query = query.order(computing: { $0.row.id % 5 }, direction)
      hasComputed = true
      record("computed", direction) { Self.compare($0.id % 5, $1.id % 5) }
    }
  }

  private mutating func add<Value: FieldValue>(
    _ column: KeyPath<SampleColumns<M>, Column<M, Value>>,
    _ text: String,
    _ random: inout SplitMix64,
    _ compare: @escaping (Row, Row) -> Int
  ) {
    let direction = Self.direction(&random)
    query = query.order(by: column, direction)
    record(text, direction, compare)
  }

  private mutating func add<Value: FieldValue>(
    _ column: KeyPath<SampleColumns<M>, Column<M, Value?>>,
    _ text: String,
    _ random: inout SplitMix64,
    _ compare: @escaping (Row, Row) -> Int
  ) {
    let direction = Self.direction(&random)
    query = query.order(by: column, direction)
    record(text, direction, compare)
  }

  private mutating func record(
    _ text: String,
    _ direction: SortDirection,
    _ compare: @escaping (Row, Row) -> Int
  ) {
    self.text += " by \(text) \(direction)"
    isReversed = direction == .descending
    self.compare.append(isReversed ? { compare($1, $0) } : compare)
  }

  private static func direction(_ random: inout SplitMix64) -> SortDirection {
    random.chance(50) ? .ascending : .descending
  }

  private static func compare<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
    left < right ? -1 : left == right ? 0 : 1
  }

  private static func compareTotally(_ left: Double, _ right: Double) -> Int {
    let (left, right) = (left == 0 ? 0 : left, right == 0 ? 0 : right)
    guard left.isTotallyOrdered(belowOrEqualTo: right) else { return 1 }
    return right.isTotallyOrdered(belowOrEqualTo: left) ? 0 : -1
  }

  private static func compareBytes(_ left: Data, _ right: Data) -> Int {
    left.lexicographicallyPrecedes(right) ? -1 : left.elementsEqual(right) ? 0 : 1
  }

  private static func optional<Value>(
    _ left: Value?,
    _ right: Value?,
    _ compare: (Value, Value) -> Int
  ) -> Int {
    guard let left else { return right == nil ? 0 : -1 }
    guard let right else { return 1 }
    return compare(left, right)
  }
}
