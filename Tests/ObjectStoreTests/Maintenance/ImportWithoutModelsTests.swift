import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Exports and imports of stores by a tool that does not have their models.
struct ImportWithoutModelsTests {
  /// Imports a file as a tool does.
  private func importFile(_ file: String, into store: String) throws -> ImportReport {
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    return try Store.importJSONLines(from: descriptor, named: "in.jsonl", intoStoreAt: store)
  }

  /// Creates a store with records of two schema versions, deleted objects, references and indexes.
  private func makeStore(_ path: String) throws {
    let options = StoreOptions(schemaVersion: 3)
    let new = try Store(at: path, models: [NewNote.self, Everything.self], options: options)
    try new.write { tx in
      for id in 1...50 {
        let link = id % 2 == 0 ? nil : "link"
        try tx.insert(
          NewNote(id: id, stars: id % 5, tags: ["t\(id % 3)"], text: "note \(id)", link: link)
        )
      }
      try tx.insert(.full as Everything)
      try tx.insert(Everything(id: .min, ratio: .nan, score: -.infinity, text: "\u{0}\"\n"))
    }
    let old = try Store(at: path, models: [OldNote.self], options: options)
    try old.write { tx in
      for id in stride(from: 1, through: 50, by: 7) {
        try tx.update(OldNote.self, key: id) { $0.text = "changed" }
      }
      for id in stride(from: 2, through: 40, by: 3) { try tx.delete(OldNote.self, key: id) }
      try tx.insert(OldNote(id: 99, text: "only old fields"))
      try tx.insert(OldNote(id: 100, text: "deleted last"))
      try tx.delete(OldNote.self, key: 99)
    }
  }

  private func export(_ store: String, to file: String) throws -> Data {
    try Store(at: store, models: [], options: StoreOptions(access: .readOnly))
      .exportJSONLines(to: file)
    return try Data(contentsOf: URL(filePath: file))
  }

  /// The first line of a file with a model of `count` fields.
  private func header(
    schemaVersion: String = "0",
    fields count: Int = 1,
    models: [String] = ["M"]
  ) -> String {
    let fields = (1...count).map { id in
      let type = id == 1 ? "int64" : "bool"
      return #"{"name": "f\#(id)", "id": \#(id), "type": "\#(type)", "optional": \#(id > 1), "#
        + #""primaryKey": \#(id == 1)}"#
    }
    let all = models.map { name in
      #"{"name": "\#(name)", "fields": [\#(fields.joined(separator: ","))]}"#
    }
    return #"{"format": "ObjectStore JSON lines", "version": 1, "schemaVersion": "#
      + #"\#(schemaVersion), "models": [\#(all.joined(separator: ","))]}"#
  }

