import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite(.timeLimit(.minutes(10))) struct KeyedStoreTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  func pages(_ keys: some Sequence<Data>) -> [KeyedPage] {
    keys.enumerated().map { number, key in
      KeyedPage(
        PageContents(key: key, title: "title \(number)", rank: number, tags: ["t\(number % 3)"])
      )
    }
  }

  /// Creates a store in which some hashes of keys collide.
  func makeStore(_ name: String = "store") throws -> (store: Store, pages: [KeyedPage]) {
    let store = try Store(at: folder.path(name), models: [KeyedPage.self])
    let pages = pages(CollidingKeys(seed: store.seed).sample)
    try store.write { tx in try tx.insert(contentsOf: pages) }
    return (store, pages)
  }

  func keysByID(_ store: Store) throws -> [UInt64: Data] {
    var keys: [UInt64: Data] = [:]
    try store.forEachStoredObject(of: "Page") { object in
      if case .data(let key)? = object["key"] { keys[object.id] = Data(key) }
      return true
    }
    return keys
  }

  func value(_ path: String, _ key: String) throws -> [UInt8] {
    let environment = try Environment.open(path)
    let transaction = try environment.beginRead()
    let database = try #require(try transaction.openDatabase("store"))
    return try transaction.withValue(for: Array(key.utf8).span, in: database) { value in
      guard let value else { return [] }
      return value.indices.map { value[$0] }
    }
  }

  // MARK: The stored layout

  @Test func `the version of a layout says how the model is stored`() throws {
    _ = try folder.open(City.self)
    let store = try folder.open(City.self, KeyedPage.self)
    #expect(try value(folder.path, "layout/City/1").first == 1)
    #expect(try value(folder.path, "layout/Page/1").first == 2)
    #expect(try store.layouts == ["City": .sequential, "Page": .byKey])
    #expect(try store.storedModels().map(\.layout) == [.sequential, .byKey])
  }

  @Test func `a store keeps its layout when a program declares another one`() throws {
    let keyed = try folder.open(KeyedPage.self)
    let key = Data("a".utf8)
    try keyed.write { try $0.insert(KeyedPage(PageContents(key: key, title: "old", views: 1))) }
    let sequential = try folder.open(SequentialPage.self)
    try sequential.write { tx in
      _ = try tx.update(SequentialPage.self, key: key) { $0.page.title = "new" }
    }
    let found = try keyed.read { try $0.find(KeyedPage.self, key: key) }
    #expect(found?.page == PageContents(key: key, title: "new", views: 1))
    #expect(try sequential.layouts == ["Page": .byKey])
    #expect(try sequential.verify().isValid)
  }

  // MARK: Columns

  @Test func `a schema that is stored by key and has a column is a programming error`() async {
    await #expect(processExitsWith: .failure) {
      _ = KeyedPage.makeSchema(.byKey, isColumnar: true)
    }
  }

  @Test func `a store that keeps a model by key has no columns for it`() throws {
    let keyed = try folder.open(KeyedPage.self)
    let pages = pages((0..<50).map { Data("\($0)".utf8) })
    try keyed.write { try $0.insert(contentsOf: pages) }
    let columnar = try folder.open(ColumnarPage.self)
    try columnar.write { tx in
      _ = try tx.update(ColumnarPage.self, key: Data("7".utf8)) { $0.page.rank = 100 }
    }
    let found = try columnar.read { tx in
      try tx.fetch(ColumnarPage.where { $0.rank > 47 }.order(by: \.rank)).map(\.page.rank)
    }
    #expect(found == [48, 49, 100])
    #expect(try columnar.storedModels().map(\.columns) == [[]])
    #expect(try columnar.verify().problems == [])
    // Opening the store again changes nothing.
    let commit = try columnar.commitNumber()
    #expect(try folder.open(ColumnarPage.self).commitNumber() == commit)
  }

  @Test func `an import into a model that is stored by key leaves out the columns`() throws {
    let source = try Store(at: folder.path("columnar"), models: [ColumnarPage.self])
    let pages = pages((0..<50).map { Data("\($0)".utf8) })
    try source.write { try $0.insert(contentsOf: pages.map { ColumnarPage($0.page) }) }
    let lines = folder.path("lines.jsonl")
    try source.exportJSONLines(to: lines)
    let target = try Store(at: folder.path("keyed"), models: [KeyedPage.self])
    _ = try target.importJSONLines(from: lines)
    let found = try target.read { try $0.fetch(KeyedPage.all.order(by: \.rank)).map(\.page) }
    #expect(found == pages.map(\.page))
    #expect(try target.storedModels().map(\.columns) == [[]])
    #expect(try target.verify().problems == [])
  }

  @Test func `an import of a model that is stored by key and has a column throws`() throws {
    let source = try Store(at: folder.path("columnar"), models: [ColumnarPage.self])
    let lines = folder.path("lines.jsonl")
    try source.exportJSONLines(to: lines)
    let text = try String(contentsOfFile: lines, encoding: .utf8)
    let changed = text.replacing("\"columns\"", with: "\"layout\":\"byKey\",\"columns\"")
    #expect(changed != text)
    try Data(changed.utf8).write(to: URL(filePath: lines))
    let target = try Store(at: folder.path("keyed"), models: [City.self])
    let error = #expect(throws: StoreError.self) {
      _ = try target.importJSONLines(from: lines)
    }
    let cause = error?.cause as? JSONLinesError
    #expect(cause?.reason == "model Page: a model that is stored by key cannot have columns")
  }

  @Test func `layouts that disagree are damage`() throws {
    do { _ = try folder.open(KeyedPage.self) }
    let environment = try Environment.open(folder.path)
    var transaction = try environment.beginWrite()
    let metadata = Metadata(database: try transaction.createDatabase(TableName.store))
    let layout = RecordLayout(SequentialPage.schema)
    try metadata.set(layout.encoded, for: "layout/Page/2", in: &transaction)
    try transaction.commit()
    let error = #expect(throws: StoreError.self) { _ = try folder.open(KeyedPage.self) }
    #expect(error?.code == .damaged)
  }

  // MARK: Ids

  @Test func `the id of an object follows from its key unless another object has that id`() throws {
    let (store, pages) = try makeStore()
    let keys = try keysByID(store)
    #expect(keys.count == pages.count)
    let displaced = keys.filter { id, key in
      StorageLayout.homeID(ofHash: XXHash64.hash(Array(key), seed: store.seed)) != id
    }
    #expect(displaced.count > 10)
    #expect(displaced.count < pages.count)
    #expect(keys.keys.allSatisfy { $0 > 0 && $0 <= StorageLayout.maximumKeyedID })
    #expect(try store.verify().problems == [])
  }

  @Test func `an object that is deleted and inserted again in one write is updated`() throws {
    let (store, pages) = try makeStore()
    let token = try store.historyToken()
    let first = pages[3]
    try store.write { tx in
      try tx.delete(KeyedPage.self, key: first.primaryKey)
      try tx.insert(first)
    }
    guard case .changes(let changes) = try store.changes(since: token, of: KeyedPage.self) else {
      Issue.record("the history has expired")
      return
    }
    #expect(changes.updated.map(\.object.page) == [first.page])
    #expect(changes.deleted.isEmpty && changes.inserted.isEmpty)
  }

  @Test func `an object that takes the id of a deleted one is inserted`() throws {
    let store = try folder.open(KeyedPage.self)
    let keys = CollidingKeys(seed: store.seed)
    let pages = pages([keys.key(withHash: 9, first: 1), keys.key(withHash: 9, first: 2)])
    try store.write { try $0.insert(pages[0]) }
    let token = try store.historyToken()
    try store.write { tx in
      try tx.delete(KeyedPage.self, key: pages[0].primaryKey)
      try tx.insert(pages[1])
    }
    let other = try folder.open(KeyedPage.self)
    guard case .changes(let changes) = try other.changes(since: token, of: KeyedPage.self) else {
      Issue.record("the history has expired")
      return
    }
    #expect(changes.deleted == [pages[0].primaryKey])
    #expect(changes.inserted.map(\.page) == [pages[1].page])
    #expect(changes.updated.isEmpty)
    #expect(try store.verify().problems == [])
  }

  @Test func `numbered keys skip those that exist`() throws {
    let store = try folder.open(KeyedRow.self)
    let keys = try store.write { tx in
      try tx.insert(KeyedRow(id: 3))
      return try (0..<3).map { _ in
        let key = try tx.nextKey(for: KeyedRow.self)
        try tx.insert(KeyedRow(id: key))
        return key
      }
    }
    #expect(keys == [2, 4, 5])
  }

  // MARK: References

  @Test func `references between models of each layout follow their delete rules`() throws {
    try checkReferences(Sequential.self, Sequential.self)
    try checkReferences(Sequential.self, ByKey.self)
    try checkReferences(ByKey.self, Sequential.self)
    try checkReferences(ByKey.self, ByKey.self)
  }

  private func checkReferences<Layout: LayoutTag, Target: LayoutTag>(
    _ layout: Layout.Type,
    _ target: Target.Type
  ) throws {
    typealias Note = Remark<Layout, Target>
    let path = folder.path("\(layout) \(target)")
    let store = try Store(at: path, models: [Note.self, Topic<Target>.self])
    let topics = (0..<20).map { Topic<Target>("topic \($0)") }
    try store.write { tx in
      try tx.insert(contentsOf: topics)
      for (number, topic) in topics.enumerated() {
        try tx.insert(Note(id: number, about: topic))
        try tx.insert(Note(id: 100 + number, part: topic))
      }
      try tx.insert(Note(id: 200, needed: topics[7]))
    }
    #expect(throws: StoreError.self) {
      try store.write { try $0.insert(Note(id: 999, about: Topic("missing"))) }
    }
    let error = #expect(throws: StoreError.self) {
      try store.write { tx in _ = try tx.delete(Topic<Target>.self, key: topics[7].name) }
    }
    #expect(error?.code == .referenced)
    try store.write { tx in _ = try tx.delete(Topic<Target>.self, key: topics[3].name) }
    let found = try store.read { tx in
      try [3, 103, 104].map { try tx.find(Note.self, key: $0) }
    }
    #expect(found == [Note(id: 3), nil, Note(id: 104, part: topics[4])])
    #expect(try store.verify().problems == [])
    #expect(try Store.verify(at: path).problems == [])
  }

  // MARK: Export and import

  @Test func `an import creates a model in the layout of the exported one`() throws {
    let (store, pages) = try makeStore()
    let lines = folder.path("lines.jsonl")
    try store.exportJSONLines(to: lines)
    let target = folder.path("imported")
    let file = try FileHandle(forReadingFrom: URL(filePath: lines))
    _ = try Store.importJSONLines(
      from: file.fileDescriptor,
      named: lines,
      intoStoreAt: target
    )
    let imported = try Store(at: target, models: [SequentialPage.self])
    #expect(try imported.layouts == ["Page": .byKey])
    let found = try imported.read { try $0.fetch(SequentialPage.all).map(\.page) }
    #expect(found.sorted { $0.rank < $1.rank } == pages.map(\.page))
    #expect(try imported.verify().problems == [])
  }

  @Test func `an import converts objects to the layout of an existing store`() throws {
    let (store, pages) = try makeStore()
    let lines = folder.path("lines.jsonl")
    try store.exportJSONLines(to: lines)
    let target = try Store(at: folder.path("sequential"), models: [SequentialPage.self])
    _ = try target.importJSONLines(from: lines)
    #expect(try target.layouts == ["Page": .sequential])
    let found = try target.read { try $0.fetch(SequentialPage.all.order(by: \.rank)).map(\.page) }
    #expect(found == pages.map(\.page))
    #expect(try target.verify().problems == [])
  }
}

/// A model stored by an integer key.
private struct KeyedRow: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Row",
    fields: [FieldSchema("id", Int.self, isPrimaryKey: true)],
    layout: .byKey
  )

  var id: Int
  var primaryKey: Int { id }

  init(id: Int) { self.id = id }

  init(from record: borrowing RecordView) throws(RecordError) { id = try record.value(at: 0) }

  func encode(to record: inout RecordEncoder) { record.encode(id) }
}
