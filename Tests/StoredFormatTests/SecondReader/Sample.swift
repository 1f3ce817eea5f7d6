import DownloadStore
import Foundation
import ObjectStore

/// A model with a field of every type, most of them indexed.
struct Sample: Hashable {
  var key: UUID
  var truth = false
  var int8: Int8 = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var uint8: UInt8 = 0
  var uint16: UInt16 = 0
  var uint32: UInt32 = 0
  var uint64: UInt64 = 0
  var float: Float = 0
  var double: Double = 0
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var text: String?
  var data = Data()
  var list: [String]?
  var set: Set<String> = []
  var numbers: Set<Int16> = []
  var amounts: [String: Int64] = [:]
  var words: [Int16: [String]] = [:]
  var table: [[UInt8]] = []
  var header: HeaderField?
  var price = Decimal(0)
}

extension Sample: Model {
  struct Columns: Sendable {
    let text = Column<Sample, String?>(position: 13)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Sample",
    fields: fields(isColumnar: true),
    indexes: [
      IndexSchema(on: "int64", "text", isUnique: true),
      IndexSchema(on: "data", "numbers", "text", "double"),
      IndexSchema(on: "list", "uint8"),
      IndexSchema(on: "key", "truth", "float", "date", "int8", "uint16", isUnique: true),
    ]
  )

