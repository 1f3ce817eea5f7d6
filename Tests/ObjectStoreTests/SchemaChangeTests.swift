import Foundation
import LMDB
import SystemInterface
import TestSupport
import Testing

@testable import ObjectStoreCore

/// A version of the model `Note`.
///
/// Versions share the primary key and have different fields.
protocol Note: Model where PrimaryKey == Int, Columns == NoteColumns {
  var id: Int { get }
}

struct NoteColumns: Sendable {}

extension Note {
  static var columns: NoteColumns { NoteColumns() }
  var primaryKey: Int { id }

  static func noteSchema(_ fields: FieldSchema...) -> ModelSchema {
    ModelSchema(name: "Note", fields: [FieldSchema("id", Int.self, isPrimaryKey: true)] + fields)
  }
}

struct OldNote: Note, Equatable {
  static let schema = noteSchema(FieldSchema("text", String.self, default: "none"))
  var id: Int
  var text: String

  init(id: Int, text: String) {
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

/// A version with more fields in another order, two indexes, and `text` as a hot field.
struct NewNote: Note, Equatable {
  static let schema = noteSchema(
    FieldSchema("stars", Int.self, default: 3, isIndexed: true),
    FieldSchema("tags", Set<String>.self, default: [], isIndexed: true),
    FieldSchema("text", String.self, isHot: true),
    FieldSchema("size", Int64.self, default: -1, isHot: true),
    FieldSchema("link", String.self, optionalDefault: "unset")
  )
  var id: Int
  var stars = 0
  var tags: Set<String> = []
  var text: String
  var size: Int64 = 0
  var link: String?

  init(
    id: Int,
    stars: Int = 0,
    tags: Set<String> = [],
    text: String,
    size: Int64 = 0,
    link: String?
  ) {
    self.id = id
    self.stars = stars
    self.tags = tags
    self.text = text
    self.size = size
    self.link = link
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    stars = try record.value(at: 1)
    tags = try record.value(at: 2)
    text = try record.value(at: 3)
    size = try record.value(at: 4)
    link = try record.optional(at: 5)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(stars)
    record.encode(tags)
    record.encode(text)
    record.encode(size)
    record.encode(link)
  }
}

/// A version that renames `text` and lacks the other fields.
struct RenamedNote: Note, Equatable {
  static let schema = noteSchema(
    FieldSchema("body", String.self, id: FieldSchema.id(forName: "text"))
  )
  var id: Int
  var body: String

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    body = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(body)
  }
}

/// A version in which `text` is an integer.
struct OtherNote: Note {
  static let schema = noteSchema(FieldSchema("text", Int.self))
  var id: Int
  var text: Int

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    text = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(text)
  }
}

