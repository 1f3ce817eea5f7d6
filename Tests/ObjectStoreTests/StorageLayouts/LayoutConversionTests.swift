import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite(.timeLimit(.minutes(10))) struct LayoutConversionTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func page(_ number: Int) -> PageContents {
    PageContents(
      key: Data("page \(number)".utf8),
      title: "title \(number)",
      rank: number,
      tags: ["t\(number % 3)"],
      views: Int64(number)
    )
  }

  /// Creates a store of pages, and deletes every tenth page.
  private func makeStore<M: PageModel>(_ model: M.Type, count: Int) throws {
    let store = try folder.open(M.self)
    try store.write { tx in
      try tx.insert(contentsOf: (0..<count).map { M(Self.page($0)) })
      for number in stride(from: 0, to: count, by: 10) {
        try tx.delete(M.self, key: Self.page(number).key)
      }
    }
  }

  private func expected(_ count: Int) -> [PageContents] {
    (0..<count).filter { $0 % 10 != 0 }.map { Self.page($0) }
  }

  private func pages<M: PageModel>(_ model: M.Type, _ store: Store) throws -> [PageContents] {
    try store.read { try $0.fetch(M.all).map(\.page) }.sorted { $0.rank < $1.rank }
  }

  private func expectComplete<M: PageModel>(
    _ model: M.Type,
    _ store: Store,
    _ layout: StorageLayout,
    _ count: Int
  ) throws {
    #expect(try store.layouts["Page"] == layout)
    #expect(try pages(model, store) == expected(count))
    #expect(try store.verify().problems == [])
    let tagged = try store.read { tx in
      try tx.fetch(M.where { $0.tags.contains("t1") }.order(by: \.title)).map(\.page)
    }
    #expect(tagged.count == expected(count).count { $0.tags.contains("t1") })
    for number in [1, count - 1] {
      let found = try store.read { try $0.find(M.self, key: Self.page(number).key) }
      #expect(found?.page == Self.page(number))
    }
    // The tables of the previous layout are empty.
    let names = ModelTableNames("Page", layout == .byKey ? .sequential : .byKey)
    let environment = try Environment.open(folder.path)
    let transaction = try environment.beginRead()
    for name in [names.records, names.hot, names.keys] {
      let table = try #require(try transaction.openDatabase(name, keys: .integers))
      #expect(try transaction.count(of: table) == 0)
    }
    for index in M.schema.indexes {
      let table = try #require(try transaction.openDatabase(names.index(index.id)))
      #expect(try transaction.count(of: table) == 0)
    }
    let metadata = Metadata(database: try #require(try transaction.openDatabase("store")))
    #expect(try metadata.conversions(in: transaction) == [])
  }

  // MARK: A complete conversion

  @Test(arguments: [0, 5, 9_000])
  func `a higher schema version converts a model to the layout by key`(count: Int) throws {
    try makeStore(SequentialPage.self, count: count)
    let store = try folder.open(KeyedPage.self, version: 1)
    guard count > 0 else {
      #expect(try store.layouts == ["Page": .byKey])
      return
    }
    try expectComplete(KeyedPage.self, store, .byKey, count)
    try store.write { tx in
      try tx.upsert(contentsOf: (0..<count).map { KeyedPage(Self.page($0)) })
    }
    #expect(try store.read { try $0.count(KeyedPage.all) } == count)
    #expect(try store.verify().problems == [])
  }

  @Test func `a higher schema version converts a model to sequential ids`() throws {
    try makeStore(KeyedPage.self, count: 9_000)
    let store = try folder.open(SequentialPage.self, version: 1)
    try expectComplete(SequentialPage.self, store, .sequential, 9_000)
    try store.write { tx in
      try tx.upsert(contentsOf: (0..<9_000).map { SequentialPage(Self.page($0)) })
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `a conversion and its reverse keep every object`() throws {
    try makeStore(SequentialPage.self, count: 300)
    for version in 1...4 as ClosedRange<UInt32> {
      if version % 2 == 1 {
        try expectComplete(
          KeyedPage.self,
          folder.open(KeyedPage.self, version: version),
          .byKey,
          300
        )
      } else {
        try expectComplete(
          SequentialPage.self,
          folder.open(SequentialPage.self, version: version),
          .sequential,
          300
        )
      }
    }
  }

  @Test func `a conversion keeps layouts, hot fields and fields that are unknown`() throws {
    do {
      let store = try folder.open(NewNote.self)
      try store.write { tx in
        for id in 1...200 {
          let text = "text \(id)"
          try tx.insert(NewNote(id: id, stars: id % 7, text: text, size: Int64(id), link: nil))
        }
      }
      let old = try folder.open(OldNote.self)
      try old.write { tx in
        // Records of another layout, one of them with extras.
        _ = try tx.update(OldNote.self, key: 3) { $0.text = "older" }
        try tx.insert(OldNote(id: 900, text: "old"))
      }
    }
    let before = try objects()
    let store = try folder.open(Keyed<NewNote>.self, version: 1)
    let layouts = try store.layouts
    #expect(layouts == ["Note": .byKey])
    #expect(try objects() == before)
    #expect(try store.verify().problems == [])
    let found = try store.read { try $0.find(Keyed<NewNote>.self, key: 3)?.base }
    #expect(found?.text == "older")
    #expect(found?.size == 3)
  }

  /// The values of all notes, by primary key and field.
  private func objects() throws -> [String: [UInt32: StoredValue]] {
    // The default schema version is higher, and would raise that of the store without converting.
    let store = try folder.open()
    var objects: [String: [UInt32: StoredValue]] = [:]
    try store.forEachStoredObject(of: "Note") { object in
      let fields = object.fields.map { ($0.id, $0.value) }
      objects["\(object["id"] ?? .null)"] = Dictionary(uniqueKeysWithValues: fields)
      return true
    }
    return objects
  }

  @Test func `a conversion drops the columns, and its reverse builds them again`() throws {
    try makeStore(ColumnarPage.self, count: 1_000)
    try expectComplete(KeyedPage.self, folder.open(KeyedPage.self, version: 1), .byKey, 1_000)
    let keyed = try folder.open(KeyedPage.self, version: 1)
    #expect(try keyed.storedModels().map(\.columns) == [[]])
    let columnar = try folder.open(ColumnarPage.self, version: 2)
    try expectComplete(ColumnarPage.self, columnar, .sequential, 1_000)
    #expect(try columnar.storedModels().map(\.columns.count) == [1])
    let query = ColumnarPage.where { $0.rank >= 500 }
    #expect(try columnar.read { try $0.count(query) } == 450)
    #expect("\(try columnar.read { try $0.explain(query) })".contains("column"))
  }

  @Test func `the same schema version converts nothing`() throws {
    try makeStore(SequentialPage.self, count: 20)
    let store = try folder.open(KeyedPage.self)
    #expect(try store.layouts == ["Page": .sequential])
  }

  // MARK: Interruptions

  /// Prepares a conversion and copies some batches, as a program that is then killed.
  private func interrupt(afterBatches count: Int) throws {
    let environment = try Environment.open(folder.path)
    try StoreOpening.beginSchemaChange(
      of: environment,
      models: [KeyedPage.self],
      options: StoreOptions(schemaVersion: 1)
    )
    for _ in 0..<count { #expect(try LayoutConversion.step(in: environment) == .copied) }
  }

  @Test(arguments: 0..<3)
  func `readers see every object until an interrupted conversion is complete`(
    batches: Int
  ) throws {
    let count = 12_000
    try makeStore(SequentialPage.self, count: count)
    let reader = try folder.open(SequentialPage.self)
    try interrupt(afterBatches: batches)
    let before = try reader.read { try $0.fetch(SequentialPage.all).map(\.page) }
    #expect(before == expected(count))
    #expect(try Store.verify(at: folder.path).problems == [])
    // A program of the previous version may not write any more.
    #expect(throws: StoreError.self) {
      try reader.write { try $0.insert(SequentialPage(Self.page(0))) }
    }

    // Another program completes it, also without the model.
    let program =
      batches == 1
      ? try folder.open(City.self, version: 1) : try folder.open(KeyedPage.self, version: 1)
    #expect(try program.layouts["Page"] == .byKey)
    #expect(try pages(SequentialPage.self, reader) == expected(count))
    #expect(try program.verify().problems == [])
    try expectComplete(
      KeyedPage.self,
      folder.open(KeyedPage.self, version: 1),
      .byKey,
      count
    )
  }

  @Test func `two programs that convert at the same time complete it once`() async throws {
    try makeStore(SequentialPage.self, count: 12_000)
    let path = folder.path
    let old = try folder.open(SequentialPage.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      // A program of the previous version, which writes until it may not.
      group.addTask {
        let error = await #expect(throws: StoreError.self) {
          while true {
            try await old.write { try $0.upsert(SequentialPage(Self.page(1))) }
            // The other programs of this process may have no other thread.
            await Task.yield()
          }
        }
        #expect(error?.code == .tooNew)
      }
      for _ in 0..<4 {
        group.addTask {
          var options = StoreOptions()
          options.schemaVersion = 1
          let store = try Store(at: path, models: [KeyedPage.self], options: options)
          #expect(try store.layouts == ["Page": .byKey])
          #expect(try store.read { try $0.count(KeyedPage.all) } == 10_800)
        }
      }
      try await group.waitForAll()
    }
    try expectComplete(
      KeyedPage.self,
      folder.open(KeyedPage.self, version: 1),
      .byKey,
      12_000
    )
  }

  @Test func `each transaction of a conversion copies a limited number of objects`() throws {
    try makeStore(SequentialPage.self, count: 12_000)
    try interrupt(afterBatches: 0)
    let environment = try Environment.open(folder.path)
    var batches = 1
    while try LayoutConversion.step(in: environment) == .copied { batches += 1 }
    #expect(batches == (10_800 + LayoutConversion.batchCount - 1) / LayoutConversion.batchCount)
  }

  @Test func `a repair during a conversion saves every object in the previous layout`() throws {
    try makeStore(SequentialPage.self, count: 9_000)
    try interrupt(afterBatches: 1)
    let target = folder.path("repaired")
    _ = try Store.repair(at: folder.path, into: target)
    var options = StoreOptions()
    options.schemaVersion = 1
    let repaired = try Store(at: target, models: [KeyedPage.self], options: options)
    #expect(try repaired.layouts == ["Page": .sequential])
    #expect(try pages(KeyedPage.self, repaired) == expected(9_000))
    #expect(try repaired.verify().problems == [])
  }

  @Test func `a program killed during a conversion leaves it to the next one`() async throws {
    let count = 12_000
    try makeStore(SequentialPage.self, count: count)
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try Environment.open(path)
      try StoreOpening.beginSchemaChange(
        of: environment,
        models: [KeyedPage.self],
        options: StoreOptions(schemaVersion: 1)
      )
      _ = try LayoutConversion.step(in: environment)
      kill(getpid(), SIGKILL)
    }
    let store = try folder.open(KeyedPage.self, version: 1)
    try expectComplete(KeyedPage.self, store, .byKey, count)
  }

  // MARK: Observation and history

  @Test func `an observer and a token of the history survive a conversion`() async throws {
    try makeStore(SequentialPage.self, count: 300)
    let reader = try folder.open(SequentialPage.self)
    let token = try reader.historyToken()
    var results = reader.observe(SequentialPage.all).makeAsyncIterator()
    _ = try await results.next()
    let store = try folder.open(KeyedPage.self, version: 1)
    try await store.write { tx in try tx.insert(KeyedPage(Self.page(0))) }
    let next = try await results.next()
    let change = try #require(next)
    #expect(change.snapshot.map(\.page).sorted { $0.rank < $1.rank }.count == 271)
    guard case .expired = try reader.changes(since: token, of: SequentialPage.self) else {
      Issue.record("the ids of the history no longer exist")
      return
    }
  }
}