  @Test(arguments: [#""x""#, "-5", "4294967296", "1.5", "null", "[]"])
  func `a schema version that is no version is refused`(version: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.makeFile("in.jsonl", header(schemaVersion: version) + "\n")
    let error = #expect(throws: StoreError.self) {
      try importFile(file, into: folder.path("store"))
    }
    #expect(error?.code == .invalidInput)
    #expect("\(error as Any)".contains("'schemaVersion' is not a whole number from 0"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("store")))
  }

  @Test func `a model that occurs twice is refused`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.makeFile("in.jsonl", header(models: ["M", "N", "M"]) + "\n")
    let error = #expect(throws: StoreError.self) {
      try importFile(file, into: folder.path("store"))
    }
    #expect("\(error as Any)".contains("two models have the same name"))
  }

  /// The names are one Character with the slash before or after them in a key of the metadata.
  @Test(arguments: ["\u{301}M", "\u{200D}M", "M\u{600}"])
  func `a store with a model of any name is read, verified, exported and repaired`(
    name: String
  )
    throws
  {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    let file = try folder.makeFile(
      "in.jsonl",
      """
      {"format":"ObjectStore JSON lines","version":1,"models":[{"name":"\(name)","fields":[\
      {"name":"id","id":1,"type":"int64","primaryKey":true},\
      {"name":"next","id":2,"type":"int64","optional":true}],\
      "indexes":[{"fields":[2]}],\
      "references":[{"field":2,"target":"\(name)","onDelete":"nullify"}]}]}
      {"model":"\(name)","object":1,"fields":{"id":1,"next":1}}

      """
    )
    #expect(try importFile(file, into: store).inserted == 1)
    #expect(try Store.verify(at: store).isValid)
    let models = try Store(at: store, models: []).storedModels()
    #expect(models.map { Array($0.name.utf8) } == [Array(name.utf8)])
    let lines = try export(store, to: folder.path("out.jsonl"))
    #expect(lines.split(separator: 0x0A).count == 2)
    let report = try Store.repair(at: store, into: folder.path("repaired"))
    #expect(report.isComplete)
    #expect(try export(folder.path("repaired"), to: folder.path("again.jsonl")) == lines)
  }

  /// The import of an object would look for a layout without end.
  @Test func `a primary key whose name marks an outdated layout is refused`() throws {
    let folder = try TemporaryFolder()
    let text = header().replacing(#""name": "f1""#, with: #""name": "f1@2""#)
    let file = try folder.makeFile("in.jsonl", text + "\n")
    let error = #expect(throws: StoreError.self) {
      try importFile(file, into: folder.path("store"))
    }
    #expect(error?.code == .invalidInput)
    #expect("\(error as Any)".contains("the primary key contains '@'"))
  }

  @Test func `a model whose name the store has with other scalars is refused`() throws {
    let folder = try TemporaryFolder()
    let store = folder.path("store")
    let first = try folder.makeFile("1.jsonl", header(models: ["Caf\u{E9}"]) + "\n")
    let second = try folder.makeFile("2.jsonl", header(fields: 2, models: ["Cafe\u{301}"]) + "\n")
    _ = try importFile(first, into: store)
    let error = #expect(throws: StoreError.self) { try importFile(second, into: store) }
    #expect(error?.code == .schemaMismatch)
    #expect(try Store(at: store, models: []).storedModels().count == 1)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a header with many fields takes linear time`() throws {
    let folder = try TemporaryFolder()
    let count = 30_000
    let values = (2...count).map { #""f\#($0)": true"# }.joined(separator: ",")
    let object = #"{"model": "M", "object": 1, "fields": {"f1": 1, \#(values)}}"#
    let file = try folder.makeFile("in.jsonl", header(fields: count) + "\n" + object + "\n")
    #expect(try importFile(file, into: folder.path("store")).inserted == 1)
    #expect(try importFile(file, into: folder.path("store")).inserted == 0)
  }

  @Test func `a model with more fields than a layout can have is refused`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.makeFile("in.jsonl", header(fields: 65_536) + "\n")
    let error = #expect(throws: StoreError.self) {
      try importFile(file, into: folder.path("store"))
    }
    #expect("\(error as Any)".contains("more than 65535 fields"))
  }

  @Test func `a store made from an export exports the same bytes`() throws {
    let folder = try TemporaryFolder()
    try makeStore(folder.path("one"))
    let first = try export(folder.path("one"), to: folder.path("1.jsonl"))

    let report = try importFile(folder.path("1.jsonl"), into: folder.path("deep/two"))

    #expect(report.inserted == 40)
    let second = try export(folder.path("deep/two"), to: folder.path("2.jsonl"))
    #expect(first == second)
    // A program opens it with its models.
    let options = StoreOptions(schemaVersion: 3)
    let program = try Store(at: folder.path("deep/two"), models: [NewNote.self], options: options)
    #expect(try program.read { tx in try tx.find(NewNote.self, key: 1)?.text } == "changed")
    #expect(try program.verify().isValid)
  }

  @Test func `an object id that would leave no room for others is not kept`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path("s"), models: [OldNote.self])
    let file = try folder.makeFile(
      "in.jsonl",
      """
      {"model":"Note","object":18446744073709551615,"fields":{"id":1,"text":"a"}}
      {"model":"Note","object":7,"fields":{"id":2,"text":"b"}}
      {"model":"Note","object":3,"fields":{"id":3,"text":"c"}}
      """
    )
    try store.importJSONLines(from: file)
    var ids: [UInt64] = []
    try store.forEachStoredObject(of: "Note") { object in
      ids.append(object.id)
      return true
    }
    #expect(ids == [1, 7, 8])
  }

  @Test(arguments: [
    "", "{}\n", "not JSON\n", #"{"model":"Note","fields":{"id":1}}"#,
    #"{"format":"ObjectStore JSON lines","version":1,"models":[]}"# + "\n{\"model\":\"X\"}\n",
    #"{"format":"ObjectStore JSON lines","version":2,"models":[]}"#,
    #"{"format":"ObjectStore JSON lines","version":1,"models":[{"name":"X","fields":[]}]}"#,
  ])
  func `a failed import creates no store`(text: String) throws {
    let folder = try TemporaryFolder()
    let file = try folder.makeFile("in.jsonl", text)
    let error = #expect(throws: StoreError.self) {
      _ = try importFile(file, into: folder.path("s"))
    }
    #expect(error?.code == .invalidInput)
    #expect(!FileManager.default.fileExists(atPath: folder.path("s")))
  }

  @Test func `an invalid last line is found before the first is written`() throws {
    let folder = try TemporaryFolder()
    try makeStore(folder.path("s"))
    _ = try export(folder.path("s"), to: folder.path("before.jsonl"))
    let lines = (200..<1_500).map { #"{"model":"Note","fields":{"id":\#($0),"text":"x"}}"# }
    let text = (lines + [#"{"model":"Note","fields":{"id":true}}"#]).joined(separator: "\n")
    let file = try folder.makeFile("in.jsonl", text)
    let error = #expect(throws: StoreError.self) {
      _ = try importFile(file, into: folder.path("s"))
    }
    let cause = try #require(error?.cause as? JSONLinesError)
    #expect(cause.line == 1_301)
    #expect(cause.storedLines == 0)
    let after = try export(folder.path("s"), to: folder.path("after.jsonl"))
    #expect(try Data(contentsOf: URL(filePath: folder.path("before.jsonl"))) == after)
  }

  @Test func `a file of another schema version is refused by an existing store`() throws {
    let folder = try TemporaryFolder()
    try makeStore(folder.path("s"))
    let other = try Store(at: folder.path("t"), models: [OldNote.self])
    try other.exportJSONLines(to: folder.path("other.jsonl"))
    let error = #expect(throws: StoreError.self) {
      _ = try importFile(folder.path("other.jsonl"), into: folder.path("s"))
    }
    #expect(error?.code == .schemaMismatch)
  }

  @Test func `an export contains only the objects that the caller includes`() throws {
    let folder = try TemporaryFolder()
    try makeStore(folder.path("s"))
    let store = try Store(at: folder.path("s"), models: [])
    var lines: [String] = []
    let count = try store.exportJSONLines(
      where: { $0.id == 5 },
      { lines.append(String(decoding: $0, as: UTF8.self)) }
    )
    #expect(count == 0)
    #expect(lines.count == 1)
    let other = try store.exportJSONLines(where: { $0.model == "Everything" }, { _ in })
    #expect(other == 2)
  }
}
