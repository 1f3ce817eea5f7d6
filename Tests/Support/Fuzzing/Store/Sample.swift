internal import Foundation
internal import ObjectStore

/// A model with a field of every type, indexes and references.
struct Sample: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Sample",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("flag", Bool.self),
      FieldSchema("tiny", Int8.self, isColumnar: true),
      FieldSchema("big", UInt64.self, isIndexed: true),
      FieldSchema("ratio", Float.self),
      FieldSchema("score", Double.self, isIndexed: true, isColumnar: true),
      FieldSchema("date", Date.self),
      FieldSchema("uuid", UUID.self),
      FieldSchema("amount", Decimal.self, isIndexed: true),
      FieldSchema("name", String.self, isOptional: true, isUnique: true),
      FieldSchema("bytes", Data.self),
      FieldSchema("list", [String].self),
      FieldSchema("tags", Set<String>.self, isIndexed: true),
      FieldSchema("map", [String: Int].self),
      FieldSchema("hits", Int64.self, isHot: true, isColumnar: true),
      FieldSchema("spot", Reference<Spot>.self, isOptional: true, onDelete: .deny),
      FieldSchema("spots", Set<Reference<Spot>>.self, onDelete: .nullify),
    ],
    indexes: [IndexSchema(on: "flag", "name")]
  )

  var id: Int
  var flag = false
  var tiny: Int8 = 0
  var big: UInt64 = 0
  var ratio: Float = 0
  var score: Double = 0
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
  var amount: Decimal = 0
  var name: String?
  var bytes = Data()
  var list: [String] = []
  var tags: Set<String> = []
  var map: [String: Int] = [:]
  var hits: Int64 = 0
  var spot: Reference<Spot>?
  var spots: Set<Reference<Spot>> = []
  var primaryKey: Int { id }

  init(id: Int) {
    self.id = id
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    flag = try record.value(at: 1)
    tiny = try record.value(at: 2)
    big = try record.value(at: 3)
    ratio = try record.value(at: 4)
    score = try record.value(at: 5)
    date = try record.value(at: 6)
    uuid = try record.value(at: 7)
    amount = try record.value(at: 8)
    name = try record.optional(at: 9)
    bytes = try record.value(at: 10)
    list = try record.value(at: 11)
    tags = try record.value(at: 12)
    map = try record.value(at: 13)
    hits = try record.value(at: 14)
    spot = try record.optional(at: 15)
    spots = try record.value(at: 16)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(flag)
    record.encode(tiny)
    record.encode(big)
    record.encode(ratio)
    record.encode(score)
    record.encode(date)
    record.encode(uuid)
    record.encode(amount)
    record.encode(name)
    record.encode(bytes)
    record.encode(list)
    record.encode(tags)
    record.encode(map)
    record.encode(hits)
    record.encode(spot)
    record.encode(spots)
  }

  /// Objects with boundary values and typical values.
  static var samples: [Sample] {
    var full = Sample(id: 2)
    full.flag = true
    full.tiny = .min
    full.big = .max
    full.ratio = .infinity
    full.score = -0.0
    full.date = Date(timeIntervalSince1970: 1_700_000_000.25)
    full.amount = Decimal(sign: .minus, exponent: -3, significand: 12_345)
    full.name = "naïve \"text\"\n\u{0}"
    full.bytes = Data([0, 255, 1])
    full.list = ["a", "", "a"]
    full.tags = ["x", "y"]
    full.map = ["one": 1, "": .min]
    full.hits = 7
    full.spot = Reference("here")
    full.spots = [Reference("here"), Reference("there")]
    var odd = Sample(id: .min)
    odd.ratio = .nan
    odd.score = .leastNonzeroMagnitude
    odd.name = ""
    return [Sample(id: 1), full, odd]
  }
}

/// The model to which samples refer.
struct Spot: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Spot",
    fields: [FieldSchema("name", String.self, isPrimaryKey: true)]
  )

  var name: String
  var primaryKey: String { name }

  init(_ name: String) {
    self.name = name
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(name)
  }
}

/// A model that is stored by key, with an index.
struct KeyedSpot: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "KeyedSpot",
    fields: [
      FieldSchema("name", String.self, isPrimaryKey: true),
      FieldSchema("rank", Int.self, isIndexed: true),
    ],
    layout: .byKey
  )

  var name: String
  var rank: Int
  var primaryKey: String { name }

  init(_ number: Int) {
    name = "spot \(number)"
    rank = number
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
    rank = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(name)
    record.encode(rank)
  }
}
