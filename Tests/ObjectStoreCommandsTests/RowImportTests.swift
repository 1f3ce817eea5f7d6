import CommandTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import CommandLineSupport
@testable import ObjectStoreCommands

/// `import` of JSON and CSV into a model.
struct RowImportTests {
  let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
    try Store(at: store, models: [SampleNote.self, SampleVisit.self]).write { tx in
      try tx.insert(SampleNote(id: 1, text: "one", rank: 7))
    }
  }

  func notes() throws -> [SampleNote] {
    try Store(at: store, models: [SampleNote.self, SampleVisit.self]).read { tx in
      try tx.fetch(Query<SampleNote>())
    }
  }

  func visit(_ key: String) throws -> SampleVisit? {
    try Store(at: store, models: [SampleNote.self, SampleVisit.self]).read { tx in
      try tx.find(SampleVisit.self, key: key)
    }
  }

  /// Imports a file with the text.
  func load(
    _ text: String,
    _ format: ImportCommand.Format = .csv,
    into model: String = "Note",
    _ options: String...
  ) async throws -> CommandResult {
    let file = try folder.makeFile("rows", text)
    return await objectstore(
      [store, "import", "--format", "\(format)", "--model", model] + options + [file]
    )
  }

  /// Checks that an import fails and leaves the store as it was.
  func expectFailure(
    _ status: CommandLineSupport.ExitStatus,
    _ message: String,
    _ import: () async throws -> CommandResult,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let before = await objectstore(store, "export")
    let result = try await `import`()
    #expect(result.status == status, "\(result)", sourceLocation: sourceLocation)
    #expect(result.messages.contains(message), "\(result.messages)", sourceLocation: sourceLocation)
    #expect(result.output.isEmpty, sourceLocation: sourceLocation)
    #expect(await objectstore(store, "export") == before, sourceLocation: sourceLocation)
  }

  // MARK: Values

  @Test func `each row of CSV becomes an object`() async throws {
    let result = try await load("id,text,rank\r\n2,two,\r\n3,\"a \"\"b\"\",\nc\",-4\r\n")
    #expect(result == CommandResult(status: .done, output: "objects: 2 added\n", messages: ""))
    let expected = [
      SampleNote(id: 1, text: "one", rank: 7), SampleNote(id: 2, text: "two"),
      SampleNote(id: 3, text: "a \"b\",\nc", rank: -4),
    ]
    #expect(try notes() == expected)
    #expect(try Store(at: store, models: [SampleNote.self]).verify().isValid)
  }

  @Test(arguments: [
    "[{\"id\":2,\"text\":\"two\",\"rank\":null},\n{\"id\":3,\"text\":\"three\",\"rank\":9}]\n",
    "{\"id\":2,\"text\":\"two\"}\n{\"rank\":\"9\",\"text\":\"three\",\"id\":3}\n",
    "\u{FEFF}[\n  {\n    \"id\": 2, \"text\": \"two\"}, {\"id\":3,\"text\":\"three\",\"rank\":9}\n]",
  ])
  func `each object of JSON becomes an object`(text: String) async throws {
    #expect(try await load(text, .json).output == "objects: 2 added\n")
    let expected = [SampleNote(id: 2, text: "two"), SampleNote(id: 3, text: "three", rank: 9)]
    #expect(try notes().dropFirst().elementsEqual(expected))
  }

  @Test func `every kind of value is read`() async throws {
    var visit = SampleVisit("a", 7)
    visit.at = Date(timeIntervalSince1970: 1_769_846_400.25)
    visit.length = 1.5
    visit.isDone = true
    visit.photo = Data([0xCA, 0xFE])
    visit.remark = ""
    visit.tags = ["x", "y"]
    visit.note = Reference(1)
    let header = "key,number,at,length,isDone,photo,remark,tags,note\n"
    let rows = [
      "a,7,2026-01-31T08:00:00.25Z,1.5,t,yv4=,\"\",\"[\"\"x\"\",\"\"y\"\"]\",1\n",
      "b,8,2026-01-31 09:00:00.25+01,15e-1,1,\\xcafe,\"\",\"[\"\"y\"\",\"\"x\"\"]\",1\n",
      "c,9,,,,,,,\n",
    ]
    let result = try await load(header + rows.joined(), into: "Visit")
    #expect(result.output == "objects: 3 added\n", "\(result)")
    #expect(try self.visit("a") == visit)
    (visit.key, visit.number) = ("b", 8)
    #expect(try self.visit("b") == visit)
    #expect(try self.visit("c") == SampleVisit("c", 9))

    let json = """
      [{"key":"d","number":10,"at":1769846400.25,"length":1.5,"isDone":1,"photo":"x'CAFE'",
        "remark":"","tags":["x","y"],"note":1}]
      """
    _ = try await load(json, .json, into: "Visit", "--numeric-dates", "unix")
    (visit.key, visit.number) = ("d", 10)
    #expect(try self.visit("d") == visit)
  }

  @Test(arguments: [(";", ";"), ("tab", "\t"), ("|", "|")])
  func `cells may have another delimiter`(name: String, delimiter: String) async throws {
    let rows = "id,text,rank\n2,\"a,b\",\n3,c,9\n".split(separator: "\"").enumerated().map {
      $0 == 1 ? "\"\($1)\"" : $1.replacing(",", with: delimiter)
    }
    let result = try await load(rows.joined(), .csv, into: "Note", "--delimiter", name)
    #expect(result.output == "objects: 2 added\n", "\(result)")
    let expected = [SampleNote(id: 2, text: "a,b"), SampleNote(id: 3, text: "c", rank: 9)]
    #expect(try notes().dropFirst().elementsEqual(expected))
  }

  @Test(arguments: [
    (ImportCommand.Format.csv, ";;", "';;' is not a delimiter"), (.csv, "\"", "is not a delimiter"),
    (.json, ";", "--delimiter requires --format csv."),
  ])
  func `a delimiter that cannot be used is a usage error`(
    format: ImportCommand.Format,
    delimiter: String,
    message: String
  ) async throws {
    try await expectFailure(.usage, message) {
      try await load("id;text\n2;b\n", format, into: "Note", "--delimiter", delimiter)
    }
  }

  @Test func `a reference without a target says what to import first`() async throws {
    let text = "key,number,note\na,1,77\n"
    let result = try await load(text, into: "Visit")
    #expect(result.status == .failed)
    let advice = "import the missing objects first, or add them to the file"
    #expect(result.messages.contains("Visit.note refers to Note 77, which does not exist"))
    #expect(result.messages.contains(advice) && !result.messages.contains("danglingReferences"))
    #expect(try visit("a") == nil)
  }

  @Test func `what store query writes is imported`() async throws {
    let queried = await objectstore(store, "query", "Note", "--format", "csv")
    let file = try folder.makeFile("notes.csv", queried.output)
    let arguments = [store, "import", "--model", "Note", "--if-known", "replace"]
    let again = await objectstore(arguments + ["--format", "csv", file])
    #expect(again.output == "objects: 0 added, 1 unchanged\n", "\(again)")
    let lines = await objectstore(store, "query", "Note", "--format", "json")
    let other = try folder.makeFile("notes.json", lines.output)
    let third = await objectstore(arguments + ["--format", "json", other])
    #expect(third.output == "objects: 0 added, 1 unchanged\n", "\(third)")
  }

  @Test(arguments: [
    ("id,text\n2,two\nx,three\n", "line 3, column 'id': 'x' is not a value of Note.id"),
    ("id,text\n2,\"a\nb\"\n3.5,c\n", "line 4, column 'id': '3.5' is not"),
    ("id,text,rank\n2,two,\n3,three,high\n", "a whole number in the range of int64, or nothing"),
    ("id,text\n,two\n", "line 2, column 'id': ''"),
    ("id,text\n2\n", "line 2: the row has 1 cells, but line 1 names 2 columns"),
    ("id,text\n2,two,\n", "line 2: the row has 3 cells"),
    ("id,text\n2,\"two\n", "line 2: a quote is not closed"),
    ("", "the file is empty"), ("id,text,id\n", "column 'id': two columns have this name"),
  ])
  func `a row of CSV that cannot be imported is named by its line`(
    text: String,
    message: String
  ) async throws {
    try await expectFailure(.damaged, message) { try await load(text) }
  }

  @Test(arguments: [
    (
      "[{\"id\":2,\"text\":\"b\"},\n{\"id\":\"x\",\"text\":\"c\"}]", "line 2, object 2, column 'id'"
    ),
    ("{\"id\":2,\"text\":7}", "line 1, object 1, column 'text': '7' is not a value of Note.text"),
    ("{\"id\":2}", "line 1, object 1: no column supplies the field 'text'"),
    ("{\"id\":null,\"text\":\"\"}", "column 'id': 'null'"),
    ("{\"id\":2,\"text\":\"b\"}\n{\"id\":3", "line 2, object 2: the object is not closed"),
    ("{\"id\":2,\"text\":\"b\",\"rnak\":1}", "column 'rnak': Note has no such field. Did you mean"),
  ])
  func `an object of JSON that cannot be imported is named by its line and number`(
    text: String,
    message: String
  ) async throws {
    try await expectFailure(.damaged, message) { try await load(text, .json) }
  }

  @Test func `a number as a date needs an option`() async throws {
    let text = "key,number,at\na,1,1769846400\n"
    try await expectFailure(.damaged, "pass --numeric-dates") {
      try await load(text, into: "Visit")
    }
    _ = try await load(text, into: "Visit", "--numeric-dates", "2001")
    #expect(try visit("a")?.at == Date(timeIntervalSinceReferenceDate: 1_769_846_400))
  }

  // MARK: Known objects

  @Test func `known objects are kept, replaced or refused`() async throws {
    let text = "id,text\n2,two\n1,new\n"
    try await expectFailure(.failed, "line 3: the store has an object of Note with") {
      try await load(text, .csv, into: "Note", "--if-known", "fail")
    }
    try await expectFailure(.failed, "line 1, object 2: the store has") {
      let json = "[{\"id\":2,\"text\":\"a\"},{\"id\":1,\"text\":\"b\"}]"
      return try await load(json, .json, into: "Note", "--if-known", "fail")
    }
    let kept = try await load(text)
    #expect(kept.output == "objects: 1 added, 1 already in the store and kept\n")
    #expect(try notes().map(\.text) == ["one", "two"])
    let replaced = try await load(text, .csv, into: "Note", "--if-known", "replace")
    #expect(replaced.output == "objects: 0 added, 1 replaced, 1 unchanged\n")
    // The file has no column for the rank.
    #expect(try notes().first == SampleNote(id: 1, text: "new", rank: 7))
  }

  @Test func `a key that the file has twice is handled as a known one, and named`() async throws {
    let text = "id,text\n2,a\n2,b\n"
    let kept = try await load(text)
    let repeated = "left out because the file has the key before (first: "
    #expect(
      kept.output == "objects: 1 added, 1 \(repeated)line 3 with the key of line 2)\n"
    )
    #expect(try notes().last?.text == "a")
    _ = try await load(text, .csv, into: "Note", "--if-known", "replace")
    #expect(try notes().last?.text == "b")
    try await expectFailure(.failed, "line 3: an object of Note with the same primary key exists") {
      try await load("id,text\n5,a\n5,b\n", .csv, into: "Note", "--if-known", "fail")
    }
    let json = #"[{"id":3,"text":"a"},{"id":1,"text":""},{"id":3,"text":"b"},{"id":3,"text":"c"}]"#
    #expect(
      try await load(json, .json, into: "Note").output
        == "objects: 1 added, 1 already in the store and kept, 2 \(repeated)object 3 with the key of "
        + "object 1)\n"
    )
    #expect(try notes().last?.text == "a")
  }

  @Test func `of an export that has a key twice, the first object is imported`() async throws {
    let text = await objectstore(store, "export").output
    let line = try #require(text.split(separator: "\n").first { $0.contains("\"one\"") })
    let other = line.replacing("\"one\"", with: "\"two\"")
    let file = try folder.makeFile("twice", "\(text)\(other)\n")
    let copy = folder.path("copy")
    let result = await objectstore(copy, "import", file)
    #expect(
      result.output
        == "objects: 1 added, 1 left out because the file has the key before (first: line 3 with the "
        + "key of line 2)\n",
      "\(result.messages)"
    )
    #expect(result.status == .done)
    let stored = await objectstore(copy, "export").output
    #expect(stored.contains("\"one\"") && !stored.contains("\"two\""))
  }

  @Test func `a violated unique index and a missing target of a reference are errors`()
    async throws
  {
    try await expectFailure(.failed, "line 3: ") {
      try await load("key,number\na,1\nb,1\n", into: "Visit")
    }
    try await expectFailure(.failed, "object 2: ") {
      let json = "[{\"key\":\"a\",\"number\":1}, {\"key\":\"b\",\"number\":1}]"
      return try await load(json, .json, into: "Visit")
    }
    try await expectFailure(.failed, "line 3: Visit.note refers to Note 9") {
      try await load("key,number,note\na,1,1\nb,2,9\n", into: "Visit")
    }
  }

  @Test func `an error in the last of many rows leaves the store as it was`() async throws {
    let rows = (2..<5_000).map { "\($0),text \($0),\($0)\n" }.joined()
    try await expectFailure(.damaged, "line 5000, column 'rank'") {
      try await load("id,text,rank\n" + rows + "5000,x,y\n")
    }
    #expect(try await load("id,text,rank\n" + rows).output == "objects: 4998 added\n")
  }

  @Test func `a dry run checks the file and writes nothing`() async throws {
    let text = "id,text\n2,two\n1,new\n"
    let before = await objectstore(store, "export")
    let result = try await load(text, .csv, into: "Note", "--dry-run")
    #expect(result.output == "objects: 1 new, 1 already in the store; nothing was imported\n")
    let twice = try await load("id,text\n2,a\n2,b\n3,c\n", .csv, into: "Note", "--dry-run")
    #expect(
      twice.output == "objects: 2 new, 0 already in the store, 1 with the key of an earlier one of "
        + "the file; nothing was imported\n"
    )
    #expect(await objectstore(store, "export") == before)
    try await expectFailure(.damaged, "line 2") {
      try await load("id,text\nx,two\n", .csv, into: "Note", "--dry-run")
    }
  }

  @Test(arguments: [false, true])
  func `importing many rows into a file with free pages compacts it, unless it is a dry run`(
    isDryRun: Bool
  ) async throws {
    try makeManyNotes()
    let before = try fileSize()
    #expect(before >= BulkChange.minimumFileSize)
    let rows = (1...1_000).map { "\($0),replaced\n" }.joined()
    let file = try folder.makeFile("rows", "id,text\n" + rows)
    let options = isDryRun ? ["--dry-run"] : []
    let result = await objectstore(
      [store, "import", "--format", "csv", "--model", "Note", "--if-known", "replace"] + options
        + [file]
    )
    #expect(result.status == .done, "\(result.messages)")
    #expect(try (fileSize() == before) == isDryRun)
    #expect(try isDryRun || fileSize() < before / 4)
    #expect(try notes().count == (isDryRun ? 500 : 1_000))
  }

  /// Creates a store with the notes 1 to 500, whose file is almost free.
  private func makeManyNotes() throws {
    let text = String(repeating: "n", count: 2_000)
    let store = try Store(at: store, models: [SampleNote.self, SampleVisit.self])
    try store.write { tx in
      _ = try tx.delete(SampleNote.self, key: 1)
      for id in 1...5_000 { try tx.insert(SampleNote(id: id, text: text)) }
    }
    try store.write { tx in
      for id in 501...5_000 { _ = try tx.delete(SampleNote.self, key: id) }
    }
  }

  private func fileSize() throws -> Int64 {
    let attributes = try FileManager.default.attributesOfItem(atPath: store + "/data.mdb")
    return try #require(attributes[.size] as? Int64)
  }
}
