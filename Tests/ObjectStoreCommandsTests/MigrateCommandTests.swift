import CommandLineSupport
import CommandTestSupport
import Foundation
import ObjectStore
import TestSupport
import Testing

@testable import ObjectStoreCommands

/// The command `migrate`.
struct MigrateCommandTests {
  private let folder: TemporaryFolder
  let store: String

  init() throws {
    folder = try TemporaryFolder()
    store = folder.path("store")
  }

  private static let steps = """
    {"steps": [
      {"version": 2, "summary": "call notes memos", "operations": [
        {"renameModel": "Note", "to": "Memo"},
        {"renameField": "text", "of": "Memo", "to": "body"}
      ]},
      {"version": 3, "summary": "forget ranks", "operations": [
        {"removeField": "rank", "of": "Memo"}
      ]}
    ]}
    """

  private func makeNotes(_ count: Int = 3) throws {
    try Store(at: store, models: [SampleNote.self]).write { tx in
      for id in 1...count { try tx.insert(SampleNote(id: id, text: "note \(id)", rank: id)) }
    }
  }

  private func stepsFile(_ text: String = steps) throws -> String {
    let path = folder.path("steps.json")
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  private func migrate(_ arguments: String...) async -> CommandResult {
    await objectstore([store, "migrate"] + arguments)
  }

  private func json(_ arguments: String...) async throws -> [String: Any] {
    let result = await objectstore([store, "migrate", "--json"] + arguments)
    let data = Data(result.output.utf8)
    return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  private func memos() async -> [String] {
    let words = [store, "query", "Memo", "--format", "csv"]
    return await objectstore(words).lines
  }

  @Test func `steps in a file rename and remove models and fields`() async throws {
    try makeNotes()
    let result = await migrate("--steps", try stepsFile())
    #expect(result.status == .done)
    #expect(result.output.hasPrefix("migrated from version 1 to 3; the previous file is "))
    let memos = await memos()
    #expect(memos == ["id,body", #"1,"note 1""#, #"2,"note 2""#, #"3,"note 3""#])
    let again = await migrate("--steps", try stepsFile())
    #expect(again.status == .done && again.output == "version 3: nothing to migrate\n")
    #expect(await objectstore(store, "verify").status == .done)
  }

  @Test func `check lists the steps that are needed`() async throws {
    try makeNotes()
    let file = try stepsFile()
    let before = await migrate("--check", "--steps", file)
    #expect(before.status == .failed)
    #expect(
      before.lines == [
        "version 1, target 3", "needs step 2: call notes memos", "needs step 3: forget ranks",
      ]
    )
    #expect(await migrate("--steps", file).status == .done)
    let after = await migrate("--check", "--steps", file)
    #expect(after.status == .done && after.lines == ["version 3, target 3"])
    let older = try stepsFile(#"{"steps": [{"version": 2, "summary": "x", "operations": []}]}"#)
    #expect(await migrate("--check", "--steps", older).status == .damaged)
    #expect(await migrate("--steps", older).status == .damaged)
  }

  @Test func `a dry run changes nothing`() async throws {
    try makeNotes()
    let file = try stepsFile()
    let before = try Data(contentsOf: URL(filePath: store + "/data.mdb"))
    let text = await migrate("--dry-run", "--steps", file)
    #expect(text.status == .done)
    #expect(text.output.hasPrefix("version 1 to 3: 3 objects, 0 would fail; "))
    let report = try await json("--dry-run", "--steps", file)
    #expect(report["objects"] as? Int == 3 && report["failed"] as? Int == 0)
    #expect((report["steps"] as? [String])?.count == 2)
    #expect(try Data(contentsOf: URL(filePath: store + "/data.mdb")) == before)
  }

  @Test func `a rollback restores the store and says what is lost`() async throws {
    try makeNotes()
    let refused = await migrate("--rollback")
    #expect(refused.status == .notFound)
    #expect(!refused.messages.isEmpty && !refused.messages.contains("no store"))
    #expect(await migrate("--steps", try stepsFile()).status == .done)
    let status = try await json()
    #expect(status["version"] as? Int == 3 && status["previousVersion"] as? Int == 1)
    #expect((status["previousFile"] as? String)?.hasSuffix("data.mdb.before-1") == true)
    #expect(await migrate().lines.count == 3)
    try writeNote()
    let result = await migrate("--rollback")
    #expect(result.status == .done)
    #expect(result.lines[0] == "rolled back to version 1")
    #expect(result.lines[1] == "not in it: Note: 1 inserted, 0 updated, 0 deleted since")
    #expect(try countNotes() == 3)
  }

  private func writeNote() throws {
    let options = StoreOptions(schemaVersion: 3)
    try Store(at: store, models: [SampleNote.self], options: options)
      .write { try $0.insert(SampleNote(id: 9)) }
  }

  private func countNotes() throws -> Int {
    try Store(at: store, models: [SampleNote.self]).read { try $0.count(SampleNote.all) }
  }

  @Test func `without a copy there is no rollback`() async throws {
    try makeNotes()
    #expect(await migrate("--no-copy", "--steps", try stepsFile()).status == .done)
    #expect(await migrate("--rollback").status == .notFound)
  }

  @Test(
    arguments: [
      "", "{}", "[1]", #"{"steps": []}"#,
      #"{"steps": [{"version": 0, "summary": "x", "operations": []}]}"#,
      #"{"steps": [{"version": 2, "summary": "x", "operations": [{"renameModel": "A"}]}]}"#,
      #"{"steps": [{"version": 2, "summary": "", "operations": [{"removeModel": "A", "of": "B"}]}]}"#,
      #"{"steps": [{"version": 2, "summary": "x", "operations": [{"removeModel": ""}]}]}"#,
      #"{"steps": [{"version": 2, "summary": "x", "operations": [{"to": "A"}]}]}"#,
    ]
  )
  func `a malformed file of steps is refused`(text: String) async throws {
    try makeNotes()
    #expect(await migrate("--steps", try stepsFile(text)).status == .damaged)
    #expect(try Store.migrationStatus(at: store).version == 1)
  }

  private static let wholeNumber = "is not a whole number from 1 to 4294967295"

  @Test(
    arguments: [
      (#"[{"version": 4294967296, "summary": "x", "operations": []}]"#, wholeNumber),
      (#"[{"version": 1.5, "summary": "x", "operations": []}]"#, wholeNumber),
      (#"[{"version": -1, "summary": "x", "operations": []}]"#, wholeNumber),
      (#"[{"version": 0, "summary": "x", "operations": []}]"#, wholeNumber),
      (#"[{"version": "2", "summary": "x", "operations": []}]"#, "is not a number"),
      (#"[{"version": 2, "operations": []}]"#, "has no 'summary'"),
      (#"[{"version": 2, "summary": "x", "operations": {}}]"#, "is not an array"),
      (#"[{"version": 2, "summary": "x", "operations": [7]}]"#, "is not an object"),
      (#"[]"#, "has no steps"),
      (#"[{]"#, "is not valid JSON"),
      (
        #"""
        [{"version": 3, "summary": "x", "operations": []},
        {"version": 3, "summary": "y", "operations": []}]
        """#, "must ascend"
      ),
    ]
  )
  func `what is wrong with a file of steps is said in words`(
    steps: String,
    reason: String
  ) async throws {
    try makeNotes()
    let result = await migrate("--steps", try stepsFile(#"{"steps": \#(steps)}"#))
    #expect(result.status == .damaged)
    #expect(result.messages.contains(reason), "\(result.messages)")
    #expect(!result.messages.contains("Error") && !result.messages.contains("codingPath"))
  }

  @Test(
    arguments: [
      (#"{"renameField": "text", "of": "Note", "to": "rank"}"#, "whose values it would lose"),
      (#"{"renameField": "id", "of": "Note", "to": "rank"}"#, "whose values it would lose"),
      (#"{"renameModel": "Shelf", "to": "Note"}"#, "whose objects it would merge"),
      (#"{"removeField": "txet", "of": "Note"}"#, "Note has no field txet"),
      (#"{"renameField": "txet", "of": "Note", "to": "body"}"#, "Note has no field txet"),
      (#"{"removeField": "text", "of": "Nota"}"#, "there is no model Nota"),
      (#"{"removeModel": "Shelv"}"#, "there is no model Shelv"),
      (#"{"renameModel": "Nota", "to": "Memo"}"#, "there is no model Nota"),
      (#"{"removeField": "id", "of": "Note"}"#, "it is the primary key"),
      (#"{"renameModel": "Note", "to": "a/b"}"#, "a model's name has"),
      (#"{"renameModel": "Note", "to": "store"}"#, "a model's name has"),
      (#"{"renameModel": "Note", "to": "\#(longName)"}"#, "a model's name has"),
      (#"{"renameField": "text", "of": "Note", "to": "\#(longName)"}"#, "a field's name has"),
      // The second operation refers to a model that the first has removed.
      (
        #"{"removeModel": "Note"}, {"removeField": "text", "of": "Note"}"#,
        "there is no model Note"
      ),
    ]
  )
  func `a step that does not fit the store is refused before it changes anything`(
    operations: String,
    reason: String
  ) async throws {
    let models: [any Model.Type] = [SampleNote.self, SampleShelf.self]
    try await Store(at: store, models: models).write { tx in
      try tx.insert(SampleNote(id: 1, text: "one", rank: 7))
      try tx.insert(SampleShelf(50, "shelf"))
    }
    let before = try Data(contentsOf: URL(filePath: store + "/data.mdb"))
    let file = try stepsFile(
      #"{"steps": [{"version": 2, "summary": "tidy up", "operations": [\#(operations)]}]}"#
    )
    for options in [["--check"], ["--dry-run"], []] {
      let result = await objectstore([store, "migrate"] + options + ["--steps", file])
      #expect(result.status == .damaged)
      #expect(result.output == "")
      #expect(result.messages.contains("step 2 (tidy up) cannot "))
      #expect(result.messages.contains(reason))
    }
    #expect(try Data(contentsOf: URL(filePath: store + "/data.mdb")) == before)
    let files = try FileManager.default.contentsOfDirectory(atPath: store).sorted()
    #expect(files == ["changes", "data.mdb", "lock.mdb"])
  }

  @Test func `steps in a file are refused while objects wait for a step of the program`()
    async throws
  {
    try makeNotes()
    // The second version of the program has converted no object yet.
    _ = try openProgram()
    let before = try Data(contentsOf: URL(filePath: store + "/data.mdb"))
    let file = try stepsFile(
      """
      {"steps": [{"version": 3, "summary": "forget ranks", "operations": [
        {"removeField": "rank", "of": "Note"}
      ]}]}
      """
    )
    for options in [["--check"], ["--dry-run"], []] {
      let result = await objectstore([store, "migrate"] + options + ["--steps", file])
      #expect(result.status == .failed && result.output == "")
      #expect(result.messages.contains("objects of Note are converted when they are read"))
    }
    #expect(try Data(contentsOf: URL(filePath: store + "/data.mdb")) == before)
    #expect(try programText(2) == "NOTE 2")
    try openProgram().finishConversions()
    #expect(await migrate("--steps", file).status == .done)
    let lines = await objectstore([store, "query", "Note", "--format", "csv"]).lines
    #expect(lines == ["id,text", #"1,"NOTE 1""#, #"2,"NOTE 2""#, #"3,"NOTE 3""#])
  }

  private func programText(_ id: Int) throws -> String? {
    try openProgram().read { try $0.find(SampleNote.self, key: id)?.text }
  }

  /// Opens the store with the second version of its program.
  private func openProgram() throws -> Store {
    let step = MigrationStep(
      "write in capitals",
      to: 2,
      mode: .whenRead,
      [
        .change("Note", fields: ["text"]) { old, new in
          new.set("text", to: try old.value("text", as: String.self).uppercased())
        }
      ]
    )
    var options = StoreOptions(schemaVersion: 2, migration: Migration(steps: [step]))
    options.migration?.convertsInBackground = false
    return try Store(at: store, models: [SampleNote.self], options: options)
  }

  @Test func `a rename to the previous name of another field is refused`() async throws {
    try await Store(at: store, models: [RenamedNote.self])
      .write { try $0.insert(RenamedNote(id: 1)) }
    let file = try stepsFile(
      """
      {"steps": [{"version": 2, "summary": "tidy up", "operations": [
        {"renameField": "title", "of": "Note", "to": "text"}
      ]}]}
      """
    )
    for options in [["--check"], ["--dry-run"], []] {
      let result = await objectstore([store, "migrate"] + options + ["--steps", file])
      #expect(result.status == .damaged)
      #expect(result.messages.contains("Note.body has the id of the name text"))
    }
    #expect(try Store.migrationStatus(at: store).version == 1)
  }

  @Test func `a rename of a model to its own name keeps its objects`() async throws {
    try makeNotes()
    let file = try stepsFile(
      """
      {"steps": [{"version": 2, "summary": "stay", "operations": [
        {"renameModel": "Note", "to": "Note"}
      ]}]}
      """
    )
    #expect(await migrate("--check", "--steps", file).status == .failed)
    #expect(await migrate("--steps", file).status == .done)
    #expect(await objectstore([store, "query", "Note", "--format", "csv"]).lines.count == 4)
    #expect(await objectstore(store, "verify").status == .done)
  }

  private static let longName = String(repeating: "x", count: 101)

  @Test func `a name that an operation has freed can be used by the next one`() async throws {
    try makeNotes()
    let file = try stepsFile(
      """
      {"steps": [{"version": 2, "summary": "swap", "operations": [
        {"renameField": "rank", "of": "Note", "to": "old"},
        {"renameField": "text", "of": "Note", "to": "rank"},
        {"renameField": "old", "of": "Note", "to": "text"}
      ]}]}
      """
    )
    #expect(await migrate("--steps", file).status == .done)
    let lines = await objectstore([store, "query", "Note", "--format", "jsonl"]).lines
    #expect(lines.count == 3)
    #expect(lines[0].contains(#""rank":"note 1""#) && lines[0].contains(#""text":1"#))
    #expect(await objectstore(store, "verify").status == .done)
  }

  @Test func `a missing file of steps and options that exclude each other are refused`()
    async throws
  {
    try makeNotes()
    #expect(await migrate("--steps", folder.path("none")).status == .notFound)
    #expect(await migrate("--dry-run", "--rollback", "--steps", "x").status == .usage)
    #expect(await migrate("--rollback", "--steps", "x").status == .usage)
    #expect(await migrate("--dry-run").status == .usage)
    #expect(await migrate("--no-copy").status == .usage)
  }

  @Test func `programs that start at the same time migrate a store once`() async throws {
    try makeNotes(5_000)
    let (file, store) = (try stepsFile(), store)
    let messages = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<5 {
        group.addTask {
          let result = try await BuiltProcess.run(store, "migrate", "--steps", file)
          return result.status == 0 ? "" : result.messages
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(messages == ["", "", "", "", ""])
    #expect(await memos().count == 5_001)
    #expect(await objectstore(store, "verify").status == .done)
  }

  @Test func `a store that another process has open is not migrated`() async throws {
    try makeNotes()
    let file = try stepsFile()
    let open = try Store(at: store, models: [SampleNote.self])
    let result = try await BuiltProcess.run(store, "migrate", "--steps", file)
    #expect(result.status == 1 && result.messages.contains("end that program first"))
    let rehearsal = try await BuiltProcess.run(store, "migrate", "--dry-run", "--steps", file)
    #expect(rehearsal.status == 0)
    #expect(!open.isReadOnly)
  }
}

/// A note whose body was called `text` before.
private struct RenamedNote: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Note",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("body", String.self, id: FieldSchema.id(forName: "text")),
      FieldSchema("title", String.self),
    ]
  )

  var id: Int
  var primaryKey: Int { id }

  init(id: Int) { self.id = id }

  init(from record: borrowing RecordView) throws(RecordError) { id = try record.value(at: 0) }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode("a body")
    record.encode("a title")
  }
}