  static func fields(isColumnar: Bool, isIndexed: Bool = true) -> [FieldSchema] {
    [
      FieldSchema("key", UUID.self, isPrimaryKey: true, isIndexed: isIndexed),
      FieldSchema("truth", Bool.self, default: false, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema("int8", Int8.self, default: 0, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema("int16", Int16.self, default: 0, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema("int32", Int32.self, default: 0, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema("int64", Int64.self, default: 0, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema("uint8", UInt8.self, default: 0, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema("uint16", UInt16.self, default: 0, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema("uint32", UInt32.self, default: 0, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema("uint64", UInt64.self, default: 0, isUnique: isIndexed, isColumnar: isColumnar),
      FieldSchema("float", Float.self, default: 0, isIndexed: isIndexed, isColumnar: isColumnar),
      FieldSchema(
        "double",
        Double.self,
        default: 0,
        isIndexed: isIndexed,
        isHot: true,
        isColumnar: isColumnar
      ),
      FieldSchema(
        "date",
        Date.self,
        default: Date(timeIntervalSinceReferenceDate: 0),
        isIndexed: isIndexed,
        isColumnar: isColumnar
      ),
      FieldSchema("text", String.self, id: 7, isOptional: true, isIndexed: isIndexed),
      FieldSchema("data", Data.self, default: Data(), isIndexed: isIndexed),
      FieldSchema("list", [String].self, isOptional: true, isIndexed: isIndexed, isHot: true),
      FieldSchema("set", Set<String>.self, default: [], isIndexed: isIndexed),
      FieldSchema("numbers", Set<Int16>.self, default: [], isIndexed: isIndexed),
      FieldSchema("amounts", [String: Int64].self, default: [:]),
      FieldSchema("words", [Int16: [String]].self, default: [:]),
      FieldSchema("table", [[UInt8]].self, default: []),
      FieldSchema("header", HeaderField.self, isOptional: true),
      FieldSchema("price", Decimal.self, isIndexed: isIndexed),
    ]
  }

  var primaryKey: UUID { key }

  init(from record: borrowing RecordView) throws(RecordError) {
    key = try record.value(at: 0)
    truth = try record.value(at: 1)
    int8 = try record.value(at: 2)
    int16 = try record.value(at: 3)
    int32 = try record.value(at: 4)
    int64 = try record.value(at: 5)
    uint8 = try record.value(at: 6)
    uint16 = try record.value(at: 7)
    uint32 = try record.value(at: 8)
    uint64 = try record.value(at: 9)
    float = try record.value(at: 10)
    double = try record.value(at: 11)
    date = try record.value(at: 12)
    text = try record.optional(at: 13)
    data = try record.value(at: 14)
    list = try record.optional(at: 15)
    set = try record.value(at: 16)
    numbers = try record.value(at: 17)
    amounts = try record.value(at: 18)
    words = try record.value(at: 19)
    table = try record.value(at: 20)
    header = try record.optional(at: 21)
    price = try record.value(at: 22)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(key)
    record.encode(truth)
    record.encode(int8)
    record.encode(int16)
    record.encode(int32)
    record.encode(int64)
    record.encode(uint8)
    record.encode(uint16)
    record.encode(uint32)
    record.encode(uint64)
    record.encode(float)
    record.encode(double)
    record.encode(date)
    record.encode(text)
    record.encode(data)
    record.encode(list)
    record.encode(set)
    record.encode(numbers)
    record.encode(amounts)
    record.encode(words)
    record.encode(table)
    record.encode(header)
    record.encode(price)
  }
}

extension Sample {
  /// An object with boundary values in every field, and one with default values.
  static let samples = [
    Sample(
      key: UUID(),
      truth: true,
      int8: .min,
      int16: -2,
      int32: .max,
      int64: .min,
      uint8: .max,
      uint16: 258,
      uint32: .max,
      uint64: .max,
      float: -0.1,
      double: -0.0,
      date: Date(timeIntervalSinceReferenceDate: -1.5),
      text: "a\0b",
      data: Data((0..<600).map { $0 % 3 == 0 ? 0 : UInt8(truncatingIfNeeded: $0) }),
      list: ["", "twice", "twice"],
      set: ["b", "aa", "", "\u{E9}"],
      numbers: [-1, 256, 1],
      amounts: ["b": 1, "aa": -1],
      words: [-1: ["x"], 1: []],
      table: [[1, 2], []],
      header: HeaderField(name: "X", value: "\u{1F600}"),
      price: Decimal(-12_345_678_901_234_567) / 1_000
    ),
    Sample(key: UUID(), uint64: 1, double: .infinity),
  ]

  /// Returns numbers in the order of their little-endian bytes.
  private static func asStored(_ numbers: some Sequence<Int16>) -> [Int16] {
    numbers.sorted {
      UInt16(bitPattern: $0.littleEndian).byteSwapped
        < UInt16(bitPattern: $1.littleEndian).byteSwapped
    }
  }

  /// The expected output of the second reader for the fields.
  var printed: [String: JSON] {
    [
      "key": JSON(key.uuidString.lowercased()),
      "truth": JSON(truth),
      "int8": JSON(int8),
      "int16": JSON(int16),
      "int32": JSON(int32),
      "int64": JSON(int64),
      "uint8": JSON(uint8),
      "uint16": JSON(uint16),
      "uint32": JSON(uint32),
      "uint64": JSON(uint64),
      "float": JSON(Double(float)),
      "double": double.isFinite ? JSON(double) : JSON("inf"),
      "date": JSON(date),
      "text": .optional(text) { JSON($0) },
      "data": JSON(data),
      "list": .optional(list) { JSON($0) },
      "set": JSON(set),
      "numbers": .list(Self.asStored(numbers).map { JSON($0) }),
      "amounts": .members(amounts.mapValues { JSON($0) }),
      "words": .list(
        Self.asStored(words.keys).map { .list([JSON($0), JSON(words[$0] ?? [])]) }
      ),
      "table": .list(table.map { .list($0.map { JSON($0) }) }),
      "header": .optional(header) { $0.printed },
      "price": JSON(price == 0 ? "0" : "-12345678901234567e-3"),
    ]
  }
}

/// The version of the model in a program that knows only two of its fields.
struct OlderSample: Model {
  struct Columns: Sendable {}

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Sample",
    fields: [
      FieldSchema("caption", String.self, id: 7, isOptional: true, isIndexed: true),
      FieldSchema("key", UUID.self, isPrimaryKey: true),
    ]
  )

  var key: UUID
  var caption: String?

  var primaryKey: UUID { key }

  init(key: UUID, caption: String?) {
    self.key = key
    self.caption = caption
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    caption = try record.optional(at: 0)
    key = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(caption)
    record.encode(key)
  }
}

/// A sample that is stored by key.
struct KeyedSample: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "KeyedSample",
    fields: Sample.fields(isColumnar: false),
    layout: .byKey
  )

  let sample: Sample
  var primaryKey: UUID { sample.key }

  init(sample: Sample) { self.sample = sample }

  init(from record: borrowing RecordView) throws(RecordError) {
    sample = try Sample(from: record)
  }

  func encode(to record: inout RecordEncoder) { sample.encode(to: &record) }
}
