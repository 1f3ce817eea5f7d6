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

  private func notes() throws -> [SampleNote] {
    try Store(at: store, models: [SampleNote.self, SampleVisit.self]).read { tx in
      try tx.fetch(Query<SampleNote>())
    }
  }

  private func visit(_ key: String) throws -> SampleVisit? {
    try Store(at: store, models: [SampleNote.self, SampleVisit.self]).read { tx in
      try tx.find(SampleVisit.self, key: key)
    }
  }

  /// Imports a file with the text.
  private func load(
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
  private func expectFailure(
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

  @Test func `a key that the file has twice is handled as a known one`() async throws {
    let text = "id,text\n2,a\n2,b\n"
    let kept = try await load(text)
    #expect(kept.output == "objects: 1 added, 1 already in the store and kept\n")
    #expect(try notes().last?.text == "a")
    _ = try await load(text, .csv, into: "Note", "--if-known", "replace")
    #expect(try notes().last?.text == "b")
    try await expectFailure(.failed, "line 3: an object of Note with the same primary key exists") {
      try await load("id,text\n5,a\n5,b\n", .csv, into: "Note", "--if-known", "fail")
    }
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

  // MARK: The built tool

  @Test func `rows are read from standard input`() async throws {
    let command = "objectstore '\(store)' import --model Note --format"
    let csv = try await BuiltProcess.run(
      shell: "printf 'id,text\\n2,two\\n' | \(command) csv -"
    )
    #expect(csv.status == 0 && csv.output == "objects: 1 added\n", "\(csv)")
    let json = try await BuiltProcess.run(
      shell: "printf '[{\"id\":3,\"text\":\"three\"}]' | \(command) json -"
    )
    #expect(json.status == 0 && json.output == "objects: 1 added\n", "\(json)")
    let empty = try await BuiltProcess.run(shell: "\(command) json - </dev/null")
    #expect(empty.status == 0 && empty.output == "objects: 0 added\n", "\(empty)")
    let wrong = try await BuiltProcess.run(
      shell: "printf 'id,text\\n4,four\\nfive,5' | \(command) csv -"
    )
    #expect(wrong.status == 65 && wrong.messages.contains("standard input: line 3"), "\(wrong)")
    #expect(try notes().map(\.id) == [1, 2, 3])
  }

  // MARK: PostgreSQL

  /// What PostgreSQL 15 writes for a table with `bigint`, `text`, `timestamptz`, `double precision`,
  /// `boolean` and `bytea`: with `\copy … CSV HEADER`, and with `json_agg(row)` in `psql -At`.
  private static let postgresFiles = [
    #"""
    key,number,at,length,isDone,photo,remark
    a,1,2026-01-31 08:00:00.25+00,Infinity,t,\xcafe,"say ""hi"", é
    x"
    b,2,,,f,,""
    c,3,,1e+300,,\x,c

    """#,
    #"""
    [{"key":"a","number":1,"at":"2026-01-31T08:00:00.25+00:00","length":"Infinity",\#
    "isDone":true,"photo":"\\xcafe","remark":"say \"hi\", é\nx"},
     {"key":"b","number":2,"at":null,"length":null,"isDone":false,"photo":null,"remark":""},
     {"key":"c","number":3,"at":null,"length":1e+300,"isDone":null,"photo":"\\x","remark":"c"}]

    """#,
  ]

  @Test(arguments: [(ImportCommand.Format.csv, 0), (.json, 1)])
  func `a table that PostgreSQL writes is imported`(
    format: ImportCommand.Format,
    file: Int
  ) async throws {
    let result = try await load(Self.postgresFiles[file], format, into: "Visit")
    #expect(result.output == "objects: 3 added\n", "\(result)")
    var first = SampleVisit("a", 1)
    first.at = Date(timeIntervalSince1970: 1_769_846_400.25)
    first.length = .infinity
    first.isDone = true
    first.photo = Data([0xCA, 0xFE])
    first.remark = "say \"hi\", é\nx"
    var second = SampleVisit("b", 2)
    second.isDone = false
    second.remark = ""
    var third = SampleVisit("c", 3)
    third.length = 1e300
    third.photo = Data()
    third.remark = "c"
    #expect(try ["a", "b", "c"].map(visit) == [first, second, third])
  }

  // MARK: SQLite

  private static let sqlite = "/usr/bin/sqlite3"
  private static var hasSQLite: Bool { FileManager.default.isExecutableFile(atPath: sqlite) }

  private static let table = """
    CREATE TABLE v(name TEXT, nr INT, at TEXT, unix INT, len REAL, done BOOL, photo BLOB, rem TEXT);
    INSERT INTO v VALUES
      ('a', 1, '2026-01-31 08:00:00', 1769846400, 1.5, 1, x'00ff10', 'say "hi", \\ é' || char(10)),
      ('b', 2, NULL, NULL, NULL, NULL, NULL, NULL), ('c', -3, NULL, NULL, 1e300, 0, x'', '');
    """

  /// The visits of the table.
  private var tableVisits: [SampleVisit] {
    var first = SampleVisit("a", 1)
    first.at = Date(timeIntervalSince1970: 1_769_846_400)
    first.length = 1.5
    first.isDone = true
    first.photo = Data([0x00, 0xFF, 0x10])
    first.remark = "say \"hi\", \\ é\n"
    var third = SampleVisit("c", -3)
    third.length = 1e300
    third.isDone = false
    third.photo = Data()
    third.remark = ""
    return [first, SampleVisit("b", 2), third]
  }

  @Test(
    .enabled(if: hasSQLite, "needs sqlite3: make test-deps"),
    arguments: [
      ("-json", "json", "at", "nullif(quote(photo), 'NULL')"),
      ("-csv -header", "csv", "at", "nullif(quote(photo), 'NULL')"),
      ("-json", "json", "unix", "iif(photo IS NULL, NULL, '\\x' || hex(photo))"),
    ]
  )
  func `a table that sqlite3 writes is imported`(
    option: String,
    format: String,
    dates: String,
    photo: String
  ) async throws {
    let script = try folder.makeFile("table.sql", Self.table)
    let query = "SELECT name, nr, \(dates) AS at, len, done, \(photo) AS photo, rem FROM v"
    let result = try await BuiltProcess.run(
      in: folder.path,
      shell: """
        sqlite3 v.db <'\(script)' && sqlite3 \(option) v.db "\(query)" |
        objectstore '\(store)' import --format \(format) --model Visit --numeric-dates unix --map key=name \
        --map number=nr --map length=len --map isDone=done --map remark=rem -
        """
    )
    #expect(result.output == "objects: 3 added\n", "\(result)")
    #expect(try tableVisits.map(\.key).map(visit) == tableVisits)
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