@Suite struct SchemaChangeTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func open(
    _ model: any Model.Type,
    _ options: StoreOptions = StoreOptions()
  ) throws
    -> Store
  {
    try Store(at: folder.path, models: [model], options: options)
  }

  private let full = NewNote(
    id: 1,
    stars: 5,
    tags: ["a", "b"],
    text: "new",
    size: 1 << 33,
    link: "there"
  )

  @Test func `a record written before a field existed decodes with its default`() throws {
    try open(OldNote.self).write { try $0.insert(OldNote(id: 1, text: "milk")) }
    let note = try open(NewNote.self).read { try $0.find(NewNote.self, key: 1) }
    #expect(note == NewNote(id: 1, stars: 3, tags: [], text: "milk", size: -1, link: "unset"))
  }

  @Test func `unknown fields survive the writes of an older program`() throws {
    try open(NewNote.self).write { try $0.insert(full) }
    try open(OldNote.self).write { _ = try $0.update(OldNote.self, key: 1) { $0.text = "old" } }
    var expected = full
    expected.text = "old"
    #expect(try open(NewNote.self).read { try $0.find(NewNote.self, key: 1) } == expected)
    // Twice more, now with a record that already carries unknown fields.
    try open(OldNote.self).write { _ = try $0.update(OldNote.self, key: 1) { $0.text = "older" } }
    try open(OldNote.self).write { _ = try $0.upsert(OldNote(id: 1, text: "oldest")) }
    expected.text = "oldest"
    #expect(try open(NewNote.self).read { try $0.find(NewNote.self, key: 1) } == expected)
    try open(NewNote.self).write { _ = try $0.update(NewNote.self, key: 1) { $0.link = nil } }
    try open(OldNote.self).write { _ = try $0.update(OldNote.self, key: 1) { $0.text = "last" } }
    expected.link = nil
    expected.text = "last"
    #expect(try open(NewNote.self).read { try $0.find(NewNote.self, key: 1) } == expected)
  }

  @Test func `an older program maintains the indexes of unknown fields`() throws {
    let old = try open(OldNote.self)
    let new = try open(NewNote.self)
    try new.write { try $0.insert(full) }
    try old.write { tx in
      _ = try tx.update(OldNote.self, key: 1) { $0.text = "old" }
      try tx.insert(OldNote(id: 2, text: "also old"))
    }
    let stars = Column<NewNote, Int>(position: 1)
    let tags = Column<NewNote, Set<String>>(position: 2)
    try new.read { tx in
      let five = try tx.fetch(Query(stars == 5)).map(\.id)
      let tagged = try tx.fetch(Query(tags.contains("b"))).map(\.id)
      let plan = try tx.explain(Query(stars == 5))
      #expect(five == [1])
      #expect(tagged == [1])
      #expect(plan.description.hasPrefix("index (stars)"))
    }
    try old.write { _ = try $0.delete(OldNote.self, key: 1) }
    #expect(try new.read { try $0.fetch(Query(stars == 5)) } == [])
  }

  @Test func `an older program does not drop indexes`() throws {
    let new = try open(NewNote.self)
    try new.write { try $0.insert(full) }
    _ = try open(OldNote.self)
    let stars = Column<NewNote, Int>(position: 1)
    try new.read { tx in
      let plan = try tx.explain(Query(stars == 5))
      let five = try tx.fetch(Query(stars == 5)).map(\.id)
      #expect(plan.description.hasPrefix("index (stars)"))
      #expect(five == [1])
    }
  }

  @Test func `a new index is built from the existing records`() throws {
    try open(OldNote.self).write { tx in
      for id in 0..<200 { try tx.insert(OldNote(id: id, text: "\(id)")) }
    }
    let store = try open(IndexedNote.self)
    let text = Column<IndexedNote, String>(position: 1)
    try store.read { tx in
      let plan = try tx.explain(Query(text == "7"))
      let found = try tx.fetch(Query(text.hasPrefix("19"))).map(\.id)
      #expect(plan.description.hasPrefix("index (text)"))
      #expect(found == [19] + Array(190..<200))
    }
  }

  @Test func `an index larger than the map can be built`() throws {
    let small = StoreOptions(mapSize: 1 << 20)
    let long = String(repeating: "k", count: 400)
    do {
      let store = try open(OldNote.self, small)
      for part in 0..<10 {
        try store.write { tx in
          for id in 0..<300 { try tx.insert(OldNote(id: part * 300 + id, text: long + "\(id)")) }
        }
      }
    }
    let store = try open(IndexedNote.self, small)
    let text = Column<IndexedNote, String>(position: 1)
    #expect(try store.read { try $0.count(Query(text == long + "7")) } == 10)
  }

  @Test func `a newer schema version drops indexes that it does not declare`() throws {
    try open(NewNote.self).write { try $0.insert(full) }
    try open(RenamedNote.self, StoreOptions(schemaVersion: 2)).write { tx in
      _ = try tx.update(RenamedNote.self, key: 1) { $0.body = "renamed" }
    }
    let store = try open(NewNote.self, StoreOptions(schemaVersion: 2))
    let stars = Column<NewNote, Int>(position: 1)
    #expect(try store.read { try $0.fetch(Query(stars == 5)).map(\.text) } == ["renamed"])
  }

  @Test func `a renamed field keeps its value`() throws {
    try open(OldNote.self).write { try $0.insert(OldNote(id: 1, text: "milk")) }
    #expect(
      try open(RenamedNote.self).read { try $0.find(RenamedNote.self, key: 1)?.body } == "milk"
    )
  }

  @Test func `changing the type of a field throws schemaMismatch`() throws {
    _ = try open(OldNote.self)
    let error = #expect(throws: StoreError.self) { _ = try open(OtherNote.self) }
    #expect(error?.code == .schemaMismatch)
  }

  @Test func `a store of a later schema version opens read-only`() throws {
    try open(OldNote.self, StoreOptions(schemaVersion: 3)).write {
      try $0.insert(OldNote(id: 1, text: "milk"))
    }
    let store = try open(OldNote.self, StoreOptions(schemaVersion: 2))
    #expect(store.isReadOnly)
    #expect(try store.read { try $0.find(OldNote.self, key: 1)?.text } == "milk")
    let error = #expect(throws: StoreError.self) { try store.write { _ in } }
    #expect(error?.code == .permissionDenied)
  }

  @Test func `a write after another program raised the schema version throws tooNew`() throws {
    let store = try open(OldNote.self, StoreOptions(schemaVersion: 1))
    try store.write { try $0.insert(OldNote(id: 1, text: "milk")) }
    _ = try open(NewNote.self, StoreOptions(schemaVersion: 2))
    let error = #expect(throws: StoreError.self) {
      try store.write { try $0.insert(OldNote(id: 2, text: "eggs")) }
    }
    #expect(error?.code == .tooNew)
    #expect(try store.read { try $0.find(OldNote.self, key: 1)?.text } == "milk")
  }

  @Test(.timeLimit(.minutes(10)))
  func `a writer with an outdated schema does not block a thread that changes the schema`() throws {
    let store = try folder.open(OldNote.self)
    _ = try folder.open(NewNote.self)
    let environment = try Environment.open(folder.path)
    let result = Mutex<Result<Void, any Error>?>(nil)
    let hasEnded = DispatchSemaphore(value: 0)
    try StoreOpening.databaseOpeningLock.withLock { _ in
      Thread.detachNewThread {
        let written = Result { try store.write { try $0.insert(OldNote(id: 1, text: "milk")) } }
        result.withLock { $0 = written }
        hasEnded.signal()
      }
      // The writer finds that its schema is outdated between two of these transactions. It must not
      // keep its own transaction until it has read the schema, which needs the lock.
      for _ in 0..<100 {
        _ = try environment.beginWrite()
        Thread.sleep(forTimeInterval: 0.001)
      }
    }
    hasEnded.wait()
    try result.withLock { $0 }?.get()
    #expect(try store.read { try $0.find(OldNote.self, key: 1)?.text } == "milk")
  }

  @Test func `a model that the store does not have yet reads as empty`() async throws {
    do {
      try await open(OldNote.self).write { try $0.insert(OldNote(id: 1, text: "milk")) }
    }
    let store = try Store(
      at: folder.path,
      models: [OldNote.self, Everything.self],
      options: StoreOptions(access: .readOnly)
    )
    try await store.read { tx in
      let object = try tx.find(Everything.self, key: 1)
      let objects = try tx.fetch(Everything.where { $0.id > 0 })
      let count = try tx.count(Everything.all)
      let note = try tx.find(OldNote.self, key: 1)
      #expect(object == nil && objects.isEmpty && count == 0)
      #expect(note?.text == "milk")
    }
    // Another program adds the model while this store is open.
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let store = try Store(at: path, models: [Everything.self])
      try store.write { try $0.insert(Everything.full) }
    }
    #expect(try await store.read { try $0.find(Everything.self, key: 7) } == .full)
  }

  @Test func `two models whose names are equal, but not in their bytes, cannot be in one store`()
    throws
  {
    _ = try Store(at: folder.path, models: [ComposedName.self])
    let error = #expect(throws: StoreError.self) {
      _ = try Store(at: folder.path, models: [DecomposedName.self])
    }
    #expect(error?.code == .schemaMismatch)
    #expect("\(error as Any)".contains("other Unicode scalars"))
    #expect(try Store(at: folder.path, models: [ComposedName.self]).storedModels().count == 1)
  }
}

/// ``OldNote`` with an index.
struct IndexedNote: Note {
  static let schema = noteSchema(FieldSchema("text", String.self, isIndexed: true))
  var id: Int
  var text: String

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    text = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(text)
  }
}

private struct ComposedName: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Caf\u{E9}",
    fields: [FieldSchema("id", Int64.self, isPrimaryKey: true)]
  )
  var primaryKey: Int64

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) { record.encode(primaryKey) }
}

private struct DecomposedName: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Cafe\u{301}",
    fields: [FieldSchema("id", Int64.self, isPrimaryKey: true)]
  )
  var primaryKey: Int64

  init(from record: borrowing RecordView) throws(RecordError) {
    primaryKey = try record.value(at: 0)
  }

  func encode(to record: inout RecordEncoder) { record.encode(primaryKey) }
}
