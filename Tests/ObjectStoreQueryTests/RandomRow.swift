import Foundation
import TestSupport

/// Sample values that are close to each other and close to the limits of keys.
enum Samples {
  static let ranks = [-3, -2, -1, 0, 1, 2, 3, 255, 256, Int.min, Int.max]
  static let ratios: [Double] = [
    0, -0.0, 1, -1, 1.5, -1.5, .infinity, -.infinity, .nan, -.nan, .leastNonzeroMagnitude, 1e300,
  ]
  static let levels: [Int8] = [-128, -1, 0, 1, 2, 127]
  static let dates = [-1.5, 0, 1, 1e9, .infinity, .nan].map {
    Date(timeIntervalSinceReferenceDate: $0)
  }
  static let names =
    ["", "a", "ab", "abc", "b", "A", "AB", "a\0", "a\0b", "e\u{301}", "\u{E9}", "\u{C9}"]
    + ["straße", "STRASSE", "\u{1F600}", "kk"]
    + [150, 236, 240, 241, 439, 440, 441, 500].flatMap { count in
      ["", "\0", "x", "y"].map { String(repeating: "k", count: count) + $0 }
    }
  static let tags = ["", "a", "b", "a\0", String(repeating: "k", count: 450), "A"]
  static let datas = names.prefix(14).map { Data($0.utf8) }
  static let uuids = (0..<6 as Range<UInt8>).map { number in
    UUID(uuid: (number / 3, 0, 0, 0, 0, 0, 0, 0, 255 - number, 0, 0, 0, 0, 0, 0, number))
  }
}

extension SplitMix64 {
  mutating func element<Value>(_ values: [Value]) -> Value {
    values[Int.random(in: values.indices, using: &self)]
  }

  mutating func chance(_ percent: Int) -> Bool {
    Int.random(in: 0..<100, using: &self) < percent
  }

  mutating func optional<Value>(_ values: [Value]) -> Value? {
    chance(30) ? nil : element(values)
  }

  mutating func row(_ id: Int) -> Row {
    var row = Row()
    row.id = id
    row.rank = element(Samples.ranks)
    row.ratio = element(Samples.ratios)
    row.flag = chance(50)
    row.level = optional(Samples.levels)
    row.name = element(Samples.names)
    row.nick = optional(Samples.names)
    row.date = optional(Samples.dates)
    row.uuid = element(Samples.uuids)
    row.colour = element(Colour.allCases)
    row.priority = element(Priority.allCases)
    row.data = element(Samples.datas)
    for _ in 0..<Int.random(in: 0...3, using: &self) { row.tags.insert(element(Samples.tags)) }
    for _ in 0..<Int.random(in: 0...3, using: &self) { row.marks.append(element(Samples.ratios)) }
    return row
  }
}
