import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct ExportedReferencesTests {
  let folder: TemporaryFolder
  let store: Store
  let path: String

  /// Exports models whose names sort before and after `City`, to which they refer.
  init() throws {
    folder = try TemporaryFolder()
    path = folder.path("all.jsonl")
    store = try Store(
      at: folder.path("store"),
      models: [Visit<Deny>.self, Visit<Keep>.self, Building.self, City.self]
    )
    try store.write { tx in
      try tx.insert(City("a"))
      try tx.insert(Building(name: "tower", city: Reference("a")))
      try tx.insert(Visit<Deny>(id: 1, one: Reference("a")))
      try tx.insert(Visit<Keep>(id: 1, one: Reference("nowhere")))
    }
    try store.exportJSONLines(to: path)
  }

  private func rules(of store: Store) throws -> Set<ReferenceRule> {
    try store.readStored { transaction, schema in
      Set(try schema.metadata.references(in: transaction))
    }
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  @Test func `referenced objects are exported before the objects that refer to them`() throws {
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
    let models = lines.compactMap { $0.split(separator: "\"").dropFirst(3).first }
    #expect(models == ["City", "Building", "Visit deny", "Visit keep"])
  }

  @Test func `importing into an empty store adds and enforces the reference rules`() throws {
    let copy = try Store(at: folder.path("copy"), models: [])
    #expect(try copy.importJSONLines(from: path).inserted == 4)
    #expect(try rules(of: copy) == rules(of: store))
    #expect(try copy.verify().isValid)

    let dangling = try folder.makeFile(
      "more.jsonl",
      #"{"model":"Building","fields":{"name":"hut","city":"b"}}"#
    )
    #expect(code { try copy.importJSONLines(from: dangling) } == .danglingReference)
    // This program knows none of the models that refer to cities.
    let program = try Store(at: folder.path("copy"), models: [City.self])
    let isRefused = code { try program.write { _ = try $0.delete(City.self, key: "a") } }
    #expect(isRefused == .referenced)
  }

  @Test func `an import keeps the reference rules that the store already has`() throws {
    let other = try Store(at: folder.path("other"), models: [City.self])
    let rule = try #require(rules(of: store).first { $0.model == "Building" })
    try other.importJSONLines(from: path)
    var changed = rule
    changed.onDelete = .cascade
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let edited = try folder.makeFile(
      "edited.jsonl",
      text.replacingOccurrences(of: #""onDelete":"deny""#, with: #""onDelete":"cascade""#)
    )
    #expect(edited != path)
    try other.importJSONLines(from: edited)
    #expect(try rules(of: other) == rules(of: store))
    let fresh = try Store(at: folder.path("fresh"), models: [])
    try fresh.importJSONLines(from: edited)
    #expect(try rules(of: fresh).contains(changed))
  }

  @Test(arguments: [ImportOptions.UnknownFieldPolicy.refuse, .ignore])
  func `reference rules are added only if unknown fields are added`(
    unknown: ImportOptions.UnknownFieldPolicy
  ) throws {
    let plain = try Store(at: folder.path("plain"), models: [PlainBuilding.self, City.self])
    let header = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")[0]
    let models = try #require(header.range(of: #"{"name":"Visit deny""#)?.lowerBound)
    // Removes the models that the store lacks.
    let known = header[..<models].dropLast() + "]}"
    let file = try folder.makeFile(
      "known.jsonl",
      known + "\n" + #"{"model":"Building","fields":{"name":"hut","city":"b"}}"#
    )
    try plain.importJSONLines(from: file, options: ImportOptions(unknown: unknown))
    #expect(try rules(of: plain) == [])
    #expect(code { try plain.importJSONLines(from: file) } == .danglingReference)
    #expect(try rules(of: plain).map(\.model) == ["Building"])
  }

  @Test func `an export of a store with a damaged reference rule can be imported`() throws {
    let environment = store.environment
    var transaction = try environment.beginWrite()
    let table = try transaction.createDatabase("store")
    let rule = ReferenceRule(model: "Building", fieldID: 1, target: "City", onDelete: .deny)
    let key = Array(MetadataKey.reference(rule.model, rule.fieldID).utf8)
    try transaction.put(rule.encoded.span, for: key.span, in: table)
    try transaction.commit()
    let before = try rules(of: store)
    try store.exportJSONLines(to: folder.path("damaged.jsonl"))
    let copy = try Store(at: folder.path("copy"), models: [])
    #expect(try copy.importJSONLines(from: folder.path("damaged.jsonl")).inserted == 4)
    #expect(try rules(of: copy) == before.subtracting([rule]))
  }

  @Test func `an export without reference rules can be imported`() throws {
    let header = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")[0]
    let old = header.replacing(/,"references":\[[^\]]*\]/, with: "")
    #expect(old.count < header.count)
    let copy = try Store(at: folder.path("copy"), models: [])
    try copy.importJSONLines(from: folder.makeFile("old.jsonl", String(old)))
    #expect(try rules(of: copy) == [])
    #expect(try copy.storedModels().map(\.name) == store.storedModels().map(\.name))
  }

  @Test(arguments: [
    (#""target":"City""#, #""target":"Town""#), (#""target":"City""#, #""target":7"#),
    (#""onDelete":"deny""#, #""onDelete":"never""#), (#""onDelete":"deny""#, #""rule":"deny""#),
    // A target whose key type differs from the field's type, and a field that does not exist.
    (#""target":"City""#, #""target":"Visit deny""#), (#"[{"field":"#, #"[{"field":1"#),
    // A reference field without an index.
    (#""indexes":[{"fields""#, #""indexes":[],"other":[{"fields""#),
  ])
  func `invalid reference rules in the header are refused`(
    text: String,
    replacement: String
  ) throws {
    let header = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")[0]
    let wrong = header.replacingOccurrences(of: text, with: replacement)
    #expect(wrong != header)
    let copy = try Store(at: folder.path("copy"), models: [])
    let error = #expect(throws: StoreError.self) {
      try copy.importJSONLines(from: folder.makeFile("wrong.jsonl", wrong))
    }
    #expect(error?.code == .invalidInput)
    #expect((error?.cause as? JSONLinesError)?.line == 1)
    #expect(try copy.storedModels() == [])
  }

  @Test(
    arguments: [
      ([], []), (["a>b", "b>c"], ["c", "b", "a"]), (["c>b", "b>a"], ["a", "b", "c"]),
      (["a>c", "a>b", "b>c"], ["c", "b", "a"]), (["b>b", "a>b"], ["b", "a", "c"]),
      (["a>z", "z>b"], ["a", "b", "c"]), (["a>b", "b>a"], ["b", "a", "c"]),
      (["a>b", "b>c", "c>a"], ["c", "b", "a"]),
    ] as [([String], [String])]
  )
  func `models are sorted with targets first, and reference cycles are allowed`(
    references: [String],
    expected: [String]
  ) {
    let rules = references.map { reference in
      let models = reference.split(separator: ">").map { String($0) }
      return ReferenceRule(model: models[0], fieldID: 1, target: models[1], onDelete: .deny)
    }
    let order = ReferenceRule.targetsFirst(["a", "b", "c"], rules)
    #expect(order == (references.isEmpty ? ["a", "b", "c"] : expected))
  }
}

/// A model that refers to a city and whose name sorts before `City`.
private struct Building: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Building",
    fields: [
      FieldSchema("name", String.self, isPrimaryKey: true),
      FieldSchema("city", Reference<City>.self, onDelete: .deny),
    ]
  )

  var name: String
  var city: Reference<City>
  var primaryKey: String { name }

  init(name: String, city: Reference<City>) {
    self.name = name
    self.city = city
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
    city = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(name)
    record.encode(city)
  }
}

/// The `Building` model of a program that declares the reference as a string.
private struct PlainBuilding: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Building",
    fields: [
      FieldSchema("name", String.self, isPrimaryKey: true), FieldSchema("city", String.self),
    ]
  )

  var name: String
  var city: String
  var primaryKey: String { name }

  init(from record: borrowing RecordView) throws(RecordError) {
    name = try record.value(at: 0)
    city = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(name)
    record.encode(city)
  }
}
