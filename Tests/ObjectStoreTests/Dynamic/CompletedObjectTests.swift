import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Imported objects that omit fields.
@Suite struct CompletedObjectTests {
  private static let count = 256

  /// The values of the optional fields of a row; bit n of `members` says whether it has field n.
  private func values(_ id: Int, _ members: Int, _ factor: Int64) -> [Int64?] {
    (0..<8).map { members >> $0 & 1 == 1 ? Int64(id) * 10 + factor * Int64($0) : nil }
  }

  /// A line that omits the fields without a value.
  private func line(_ id: Int, _ values: [Int64?], level: Int64? = nil) -> String {
    var fields = ["\"id\":\(id)"]
    for (number, value) in values.enumerated() {
      if let value { fields.append("\"f\(number)\":\(value)") }
    }
    if let level { fields.append("\"level\":\(level)") }
    return "{\"model\":\"Row\",\"fields\":{\(fields.joined(separator: ","))}}"
  }

  private func open(_ folder: TemporaryFolder, isKeyed: Bool) throws -> Store {
    if isKeyed { _ = try Store(at: folder.path("store"), models: [Keyed<SparseRow>.self]) }
    return try Store(at: folder.path("store"), models: [SparseRow.self])
  }

  private func rows(_ store: Store) throws -> [Int: SparseRow] {
    var rows: [Int: SparseRow] = [:]
    for row in try store.read({ tx in try tx.fetch(Query<SparseRow>()) }) { rows[row.id] = row }
    return rows
  }

  private func layoutCount(_ store: Store) throws -> Int? {
    try store.storedModels().first { $0.name == "Row" }?.layoutCount
  }

  @Test(arguments: [false, true])
  func `objects that omit different fields share a layout`(isKeyed: Bool) throws {
    let folder = try TemporaryFolder()
    let store = try open(folder, isKeyed: isKeyed)
    let first = (0..<Self.count).map { values($0, $0, 1) }
    let file = try folder.makeFile(
      "new.jsonl",
      (0..<Self.count).map { line($0, first[$0], level: $0 == 7 ? 9 : nil) }
        .joined(separator: "\n")
    )
    let options = ImportOptions(conflict: .replace)
    #expect(try store.importJSONLines(from: file, options: options).inserted == Self.count)
    #expect(try layoutCount(store) == 1)
    var expected: [Int: SparseRow] = [:]
    for id in 0..<Self.count {
      expected[id] = SparseRow(id: id, values: first[id], level: id == 7 ? 9 : 5)
    }
    #expect(try rows(store) == expected)
    #expect(try store.verify().problems == [])
    let again = try store.importJSONLines(from: file, options: options)
    #expect(again.unchanged == Self.count && again.updated == 0)

    // Other members of the same objects: the omitted ones keep their values.
    let second = (0..<Self.count).map { values($0, $0 * 37 % 256, 3) }
    let changes = try folder.makeFile(
      "changes.jsonl",
      (0..<Self.count).map { line($0, second[$0]) }.joined(separator: "\n")
    )
    let report = try store.importJSONLines(from: changes, options: options)
    #expect(report.inserted == 0 && report.updated + report.unchanged == Self.count)
    for id in 0..<Self.count {
      for (number, value) in second[id].enumerated() {
        if let value { expected[id]?.values[number] = value }
      }
    }
    #expect(try rows(store) == expected)
    #expect(try layoutCount(store) == 1)
    #expect(try store.verify().problems == [])
  }

  @Test func `objects with the fields of an earlier layout are completed, too`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path("store"), models: [OldNote.self])
    try store.write { tx in try tx.insert(OldNote(id: 1, text: "old")) }
    let new = try Store(at: folder.path("store"), models: [NewNote.self])
    let file = try folder.makeFile(
      "in.jsonl",
      """
      {"model":"Note","fields":{"id":1,"stars":4}}
      {"model":"Note","fields":{"id":2,"text":"new","stars":1,"tags":[],"size":2}}
      """
    )
    let report = try new.importJSONLines(from: file, options: ImportOptions(conflict: .replace))
    #expect(report.updated == 1 && report.inserted == 1)
    try new.read { (tx) throws in
      #expect(try tx.find(NewNote.self, key: 2)?.link == "unset")
    }
    let one = try JSONLinesTests.objects(of: new)["Note"]?.first { $0["id"] == .signed(1) }
    #expect(one?["text"] == .string("old") && one?["stars"] == .signed(4))
    #expect(try new.verify().problems == [])
  }

  @Test func `a file with a header adds few layouts`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("in.jsonl")
    try open(folder, isKeyed: false).exportJSONLines(to: path)
    var text = try String(contentsOfFile: path, encoding: .utf8)
    for id in 0..<Self.count { text += line(id, values(id, id, 1)) + "\n" }
    try Data(text.utf8).write(to: URL(filePath: path))
    let copy = try Store(at: folder.path("copy"), models: [])
    #expect(try copy.importJSONLines(from: path).inserted == Self.count)
    let layouts = try #require(try layoutCount(copy))
    #expect(layouts <= 65)
    #expect(try copy.verify().problems == [])
    let objects = try #require(try JSONLinesTests.objects(of: copy)["Row"])
    for object in objects {
      guard case .signed(let id) = object["id"] else { continue }
      for (number, value) in values(Int(id), Int(id), 1).enumerated() {
        let expected: StoredValue = value.map { .signed($0) } ?? .null
        #expect(object["f\(number)"] ?? .null == expected)
      }
    }
  }
}

/// A model with optional fields that are indexed, hot or neither, and a default.
private struct SparseRow: Model, Equatable {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(name: "Row", fields: fields)
  private static var fields: [FieldSchema] {
    var fields = [FieldSchema("id", Int.self, isPrimaryKey: true)]
    for number in 0..<8 {
      fields.append(
        FieldSchema(
          "f\(number)",
          Int64.self,
          isOptional: true,
          isIndexed: number < 2,
          isHot: number == 2 || number == 3
        )
      )
    }
    fields.append(FieldSchema("level", Int64.self, default: 5))
    return fields
  }

  var id: Int
  var values: [Int64?]
  var level: Int64 = 5
  var primaryKey: Int { id }

  init(id: Int, values: [Int64?], level: Int64) {
    (self.id, self.values, self.level) = (id, values, level)
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    values = []
    for position in 1...8 { values.append(try record.optional(at: position)) }
    level = try record.value(at: 9)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    for value in values { record.encode(value) }
    record.encode(level)
  }
}
