import CommandTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import ObjectStoreCommands

// The columns of the file, and the fields of the model.

extension RowImportTests {
  // MARK: Columns

  @Test func `fields are mapped to columns of other names`() async throws {
    let options = ["--map", "id=nr", "--map", "text=label"]
    // A mapped column does not also supply the field of its name.
    try await expectFailure(.damaged, "no column supplies the field 'text'") {
      try await load("id,text\n2,7\n", .csv, into: "Note", "--map", "rank=text")
    }
    let file = try folder.makeFile("mapped.csv", "nr,label\n2,two\n")
    let arguments = [store, "import", "--format", "csv", "--model", "Note"]
    #expect(await objectstore(arguments + options + [file]).status == .done)
    #expect(try notes().last == SampleNote(id: 2, text: "two"))
    let json = try await load(
      "{\"nr\":3,\"a=b\":\"x\",\"more\":[]}",
      .json,
      into: "Note",
      "--map",
      "id=nr",
      "--map",
      "text=a=b",
      "--ignore-columns"
    )
    #expect(json.status == .done, "\(json)")
    #expect(try notes().last == SampleNote(id: 3, text: "x"))
  }

  @Test func `a column that no field takes is an error, unless columns are ignored`() async throws {
    let text = "id,text,color\n2,two,red\n"
    try await expectFailure(.damaged, "line 1, column 'color': Note has no such field") {
      try await load(text)
    }
    #expect(try await load(text, .csv, into: "Note", "--ignore-columns").status == .done)
    #expect(try notes().last == SampleNote(id: 2, text: "two"))
  }

  @Test func `a required field without a column is an error`() async throws {
    try await expectFailure(.damaged, "pass --map text=COLUMN") { try await load("id\n2\n") }
    try await expectFailure(.damaged, "every Note must have") { try await load("text\na\n") }
  }

  @Test func `a field that older objects lack needs no column`() async throws {
    // The model of the program has since got a field with a default value.
    let old = folder.path("old")
    try await Store(at: old, models: [OldNote.self]).write { tx in try tx.insert(OldNote(id: 1)) }
    try await Store(at: old, models: [NewNote.self]).write { tx in try tx.insert(NewNote(id: 2)) }
    let file = try folder.makeFile("rows", "id\n3\n")
    let result = await objectstore(
      old,
      "import",
      "--format",
      "csv",
      "--model",
      "Aged",
      file
    )
    #expect(result.status == .done, "\(result)")
    let levels = try await Store(at: old, models: [NewNote.self]).read { tx in
      try tx.fetch(Query<NewNote>()).map(\.level)
    }
    #expect(levels == [5, 5, 5])
  }

  @Test func `rows of JSON that omit different members share a layout`() async throws {
    let members = [
      "\"at\":\"2026-01-31\"", "\"length\":1.5", "\"isDone\":true", "\"photo\":\"yv4=\"",
      "\"remark\":\"r\"", "\"tags\":[\"x\"]", "\"note\":1",
    ]
    let rows = (0..<128).map { row in
      let chosen = members.enumerated().filter { row >> $0.offset & 1 == 1 }.map(\.element)
      let fields = ["\"key\":\"k\(row)\"", "\"number\":\(row)"] + chosen
      return "{\(fields.joined(separator: ","))}"
    }
    let result = try await load(rows.joined(separator: "\n"), .json, into: "Visit")
    #expect(result.output == "objects: 128 added\n", "\(result)")
    for row in 0..<128 {
      let visit = try #require(try visit("k\(row)"))
      #expect((visit.at != nil) == (row & 1 != 0) && visit.length == (row & 2 != 0 ? 1.5 : nil))
      #expect(visit.isDone == (row & 4 != 0 ? true : nil) && (visit.photo != nil) == (row & 8 != 0))
      #expect(visit.remark == (row & 16 != 0 ? "r" : nil) && (visit.note != nil) == (row & 64 != 0))
    }
    // Each object has the tags, and keeps the rest.
    let tags = (0..<128).map { "{\"key\":\"k\($0)\",\"number\":\($0),\"tags\":[\"y\"]}" }
    let replaced = try await load(
      tags.joined(separator: "\n"),
      .json,
      into: "Visit",
      "--if-known",
      "replace"
    )
    #expect(replaced.output == "objects: 0 added, 128 replaced\n", "\(replaced)")
    let last = try #require(try visit("k127"))
    #expect(last.tags == ["y"] && last.length == 1.5 && last.remark == "r" && last.note != nil)
    let models = try Store(at: store, models: []).storedModels()
    #expect(models.first { $0.name == "Visit" }?.layoutCount == 1)
    #expect(try Store(at: store, models: []).verify().isValid)
  }

