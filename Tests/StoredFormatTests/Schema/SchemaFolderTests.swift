import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import MigrationTesting

/// The files of a schema: the lock, the chain of releases, and their faults.
@Suite struct SchemaFolderTests {
  private let temporary: TemporaryFolder
  private let folder: SchemaFolder

  init() throws {
    temporary = try TemporaryFolder()
    folder = SchemaFolder(temporary.path("Migrations"))
  }

  private func schema(
    version: UInt32 = 1,
    _ fields: FieldSchema...
  ) -> SchemaDescription {
    let fields = [FieldSchema("id", String.self, isPrimaryKey: true)] + fields
    return SchemaDescription(of: [ModelSchema(name: "Note", fields: fields)], version: version)
  }

  private let text = FieldSchema("text", String.self)
  private let mood = FieldSchema("mood", String.self, isOptional: true)

  private func problems(_ schema: SchemaDescription) throws -> [String] {
    try folder.check(schema).problems
  }

  private func digests() throws -> String {
    try String(contentsOfFile: folder.path + "/Schemas/released.sha256", encoding: .utf8)
  }

  private func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: folder.path + "/" + name))
  }

  @Test func `the files describe the models until these change`() throws {
    let old = schema(text)
    #expect(
      try problems(old) == [
        "there is no file \(folder.lockPath): run 'accept', or name the folder that has it"
      ]
    )
    try folder.accept(old)
    #expect(try problems(old).isEmpty)
    #expect(
      try problems(schema(text, mood))
        == ["the lock file does not describe the models: accept the change"]
    )
    #expect(try folder.accept(schema(text, mood)).changes.isEmpty)
    #expect(try problems(schema(text, mood)).isEmpty)
  }

  @Test func `every part of a schema survives a file`() throws {
    let fields = [
      FieldSchema("id", String.self, isPrimaryKey: true),
      FieldSchema("stars", Int.self, id: 7, default: 0, isIndexed: true, isColumnar: true),
      FieldSchema("note", Reference<Note>.self, isOptional: true, onDelete: .cascade),
      FieldSchema("mood", String.self, isOptional: true, isUnique: true, isHot: true),
    ]
    let models = [
      ModelSchema(name: "Card", fields: fields, indexes: [IndexSchema(on: "stars", "mood")]),
      ModelSchema(name: "Page", fields: [fields[0]], layout: .byKey),
    ]
    let schema = SchemaDescription(of: models, version: 5)
    try folder.accept(schema)
    #expect(try problems(schema).isEmpty)
    #expect(try folder.release(schema) == 1)
    #expect(try folder.releases() == [SchemaRelease(previous: nil, schema: schema)])
  }

  @Test func `releases form a chain, and one without a change is none`() throws {
    for (number, schema) in [schema(text), schema(text, mood)].enumerated() {
      try folder.accept(schema)
      #expect(try folder.release(schema) == number + 1)
      #expect(try folder.release(schema) == number + 1)
      #expect(try problems(schema).isEmpty)
    }
    let releases = try folder.releases()
    #expect(releases.map { $0.previous == nil } == [true, false])
    #expect(try digests().split(separator: "\n").count == 2)
    #expect(try digests().hasPrefix(releases[1].previous ?? "?"))
  }

  @Test func `a release must be accepted before`() throws {
    #expect(throws: SchemaError.self) { try folder.release(schema(text)) }
    #expect(try folder.releases().isEmpty)
  }

  @Test func `a changed release is found`() throws {
    let first = schema(text)
    try folder.accept(first)
    _ = try folder.release(first)
    let bytes = try String(contentsOfFile: folder.releasePath(1), encoding: .utf8)
    try write(bytes + " ", to: "Schemas/0001.json")
    #expect(try problems(first) == ["0001.json is not the file that was released: restore it"])
    #expect(throws: SchemaError.self) { try folder.accept(schema(text, mood)) }
    try FileManager.default.removeItem(atPath: folder.releasePath(1))
    #expect(try problems(first).contains("the release 0001.json is missing: restore it"))
  }

  @Test func `two branches that released the same number are found`() throws {
    let first = schema(text)
    try folder.accept(first)
    _ = try folder.release(first)
    let before = try digests()
    try folder.accept(schema(text, mood))
    _ = try folder.release(schema(text, mood))
    let (theirs, lines) = (
      try String(contentsOfFile: folder.releasePath(2), encoding: .utf8), try digests()
    )
    // The other branch starts from the first release, and adds another field.
    try FileManager.default.removeItem(atPath: folder.releasePath(2))
    try write(before, to: "Schemas/released.sha256")
    let other = schema(text, FieldSchema("rank", Int.self, isOptional: true))
    try folder.accept(other)
    _ = try folder.release(other)
    let ours = try digests()
    // A merge that keeps both lines.
    try write(lines + ours.split(separator: "\n")[1] + "\n", to: "Schemas/released.sha256")
    #expect(try problems(other) == ["0002.json has two digests: two branches released number 2"])
    // A merge that keeps their file under a release of ours that continues another one.
    try write(ours, to: "Schemas/released.sha256")
    try folder.accept(schema(text, mood, FieldSchema("rank", Int.self, isOptional: true)))
    _ = try folder.release(schema(text, mood, FieldSchema("rank", Int.self, isOptional: true)))
    try write(theirs, to: "Schemas/0002.json")
    #expect(
      try problems(other).contains(
        "0003.json continues another release than number 2: two branches released it"
      )
    )
  }

  // MARK: Retired ids

  @Test func `the id of a dropped field is retired once it was released`() throws {
    let first = schema(text)
    try folder.accept(schema(text, mood))
    // It was never released.
    try folder.accept(first)
    _ = try folder.release(first)
    let later = schema(mood)
    #expect(throws: SchemaError.self) { try folder.accept(later) }
    let raised = schema(version: 2, mood)
    let report = try folder.accept(raised)
    #expect(report.verdict == .losesData)
    _ = try folder.release(raised)
    #expect(try folder.releases().last?.schema.retiredIDs(of: "Note") == [text.id])
    let again = schema(version: 2, mood, FieldSchema("text", String.self, isOptional: true))
    #expect(try folder.check(again).changes.map(\.rule) == [.retiredIDReused])
    #expect(throws: SchemaError.self) { try folder.accept(again) }
  }

  @Test func `the name of a dropped model is not used again`() throws {
    let first = schema(text)
    try folder.accept(first)
    _ = try folder.release(first)
    let none = SchemaDescription(of: [any Model.Type](), version: 1)
    try folder.accept(none)
    _ = try folder.release(none)
    #expect(try problems(none).isEmpty)
    let again = try folder.check(schema(mood))
    #expect(again.changes.map(\.rule) == [.retiredIDReused, .modelAdded])
    #expect(again.verdict == .refused)
  }

  @Test func `a change that older programs must not see needs a higher version`() throws {
    let first = schema(text)
    try folder.accept(first)
    _ = try folder.release(first)
    let optional = FieldSchema("text", String.self, isOptional: true)
    #expect(
      try problems(schema(optional)).first
        == "Note.text needs a schema version above 1: "
        + "older programs cannot read an object in which it is nil"
    )
    #expect(try folder.accept(schema(version: 2, optional)).problems.isEmpty)
  }

  // MARK: Files that cannot be read

  @Test(arguments: ["", "[]", "{\"format\": 9, \"version\": 1, \"models\": []}"])
  func `a lock file that cannot be read is an error`(_ text: String) throws {
    try folder.accept(schema())
    try write(text, to: "schema.lock.json")
    #expect(throws: DecodingError.self) { try problems(schema()) }
  }

  // MARK: The tool

  @Test func `the tool checks, accepts and releases`() throws {
    let tool = SchemaCommand(models: [Note.self], version: 1, folder: folder.path)
    #expect(tool.run(["check"]).status == 1)
    #expect(tool.run(["release"]).status == 1)
    #expect(tool.run(["accept"]).status == 0)
    #expect(tool.run(["check"]) == (0, "verdict: safe (there is no release yet)"))
    #expect(tool.run(["release"]) == (0, "release 1"))
    #expect(tool.run(["check"]) == (0, "verdict: safe (since release 1)"))
    for arguments in [[], ["chek"], ["check", "--store"], ["accept", "x"]] {
      #expect(tool.run(arguments).status == 64)
    }
    #expect(tool.run(["--help"]).status == 0)
  }

  @Test func `the tool states the number of objects of a store`() throws {
    let tool = SchemaCommand(models: [Note.self], version: 1, folder: folder.path)
    _ = tool.run(["accept"])
    _ = tool.run(["release"])
    let store = try Store(at: temporary.path("store"), models: [Note.self])
    try store.write { tx in
      for id in ["a", "b"] { try tx.insert(Note(id: id, ["text": "x"])) }
    }
    let later = SchemaCommand(models: [IndexedNote.self], version: 1, folder: folder.path)
    let (status, output) = later.run(["check", "--store", temporary.path("store")])
    #expect(status == 1)
    #expect(output.contains("Note(text): rebuilds: new programs build the index of 2 objects"))
    #expect(later.run(["check", "--store", temporary.path("none")]).status == 1)
  }

  @Test func `the path of a store may follow an equals sign`() throws {
    let tool = SchemaCommand(models: [Note.self], version: 1, folder: folder.path)
    _ = tool.run(["accept"])
    _ = try Store(at: temporary.path("store"), models: [Note.self])
    #expect(tool.run(["check", "--store=" + temporary.path("store")]).status == 0)
    #expect(tool.run(["check", "--store=" + temporary.path("none")]).status == 1)
    for options in [["--store="], ["--store", ""], ["--store=a", "b"], ["--stores=a"]] {
      #expect(tool.run(["check"] + options).status == 64)
    }
  }

  @Test func `a refused change is reported as not accepted`() throws {
    let tool = SchemaCommand(models: [Note.self], version: 2, folder: folder.path)
    _ = tool.run(["accept"])
    _ = tool.run(["release"])
    let before = try Data(contentsOf: URL(filePath: folder.lockPath))
    let lowered = SchemaCommand(models: [Note.self], version: 1, folder: folder.path)
    let (status, output) = lowered.run(["accept"])
    #expect(status == 1)
    #expect(output.hasPrefix("not accepted: \(folder.lockPath) is unchanged\nversion 1: refused: "))
    #expect(try Data(contentsOf: URL(filePath: folder.lockPath)) == before)
  }

  @Test func `one line in a test fails with the reasons`() throws {
    try folder.accept([Note.self], version: 1)
    try folder.require([Note.self], version: 1)
    let error = #expect(throws: SchemaError.self) {
      try folder.require([IndexedNote.self], version: 1)
    }
    #expect("\(try #require(error))".contains("accept the change"))
  }
}
