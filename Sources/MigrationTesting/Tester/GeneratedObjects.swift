internal import Foundation
internal import ObjectStore

/// Random objects of a schema, as an export.
struct GeneratedObjects: Sendable {
  /// The number of objects of each model.
  let count: Int
  let seed: UInt64
  /// The values of fields that permit few, by `Model.field`.
  let values: [String: [StoredValue]]

  /// Writes the export.
  ///
  /// - Throws: ``MigrationTestFailure`` if a field needs values that are not given.
  func write(_ schema: SchemaDescription, to path: String) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { throw MigrationTestFailure("\(path) cannot be written") }
    try file.write(contentsOf: Data((schema.exportHeader.text + "\n").utf8))
    var generator = SeededGenerator(seed: seed)
    // Targets of references come before the objects that refer to them.
    for model in try Self.ordered(schema.models.filter { !$0.fields.isEmpty }) {
      var lines = ""
      let fields = count == 0 ? [] : try Self.fields(of: model)
      for number in 0..<count {
        lines += try line(number, of: model, fields, &generator).text + "\n"
        guard lines.utf8.count > 1 << 20 || number == count - 1 else { continue }
        try file.write(contentsOf: Data(lines.utf8))
        lines = ""
      }
    }
    try file.close()
  }

  private static func ordered(
    _ models: [SchemaDescription.Model]
  ) throws -> [SchemaDescription.Model] {
    var ordered: [SchemaDescription.Model] = []
    var rest = models
    while !rest.isEmpty {
      let next = rest.firstIndex { model in
        model.fields.allSatisfy { field in
          guard let target = field.reference?.target, target != model.name else { return true }
          return !rest.contains { $0.name == target }
        }
      }
      ordered.append(rest.remove(at: next ?? 0))
    }
    return ordered
  }

  /// What all objects of a model have in common about a field.
  private struct Field {
    let field: SchemaDescription.Field
    /// The names of the model and the field.
    let name: String
    let type: FieldType
    /// Whether no two objects have the same value.
    let isUnique: Bool
  }

  private static func fields(of model: SchemaDescription.Model) throws -> [Field] {
    let unique = Set(model.indexes.filter(\.isUnique).flatMap(\.fieldIDs))
    return try model.fields.map { field in
      let name = "\(model.name).\(field.name)"
      guard let type = FieldType(field.type) else {
        throw MigrationTestFailure("\(name) has the unknown type \(field.type)")
      }
      let isUnique = field.isPrimaryKey || unique.contains(field.id)
      return Field(field: field, name: name, type: type, isUnique: isUnique)
    }
  }

  private func line(
    _ number: Int,
    of model: SchemaDescription.Model,
    _ fields: [Field],
    _ generator: inout SeededGenerator
  ) throws -> JSONValue {
    var members: [JSONValue.Member] = []
    for common in fields {
      let (field, name, type) = (common.field, common.name, common.type)
      let value: StoredValue
      if common.isUnique {
        value = Self.distinct(number, type)
      } else if let reference = field.reference {
        value =
          reference.target == model.name && number == 0
          ? Self.firstReference(type, isOptional: field.isOptional)
          : Self.reference(Int.random(in: 0..<max(number, 1), using: &generator), type)
      } else if field.isOptional, Bool.random(using: &generator) {
        value = .null
      } else if let choices = values[name], let choice = choices.randomElement(using: &generator) {
        value = choice
      } else {
        value = try Self.random(type, name, &generator)
      }
      members.append(.init(name: field.name, value: value.json))
    }
    return [
      "model": .string(model.name), "object": .integer(Int64(number) + 1),
      "fields": .object(members),
    ]
  }

  /// The value of a number, of which no two are equal for small types until they are exhausted.
  private static func distinct(_ number: Int, _ type: FieldType) -> StoredValue {
    switch type {
    case .signed: .signed(Int64(number))
    case .unsigned: .unsigned(UInt64(number))
    case .string: .string("key \(number)")
    case .data: .data(Data("key \(number)".utf8))
    case .uuid:
      .uuid(UUID(uuidString: String(format: "00000000-0000-4000-8000-%012d", number)) ?? UUID())
    case .date: .date(Date(timeIntervalSinceReferenceDate: Double(number)))
    case .double: .double(Double(number))
    case .float: .float(Float(number))
    case .decimal: .decimal(Decimal(number))
    case .array(let element): .array([distinct(number, element)])
    case .set(let element): .set([distinct(number, element)])
    case .bool, .dictionary, .embedded: .null
    }
  }

  /// A reference of the first object to its own model, of which there is no earlier object.
  private static func firstReference(_ type: FieldType, isOptional: Bool) -> StoredValue {
    if isOptional { return .null }
    return switch type {
    case .array: .array([])
    case .set: .set([])
    default: reference(0, type)
    }
  }

  private static func reference(_ number: Int, _ type: FieldType) -> StoredValue {
    distinct(number, type)
  }

  /// Whole numbers, numbers with up to six decimals, and very large and very small ones.
  private static func decimal(_ generator: inout SeededGenerator) -> Decimal {
    let digits = Decimal(Int.random(in: -1_000_000...1_000_000, using: &generator))
    let exponents = [0, 0, -1, -2, -3, -6, 20, -20]
    let exponent = exponents[Int.random(in: exponents.indices, using: &generator)]
    return digits * Decimal(sign: .plus, exponent: exponent, significand: 1)
  }

  private static func random(
    _ type: FieldType,
    _ name: String,
    _ generator: inout SeededGenerator
  ) throws -> StoredValue {
    switch type {
    case .bool: return .bool(.random(using: &generator))
    case .signed(let bits):
      return .signed(Int64(bitPattern: generator.next()) >> Int64(64 - bits))
    case .unsigned(let bits): return .unsigned(generator.next() >> UInt64(64 - bits))
    case .float: return .float(.random(in: -1e9...1e9, using: &generator))
    case .double: return .double(.random(in: -1e9...1e9, using: &generator))
    case .date:
      let seconds = Double.random(in: 0...1e9, using: &generator)
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .decimal:
      return .decimal(decimal(&generator))
    case .uuid: return distinct(Int.random(in: 0..<1_000_000, using: &generator), .uuid)
    case .string: return .string(text(&generator))
    case .data: return .data(Data(text(&generator).utf8))
    case .array(let element):
      return .array(try elements(element, name, &generator))
    case .set(let element):
      return .set(Array(Set(try elements(element, name, &generator))))
    case .dictionary(let key, let value):
      var entries: [StoredValue: StoredValue] = [:]
      for _ in 0..<Int.random(in: 0..<4, using: &generator) {
        entries[try random(key, name, &generator)] = try random(value, name, &generator)
      }
      return .dictionary(entries.map { StoredValue.Entry(key: $0, value: $1) })
    case .embedded:
      throw MigrationTestFailure("give values of \(name): its type \(type) has a custom encoding")
    }
  }

  private static func elements(
    _ type: FieldType,
    _ name: String,
    _ generator: inout SeededGenerator
  ) throws -> [StoredValue] {
    // An empty collection of values with a custom encoding needs none.
    if case .embedded = type { return [] }
    return try (0..<Int.random(in: 0..<4, using: &generator)).map { _ in
      try random(type, name, &generator)
    }
  }

  private static let words = [
    "", "a", "zebra", "\u{e9}t\u{e9}", "\u{1f4da} books", "two words", "\"quoted\"\n",
  ]

  private static func text(_ generator: inout SeededGenerator) -> String {
    let word = words.randomElement(using: &generator) ?? ""
    let count = Int.random(in: 0..<4, using: &generator)
    // Some are longer than an index keeps.
    let length = count == 3 && Bool.random(using: &generator) ? 200 : count
    return (0...length).map { _ in word }.joined(separator: " ")
  }
}