  @Test func `options that do not fit the store or the file are usage errors`() async throws {
    func fails(_ message: String, _ options: String...) async throws {
      try await expectFailure(.usage, message) {
        let file = try folder.makeFile("rows", "id,text\n2,two\n")
        return await objectstore([store, "import"] + options + [file])
      }
    }
    try await fails("requires --model", "--format", "csv")
    try await fails("require --format json or csv", "--model", "Note")
    try await fails("require --format json or csv", "--dry-run")
    let csv = ["--format", "csv", "--model", "Note"]
    func failsToMap(_ message: String, _ maps: String...) async throws {
      try await expectFailure(.usage, message) {
        let file = try folder.makeFile("rows", "id,text\n2,two\n")
        let options = maps.flatMap { ["--map", $0] }
        return await objectstore([store, "import"] + csv + options + [file])
      }
    }
    try await failsToMap("Did you mean 'text'?", "txt=text")
    try await failsToMap("write FIELD=COLUMN", "text")
    try await failsToMap("write FIELD=COLUMN", "=text")
    try await failsToMap("twice", "text=text", "text=id")
    try await failsToMap("has no column 'txt', which --map names. Did you mean 'text'?", "rank=txt")
    try await expectFailure(.usage, "has no column 'nothing'") {
      try await load("{\"id\":2,\"text\":\"\"}", .json, into: "Note", "--map", "rank=nothing")
    }
  }

  @Test func `an unknown model or a missing store is an error`() async throws {
    try await expectFailure(.failed, "Did you mean 'Note'? The models are: Note Visit") {
      try await load("id\n", .csv, into: "Notes")
    }
    let missing = folder.path("missing")
    let file = try folder.makeFile("rows", "id,text\n2,two\n")
    let result = await objectstore(
      missing,
      "import",
      "--format",
      "csv",
      "--model",
      "Note",
      file
    )
    #expect(result.status == .notFound)
    #expect(!FileManager.default.fileExists(atPath: missing))
    let noFile = await objectstore(
      store,
      "import",
      "--format",
      "csv",
      "--model",
      "Note",
      folder.path("none")
    )
    #expect(noFile.status == .notFound)
  }
}

/// A model before a field was added.
private struct OldNote: Model {
  static let schema = ModelSchema(
    name: "Aged",
    fields: [FieldSchema("id", Int.self, id: 1, isPrimaryKey: true)]
  )
  struct Columns: Sendable {}
  static let columns = Columns()
  var id: Int
  var primaryKey: Int { id }

  init(id: Int) {
    self.id = id
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
  }
}

/// The same model with a field that has a default value.
private struct NewNote: Model {
  static let schema = ModelSchema(
    name: "Aged",
    fields: [
      FieldSchema("id", Int.self, id: 1, isPrimaryKey: true),
      FieldSchema("level", Int.self, id: 2, default: 5),
    ]
  )
  struct Columns: Sendable {}
  static let columns = Columns()
  var id: Int
  var level = 5
  var primaryKey: Int { id }

  init(id: Int) {
    self.id = id
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    level = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(level)
  }
}
