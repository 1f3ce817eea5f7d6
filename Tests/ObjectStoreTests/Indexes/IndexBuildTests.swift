import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// A page without indexes.
struct PlainPage: PageModel {
  static let columns = PageColumns<PlainPage>()
  static let schema = plainSchema(.sequential)
  var page: PageContents
  init(_ page: PageContents) { self.page = page }

  static func plainSchema(_ layout: StorageLayout) -> ModelSchema {
    ModelSchema(
      name: "Page",
      fields: [
        FieldSchema("key", Data.self, isPrimaryKey: true),
        FieldSchema("title", String.self),
        FieldSchema("rank", Int.self),
        FieldSchema("tags", Set<String>.self),
        FieldSchema("views", Int64.self, isHot: true),
      ],
      layout: layout
    )
  }
}

struct PlainKeyedPage: PageModel {
  static let columns = PageColumns<PlainKeyedPage>()
  static let schema = PlainPage.plainSchema(.byKey)
  var page: PageContents
  init(_ page: PageContents) { self.page = page }
}

@Suite(.timeLimit(.minutes(10))) struct IndexBuildTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static func page(_ number: Int) -> PageContents {
    PageContents(
      key: Data("page \(number)".utf8),
      title: "title \(number % 5_000)",
      rank: number,
      tags: ["t\(number % 3)", "u\(number % 7)"],
      views: Int64(number)
    )
  }

  private func options(above limit: Int = 100, version: UInt32 = 0) -> StoreOptions {
    var options = StoreOptions(schemaVersion: version)
    options.indexBuilding = .inBackground(above: limit)
    return options
  }

  private func makeStore<M: PageModel>(_ model: M.Type, count: Int) throws {
    let store = try Store(at: folder.path, models: [M.self], options: options())
    try store.write { try $0.insert(contentsOf: (0..<count).map { M(Self.page($0)) }) }
  }

  /// Lists the builds of the indexes of a model, without a program that builds them.
  private func begin<M: PageModel>(_ model: M.Type, version: UInt32 = 0) throws -> Environment {
    let environment = try Environment.open(folder.path)
    try StoreOpening.beginSchemaChange(
      of: environment,
      models: [M.self],
      options: options(version: version)
    )
    return environment
  }

  /// Opens the store for writing, without building.
  private func open<M: PageModel>(_ model: M.Type) throws -> Store {
    let store = try BackgroundWork.$isSuspended.withValue(true) {
      try Store(at: folder.path, models: [M.self], options: options())
    }
    store.background.stop()
    return store
  }

  private func expectIndexed<M: PageModel>(_ model: M.Type, _ store: Store) throws {
    #expect(try store.indexBuilds() == [])
    #expect(try store.verify().problems == [])
    let pages = try store.read { try $0.fetch(M.all).map(\.page) }
    try expect(M.where { $0.title == "title 17" }, store, pages.filter { $0.title == "title 17" })
    try expect(M.where { $0.tags.contains("u3") }, store, pages.filter { $0.tags.contains("u3") })
  }

  /// Expects that a query uses an index and has some matches.
  private func expect<M: PageModel>(
    _ query: Query<M>,
    _ store: Store,
    _ matches: [PageContents]
  ) throws {
    #expect("\(try store.read { try $0.explain(query) })".contains("index"))
    let found = try store.read { try $0.fetch(query).map(\.page.rank) }
    #expect(found.sorted() == matches.map(\.rank).sorted() && !found.isEmpty)
  }

  // MARK: Opening

  @Test func `an index of a large model is built in the background`() async throws {
    try makeStore(PlainPage.self, count: 20_000)
    let store = try Store(at: folder.path, models: [SequentialPage.self], options: options())
    while try !store.indexBuilds().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    try expectIndexed(SequentialPage.self, store)
  }

  @Test func `an index of a small model is built when the store is opened`() throws {
    try makeStore(PlainPage.self, count: 100)
    let store = try open(SequentialPage.self)
    try expectIndexed(SequentialPage.self, store)
  }

  @Test func `by request, every index is built when the store is opened`() throws {
    try makeStore(PlainPage.self, count: 3_000)
    var options = options()
    options.indexBuilding = .atOpen
    let store = try Store(at: folder.path, models: [SequentialPage.self], options: options)
    try expectIndexed(SequentialPage.self, store)
  }

  @Test func `a unique index is built when the store is opened`() throws {
    try makeStore(PlainKeyedPage.self, count: 3_000)
    let store = try open(UniqueKeyedPage.self)
    #expect(try store.indexBuilds().map(\.fields) == [["tags"]])
    #expect(throws: StoreError.self) {
      var page = Self.page(5_000)
      page.title = "title 1"
      try store.write { try $0.insert(UniqueKeyedPage(page)) }
    }
  }

  // MARK: During a build

  @Test func `queries do not use an index before it is complete`() throws {
    try makeStore(PlainPage.self, count: 3_000)
    let environment = try begin(SequentialPage.self)
    let store = try open(SequentialPage.self)
    let query = SequentialPage.where { $0.title == "title 17" }
    var worker = IndexBuildWorker(environment, memoryLimit: 10_000)
    var steps = 0
    while try worker.step() != .nothing {
      steps += 1
      #expect(try store.read { try $0.count(query) } == 1)
      let progress = try store.indexBuilds()
      let usesIndex = "\(try store.read { try $0.explain(query) })".contains("index")
      #expect(usesIndex != progress.contains { $0.fields == ["title"] })
      #expect(progress.allSatisfy { $0.totalObjectCount == 3_000 && $0.objectCount <= 3_000 })
      #expect(try store.verify().problems == [])
    }
    #expect(steps > 10)
    try expectIndexed(SequentialPage.self, store)
  }

  @Test func `finishing the builds completes every index`() throws {
    try makeStore(PlainKeyedPage.self, count: 9_000)
    _ = try begin(KeyedPage.self)
    let store = try Store(at: folder.path, models: [KeyedPage.self], options: options())
    try store.finishIndexBuilds()
    try expectIndexed(KeyedPage.self, store)
  }

  /// Changes random pages, as a program with or without the index.
  private func change<M: PageModel>(
    _ model: M.Type,
    _ store: Store,
    _ generator: inout SplitMix64
  ) throws {
    var random = generator
    try store.write { tx in
      for _ in 0..<40 {
        let number = Int.random(in: 0..<4_000, using: &random)
        let key = Self.page(number).key
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try tx.delete(M.self, key: key)
        case 1:
          var page = Self.page(number)
          page.title = "title \(Int.random(in: 0..<40, using: &random))"
          try tx.upsert(M(page))
        case 2:
          _ = try tx.update(M.self, key: key) {
            $0.page.tags = ["u\(Int.random(in: 0..<7, using: &random))"]
          }
        default: _ = try tx.update(M.self, key: key) { $0.page.views += 1 }
        }
      }
    }
    generator = random
  }

  @Test(arguments: 0..<6 as Range<UInt64>)
  func `programs with and without the index write while it is built`(seed: UInt64) throws {
    try makeStore(PlainPage.self, count: 3_000)
    let old = try open(PlainPage.self)
    let environment = try begin(SequentialPage.self)
    let new = try open(SequentialPage.self)
    var generator = SplitMix64(seed: seed)
    var worker = IndexBuildWorker(environment, memoryLimit: 4_000)
    while try worker.step() != .nothing {
      try change(PlainPage.self, old, &generator)
      try change(SequentialPage.self, new, &generator)
      // A program that is killed leaves the rest to another one.
      if Int.random(in: 0..<9, using: &generator) == 0 {
        worker = IndexBuildWorker(environment, memoryLimit: 4_000)
      }
    }
    try expectIndexed(SequentialPage.self, new)
  }

  @Test func `programs that build the same index at a time complete it once`() throws {
    try makeStore(PlainKeyedPage.self, count: 3_000)
    let environment = try begin(KeyedPage.self)
    var workers = (1...3).map { IndexBuildWorker(environment, memoryLimit: $0 * 5_000) }
    var completed = 0
    var isDone = false
    while !isDone {
      isDone = true
      for number in workers.indices {
        switch try workers[number].step() {
        case .nothing: continue
        case .progressed: isDone = false
        case .completed:
          completed += 1
          isDone = false
        }
      }
    }
    #expect(completed == 2)
    try expectIndexed(KeyedPage.self, try open(KeyedPage.self))
  }

  @Test func `a program killed during a build leaves it to the next one`() async throws {
    try makeStore(PlainPage.self, count: 9_000)
    let path = folder.path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let environment = try Environment.open(path)
      var options = StoreOptions(schemaVersion: 0)
      options.indexBuilding = .inBackground(above: 100)
      try StoreOpening.beginSchemaChange(
        of: environment,
        models: [SequentialPage.self],
        options: options
      )
      var worker = IndexBuildWorker(environment, memoryLimit: 20_000)
      for _ in 0..<7 { _ = try worker.step() }
      kill(getpid(), SIGKILL)
    }
    let store = try open(SequentialPage.self)
    #expect(try store.indexBuilds().count == 2)
    #expect(try store.indexBuilds()[0].objectCount > 0)
    let next = try Store(at: folder.path, models: [SequentialPage.self], options: options())
    try next.finishIndexBuilds()
    try expectIndexed(SequentialPage.self, next)
  }

  // MARK: Other changes of the schema

  @Test func `a higher version without the index ends its build`() throws {
    try makeStore(PlainPage.self, count: 3_000)
    _ = try begin(SequentialPage.self)
    let store = try Store(at: folder.path, models: [PlainPage.self], options: options(version: 1))
    #expect(try store.indexBuilds() == [])
    #expect(try store.verify().problems == [])
    try store.write { try $0.insert(PlainPage(Self.page(3_000))) }
  }

  @Test func `a build begins again after a conversion to another layout`() throws {
    try makeStore(PlainPage.self, count: 3_000)
    let environment = try begin(SequentialPage.self)
    var worker = IndexBuildWorker(environment, memoryLimit: 4_000)
    for _ in 0..<5 { _ = try worker.step() }
    let store = try Store(at: folder.path, models: [KeyedPage.self], options: options(version: 1))
    try store.finishIndexBuilds()
    #expect(try worker.step() == .progressed)
    #expect(try worker.step() == .nothing)
    try expectIndexed(KeyedPage.self, store)
  }

  @Test func `a read-only store ignores an index that is built`() throws {
    try makeStore(PlainPage.self, count: 3_000)
    _ = try begin(SequentialPage.self)
    let options = StoreOptions(access: .readOnly, schemaVersion: 0)
    let store = try Store(at: folder.path, models: [SequentialPage.self], options: options)
    let count = try store.read { try $0.count(SequentialPage.where { $0.title == "title 17" }) }
    #expect(count == 1)
    #expect(try store.indexBuilds().count == 2)
    #expect(throws: StoreError.self) { try store.finishIndexBuilds() }
  }

  @Test func `a build with the greatest possible count of objects is completed`() throws {
    try makeStore(PlainPage.self, count: 3_000)
    let environment = try begin(SequentialPage.self)
    let schema = try StoredSchema(environment)
    var transaction = try environment.beginWrite()
    for var build in try schema.metadata.indexBuilds(in: transaction) {
      build.objectCount = .max - 1
      try schema.metadata.set(build.encoded, for: build.key, in: &transaction)
    }
    try transaction.commit()
    let store = try open(SequentialPage.self)
    #expect(try store.indexBuilds().count > 0)
    var worker = IndexBuildWorker(environment, memoryLimit: 1 << 20)
    while try worker.step() != .nothing {}
    try expectIndexed(SequentialPage.self, store)
  }

  @Test(arguments: ["rebuild", "import"])
  func `rebuilding or importing an index completes its build`(operation: String) throws {
    try makeStore(PlainPage.self, count: 3_000)
    let export = folder.path("export")
    if operation == "import" {
      let other = try Store(at: folder.path("other"), models: [SequentialPage.self])
      try other.write { try $0.insert(SequentialPage(Self.page(3_000))) }
      #expect(try other.exportJSONLines(to: export) == 1)
    }
    let environment = try begin(SequentialPage.self)
    var worker = IndexBuildWorker(environment, memoryLimit: 4_000)
    for _ in 0..<5 { _ = try worker.step() }
    let store = try open(SequentialPage.self)
    if operation == "import" {
      #expect(try store.importJSONLines(from: export).inserted == 1)
    } else {
      _ = try store.rebuildIndexes()
    }
    while try worker.step() != .nothing {}
    try expectIndexed(SequentialPage.self, store)
  }

  @Test func `verification finds entries that are missing or stray before the position`() throws {
    try makeStore(PlainPage.self, count: 3_000)
    let environment = try begin(SequentialPage.self)
    let store = try open(SequentialPage.self)
    var worker = IndexBuildWorker(environment, memoryLimit: 10_000)
    while try store.indexBuilds()[0].objectCount == 0 { _ = try worker.step() }
    let build = try store.indexBuilds()[0]
    #expect(build.objectCount < 3_000)
    #expect(try store.verify().problems == [])

    let id = FieldSchema.id(forName: build.fields[0])
    var transaction = try environment.beginWrite()
    let table = try transaction.createDatabase("Page/index/\(id)")
    let first = unsafe try transaction.cursor(on: table).first().map { unsafe Array($0.key) }
    var stray = try #require(first)
    try transaction.delete(stray.span, in: table)
    stray[1] ^= 0xFF
    try transaction.put([UInt8]().span, for: stray.span, in: table)
    try transaction.commit()
    let report = try store.verify()
    #expect(report.problemCounts == [.index: 2], "\(report.problems)")
  }

  @Test func `a repaired or compacted store continues a build`() throws {
    try makeStore(PlainPage.self, count: 3_000)
    do {
      let environment = try begin(SequentialPage.self)
      var worker = IndexBuildWorker(environment, memoryLimit: 4_000)
      for _ in 0..<5 { _ = try worker.step() }
    }
    let target = folder.path("repaired")
    _ = try Store.repair(at: folder.path, into: target)
    _ = try Store.compact(at: folder.path)
    for path in [target, folder.path] {
      let store = try Store(at: path, models: [SequentialPage.self], options: options())
      try store.finishIndexBuilds()
      try expectIndexed(SequentialPage.self, store)
    }
  }
}