/// SplitMix64, whose numbers depend on its seed only.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

extension SchemaDescription {
  /// The first line of an export of a store with this schema.
  var exportHeader: JSONValue {
    [
      "format": .string("ObjectStore JSON lines"), "version": .integer(1),
      "schemaVersion": .integer(Int64(version)),
      "models": .array(models.filter { !$0.fields.isEmpty }.map(\.exportHeader)),
    ]
  }
}

extension SchemaDescription.Model {
  fileprivate var exportHeader: JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "name", value: .string(name)),
      .init(
        name: "fields",
        value: .array(
          fields.map { field in
            [
              "name": .string(field.name), "id": .integer(Int64(field.id)),
              "type": .string(field.type), "optional": .bool(field.isOptional),
              "hot": .bool(field.isHot), "primaryKey": .bool(field.isPrimaryKey),
            ]
          }
        )
      ),
      .init(
        name: "indexes",
        value: .array(
          indexes.map { index in
            [
              "fields": .array(index.fieldIDs.map { .integer(Int64($0)) }),
              "unique": .bool(index.isUnique),
            ]
          }
        )
      ),
      .init(
        name: "references",
        value: .array(
          fields.compactMap { field in
            field.reference.map { reference in
              [
                "field": .integer(Int64(field.id)), "target": .string(reference.target),
                "onDelete": .string("\(reference.onDelete)"),
              ]
            }
          }
        )
      ),
    ]
    if layout != .sequential { members.append(.init(name: "layout", value: .string("\(layout)"))) }
    let columns = fields.filter(\.isColumnar).map { JSONValue.integer(Int64($0.id)) }
    if !columns.isEmpty { members.append(.init(name: "columns", value: .array(columns))) }
    return .object(members)
  }
}

extension JSONValue {
  /// The JSON in one line.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return bytes
  }

  var text: String { String(decoding: bytes, as: UTF8.self) }
}
