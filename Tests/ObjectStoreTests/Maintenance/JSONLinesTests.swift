import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct JSONLinesTests {
  static func objects(of store: Store) throws -> [String: [StoredObject]] {
    var objects: [String: [StoredObject]] = [:]
    for model in try store.storedModels() {
      try store.forEachStoredObject(of: model.name) { object in
        var object = object
        object.id = 0
        object.fields.sort { $0.id < $1.id }
        objects[model.name, default: []].append(object)
        return true
      }
    }
    return objects
  }

  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  private func cause(_ body: () throws -> Void) -> JSONLinesError? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.cause as? JSONLinesError
    }
  }

  /// Creates a store with records of one model in two schema versions, and a second model.
  private func makeStore(_ path: String) throws -> Store {
    let new = try Store(at: path, models: [NewNote.self, Everything.self])
    try new.write { tx in
      for id in 1...50 {
        try tx.insert(
          NewNote(
            id: id,
            stars: id % 5,
            tags: ["t\(id % 3)"],
            text: "note \(id)",
            size: Int64(id),
            link: id % 2 == 0 ? nil : "link"
          )
        )
      }
      try tx.insert(.full as Everything)
      try tx.insert(Everything(id: .min, ratio: .nan, score: -.infinity, text: "\u{0}\"\n"))
    }
    let old = try Store(at: path, models: [OldNote.self])
    try old.write { tx in
      for id in stride(from: 1, through: 50, by: 7) {
        try tx.update(OldNote.self, key: id) { $0.text = "changed" }
      }
      try tx.insert(OldNote(id: 99, text: "only old fields"))
    }
    return new
  }

  @Test func `importing an export into an empty store restores every object`() throws {
    let folder = try TemporaryFolder()
    let store = try makeStore(folder.path("one"))
    #expect(try store.exportJSONLines(to: folder.path("all.jsonl")) == 53)

    let copy = try Store(at: folder.path("two"), models: [])
    let report = try copy.importJSONLines(from: folder.path("all.jsonl"))
    #expect(report.lines == 54)
    #expect(report.inserted == 53)
    #expect(report.unknownModels == ["Everything", "Note"])
    #expect(try copy.exportJSONLines { _ in } == 53)
    let (before, after) = (try Self.objects(of: store), try Self.objects(of: copy))
    #expect(before["Note"] == after["Note"])
    // Compares descriptions, because NaN does not equal itself.
    for model in ["Everything", "Note"] {
      #expect("\(try #require(before[model]))" == "\(try #require(after[model]))")
    }

    // A program finds its objects and indexes.
    let program = try Store(at: folder.path("two"), models: [NewNote.self, Everything.self])
    try program.read { (tx) throws in
      #expect(try tx.find(Everything.self, key: 7) == .full)
      #expect(try tx.find(Everything.self, key: .min)?.ratio.isNaN == true)
      #expect(try tx.find(NewNote.self, key: 1)?.text == "changed")
      #expect(try tx.find(NewNote.self, key: 1)?.stars == 1)
      #expect(try tx.find(NewNote.self, key: 2)?.link == nil)
    }
    let indexes = try copy.storedModels().first { $0.name == "Note" }?.indexes
    #expect(indexes?.map(\.entryCount).sorted() == [50, 51])
  }

  @Test func `exporting an imported store produces the same lines`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("all.jsonl")
    try makeStore(folder.path("one")).exportJSONLines(to: path)
    let copy = try Store(at: folder.path("two"), models: [])
    try copy.importJSONLines(from: path)
    try copy.exportJSONLines(to: folder.path("again.jsonl"))
    func lines(_ path: String) throws -> [Substring] {
      try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").dropFirst()
        .map { $0 }
    }
    // The order of fields may differ, so lines are compared by their sorted characters.
    let (one, two) = (try lines(path), try lines(folder.path("again.jsonl")))
    #expect(one.count == two.count)
    for (one, two) in zip(one, two) { #expect(one.sorted() == two.sorted()) }
  }

  @Test(arguments: [ImportOptions.ConflictPolicy.replace, .skip, .fail])
  func `an existing object is replaced, skipped or refused`(
    conflict: ImportOptions.ConflictPolicy
  ) throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path("s"), models: [NewNote.self])
    try store.write { tx in
      try tx.insert(NewNote(id: 1, stars: 1, text: "one", link: "here"))
      try tx.insert(NewNote(id: 2, stars: 2, text: "two", link: nil))
    }
    let file = try folder.makeFile(
      "in.jsonl",
      """
      {"model":"Note","fields":{"id":3,"text":"three","stars":3,"tags":[],"size":3,"link":null}}
      {"model":"Note","fields":{"id":1,"text":"ONE"}}
      {"model":"Note","fields":{"id":2,"text":"two"}}
      """
    )
    let options = ImportOptions(conflict: conflict)
    switch conflict {
    case .replace:
      let report = try store.importJSONLines(from: file, options: options)
      #expect(report.inserted == 1 && report.updated == 1 && report.skipped == 0)
      // The line of object 2 has no other value.
      #expect(report.unchanged == 1)
      let again = try store.importJSONLines(from: file, options: options)
      #expect(again.inserted == 0 && again.updated == 0 && again.unchanged == 3)
    case .skip:
      let report = try store.importJSONLines(from: file, options: options)
      #expect(report.inserted == 1 && report.updated == 0 && report.skipped == 2)
    case .fail:
      #expect(code { try store.importJSONLines(from: file, options: options) } == .duplicateKey)
    }
    try store.read { (tx) throws in
      let one = try #require(try tx.find(NewNote.self, key: 1))
      #expect(one.text == (conflict == .replace ? "ONE" : "one"))
      // Fields that the line lacks keep their values.
      #expect(one.stars == 1 && one.link == "here")
      #expect(try tx.contains(NewNote.self, key: 3) == (conflict != .fail))
    }
  }

  @Test func `unknown models and fields are added, refused or left out`() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("all.jsonl")
    try makeStore(folder.path("one")).exportJSONLines(to: path)
    func open(_ name: String) throws -> Store {
      try Store(at: folder.path(name), models: [OldNote.self])
    }
    let refusing = try open("refusing")
    #expect(
      code {
        try refusing.importJSONLines(from: path, options: ImportOptions(unknown: .refuse))
      } == .schemaMismatch
    )
    #expect(try Self.objects(of: refusing) == [:])

    let leaving = try open("leaving")
    let left = try leaving.importJSONLines(from: path, options: ImportOptions(unknown: .ignore))
    #expect(left.unknownModels == ["Everything"])
    #expect(
      Set(left.unknownFields) == ["Note.stars", "Note.tags", "Note.size", "Note.link"]
    )
    #expect(left.ignoredObjects == 2)
    #expect(left.ignoredValues == 4 * 51)
    #expect(left.inserted == 51)
    #expect(try leaving.storedModels().first?.fields.map(\.name) == ["id", "text"])

    let adding = try open("adding")
    let added = try adding.importJSONLines(from: path)
    #expect(Set(added.unknownFields) == Set(left.unknownFields))
    #expect(added.ignoredValues == 0)
    #expect(try adding.read { tx in try tx.find(OldNote.self, key: 2)?.text } == "note 2")
    #expect(
      try Self.objects(of: adding)["Note"]
        == Self.objects(of: try Store(at: folder.path("one"), models: []))["Note"]
    )
  }

  @Test func `importing a field of a different type throws schemaMismatch`() throws {
    let folder = try TemporaryFolder()
    try makeStore(folder.path("one")).exportJSONLines(to: folder.path("all.jsonl"))
    let store = try Store(at: folder.path("two"), models: [OtherNote.self])
    let error = #expect(throws: StoreError.self) {
      try store.importJSONLines(from: folder.path("all.jsonl"))
    }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.contains("import the file into a new store, and migrate that") == true)
  }

  @Test(arguments: [
    ("{", "invalid JSON"), ("[]", "'model' or 'fields' is missing"),
    (#"{"model":"Note"}"#, "'model' or 'fields' is missing"),
    (#"{"model":"None","fields":{}}"#, "unknown model None"),
    (#"{"model":"Note","fields":{"id":1,"other":2}}"#, "no field other"),
    (#"{"model":"Note","fields":{"text":"a"}}"#, "primary key"),
    (#"{"model":"Note","fields":{"id":null,"text":"a"}}"#, "primary key"),
    (#"{"model":"Note","fields":{"id":1.0}}"#, "not a valid int64"),
    (#"{"model":"Note","fields":{"id":9223372036854775808}}"#, "not a valid int64"),
    (#"{"model":"Note","fields":{"id":"1"}}"#, "not a valid int64"),
    (#"{"model":"Note","fields":{"id":1,"text":"\ud800"}}"#, "invalid JSON"),
  ])
  func `an invalid line is reported by number, and earlier batches are stored`(
    line: String,
    reason: String
  ) throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path("s"), models: [OldNote.self])
    let good = (1...5).map { #"{"model":"Note","fields":{"id":\#($0),"text":""}}"# }
    let file = try folder.makeFile("in.jsonl", (good + [line]).joined(separator: "\n"))
    let options = ImportOptions(linesPerTransaction: 2)
    let error = try #require(cause { try store.importJSONLines(from: file, options: options) })
    #expect(error.line == 6)
    #expect(error.storedLines == 4)
    #expect(error.reason.contains(reason))
    #expect(code { try store.importJSONLines(from: file, options: options) } == .invalidInput)
    #expect(try Self.objects(of: store)["Note"]?.count == 4)
  }

  @Test func `a failed export replaces no file and leaves no partial file`() throws {
    let folder = try TemporaryFolder()
    let store = try makeStore(folder.path("one"))
    try folder.makeFile("taken", "mine")
    #expect(code { try store.exportJSONLines(to: folder.path("taken")) } == .alreadyExists)
    #expect(code { try store.exportJSONLines(to: folder.path("no/such/folder")) } == .notFound)
    struct Stop: Error {}
    #expect(throws: Stop.self) { try store.exportJSONLines { _ in throw Stop() } }
    #expect(try folder.names() == ["one", "taken"])
    #expect(try String(contentsOfFile: folder.path("taken"), encoding: .utf8) == "mine")
  }

  @Test func `two fields with the same name keep their values`() throws {
    let folder = try TemporaryFolder()
    let old = try Store(at: folder.path("one"), models: [OldNote.self])
    try old.write { tx in try tx.insert(OldNote(id: 1, text: "a text")) }
    let new = try Store(at: folder.path("one"), models: [NumberedNote.self])
    try new.write { tx in
      try tx.update(NumberedNote.self, key: 1) { $0.text = 5 }
      try tx.insert(NumberedNote(id: 2, text: 6))
    }
    try new.exportJSONLines(to: folder.path("all.jsonl"))
    let copy = try Store(at: folder.path("two"), models: [NumberedNote.self])
    try copy.importJSONLines(from: folder.path("all.jsonl"))
    #expect(try copy.read { tx in try tx.find(NumberedNote.self, key: 1)?.text } == 5)
    let reader = try Store(at: folder.path("two"), models: [OldNote.self])
    #expect(try reader.read { tx in try tx.find(OldNote.self, key: 1)?.text } == "a text")
    #expect(try reader.read { tx in try tx.find(OldNote.self, key: 2)?.text } == "none")
  }

  @Test func `the line reader joins lines that span read buffers`() throws {
    let folder = try TemporaryFolder()
    let lines = (0..<2_000).map { String(repeating: "x", count: $0 % 700) }
    let reader = try LineReader(try folder.makeFile("f", lines.joined(separator: "\n")))
    var found: [Int] = []
    while let line = try reader.next() { found.append(line.count) }
    #expect(found == lines.map(\.count))
  }

  @Test func `a line that is longer than the limit is not read into memory`() throws {
    let folder = try TemporaryFolder()
    let path = try folder.makeFile("f", "ok\n\(String(repeating: "x", count: 11))\nmore\n")
    let reader = try LineReader(path, longestLine: 10)
    #expect(try reader.next()?.count == 2)
    #expect(throws: LineReader.LineTooLong.self) { try reader.next() }
    // A file without an end.
    let zeros = try LineReader("/dev/zero", longestLine: 1 << 20)
    let error = #expect(throws: LineReader.LineTooLong.self) { try zeros.next() }
    #expect(error?.limit == 1 << 20)
  }

  @Test func `a line that is too long ends an import, which names it`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path("store"), models: [NumberedNote.self])
    var session = JSONLinesImport(
      environment: store.environment,
      options: ImportOptions(),
      schemaVersion: store.schemaVersion,
      historyLimit: store.historyLimit,
      didCommit: { _, _ in }
    )
    let path = try folder.makeFile("f", "\n\(String(repeating: "x", count: 11))\n")
    let lines = try LineReader(path, longestLine: 10)
    #expect(cause { try session.add(lines) }?.line == 2)
  }
}

/// A model with an integer field named `text`, which is a string in the other models.
struct NumberedNote: Note {
  static let schema = noteSchema(FieldSchema("text", Int.self, id: 5, default: 0))
  var id: Int
  var text: Int

  init(id: Int, text: Int) {
    self.id = id
    self.text = text
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    text = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(text)
  }
}
