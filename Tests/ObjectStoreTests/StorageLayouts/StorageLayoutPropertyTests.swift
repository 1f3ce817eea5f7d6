import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Compares stores in each layout with a dictionary, over random writes of keys whose hashes collide.
@Suite(.timeLimit(.minutes(10))) struct StorageLayoutPropertyTests {
  private struct Rollback: Error {}

  /// A program that created the store, and the one that uses it: they may declare other layouts.
  enum Programs: CaseIterable {
    case sequential, keyed, keyedAfterSequential, sequentialAfterKeyed, keyedWithUniqueIndex
  }

  @Test(arguments: Programs.allCases, 0..<4)
  func `random writes have the same result as in a dictionary`(
    _ programs: Programs,
    seed: UInt64
  ) throws {
    switch programs {
    case .sequential: try run(SequentialPage.self, seed, .sequential)
    case .keyed: try run(KeyedPage.self, seed, .byKey)
    case .keyedAfterSequential:
      try run(KeyedPage.self, seed, .sequential, creator: SequentialPage.self)
    case .sequentialAfterKeyed:
      try run(SequentialPage.self, seed, .byKey, creator: KeyedPage.self)
    case .keyedWithUniqueIndex: try run(UniqueKeyedPage.self, seed, .byKey)
    }
  }

  private func run<M: PageModel>(
    _ model: M.Type,
    _ seed: UInt64,
    _ layout: StorageLayout,
    creator: (any Model.Type)? = nil
  ) throws {
    let folder = try TemporaryFolder()
    if let creator { _ = try Store(at: folder.path, models: [creator]) }
    let store = try Store(at: folder.path, models: [M.self])
    var test = Run<M>(store, seed)
    for _ in 0..<60 {
      try test.write()
      try test.check()
    }
    #expect(test.collisions > 10)
    #expect(try store.layouts == ["Page": layout])
  }

  private struct Run<M: PageModel> {
    let store: Store
    let keys: [Data]
    var random: SplitMix64
    var pages: [Data: PageContents] = [:]
    /// A copy that is kept up to date from the history.
    var replica: [Data: PageContents] = [:]
    var token: HistoryToken?
    /// The number of checks that found objects whose hashes collide.
    var collisions = 0

    init(_ store: Store, _ seed: UInt64) {
      self.store = store
      random = SplitMix64(seed: seed)
      keys = CollidingKeys(seed: store.seed).sample
    }

    private mutating func page(_ key: Data) -> PageContents {
      let number = Int.random(in: 0..<9, using: &random)
      return PageContents(
        key: key,
        title: "\(number)\(Int.random(in: 0..<1_000_000, using: &random))",
        rank: number,
        tags: ["t\(number % 3)", "all"],
        views: Int64(number)
      )
    }

    mutating func write() throws {
      let before = pages
      var (state, copy) = (self, pages)
      let isRolledBack = Int.random(in: 0..<6, using: &state.random) == 0
      do {
        try store.write(durability: .deferred) { tx in
          for _ in 0..<Int.random(in: 1...12, using: &state.random) {
            if Int.random(in: 0..<8, using: &state.random) == 0 {
              try? tx.nested { tx in
                let outer = copy
                try state.change(&tx, &copy)
                try state.change(&tx, &copy)
                guard Bool.random(using: &state.random) else {
                  copy = outer
                  throw Rollback()
                }
              }
            } else {
              try state.change(&tx, &copy)
            }
          }
          if isRolledBack { throw Rollback() }
        }
      } catch is Rollback {
        copy = before
      }
      self = state
      pages = copy
    }

    private mutating func change(
      _ tx: inout StoreTransaction,
      _ pages: inout [Data: PageContents]
    ) throws {
      let key = keys.randomElement(using: &random) ?? Data()
      let page = page(key)
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1:
        #expect(try tx.upsert(M(page)) == (pages[key] == nil))
        pages[key] = page
      case 2 where pages[key] == nil:
        try tx.insert(M(page))
        pages[key] = page
      case 2: #expect(throws: StoreError.self) { try tx.insert(M(page)) }
      case 3:
        let wasThere = try tx.update(M.self, key: key) { $0.page.rank = page.rank }
        #expect(wasThere == (pages[key] != nil))
        pages[key]?.rank = page.rank
      case 4:
        try tx.edit(M.self, key: key) { $0.set(\.views, to: page.views) }
        pages[key]?.views = page.views
      case 5, 6, 7:
        #expect(try tx.delete(M.self, key: key) == (pages[key] != nil))
        pages[key] = nil
      case 8:
        let batch = (0..<20).map { _ in self.page(keys.randomElement(using: &random) ?? key) }
        try tx.upsert(contentsOf: batch.map { M($0) })
        for page in batch { pages[page.key] = page }
      default:
        let missing = keys.filter { pages[$0] == nil }.shuffled(using: &random).prefix(10)
        let batch = missing.map { self.page($0) }
        try tx.insert(contentsOf: batch.map { M($0) })
        for page in batch { pages[page.key] = page }
      }
      #expect(try tx.find(M.self, key: key)?.page == pages[key])
      #expect(try tx.find(M.self, keys: keys).map { $0?.page } == keys.map { pages[$0] })
      #expect(try tx.count(M.all) == pages.count)
    }

    mutating func check() throws {
      let hashes = pages.keys.map { XXHash64.hash(Array($0), seed: store.seed) & .max >> 1 }
      if Set(hashes).count < hashes.count { collisions += 1 }
      try store.read { tx in
        let all = try tx.fetch(M.all).map(\.page)
        #expect(all.count == pages.count)
        #expect(Dictionary(uniqueKeysWithValues: all.map { ($0.key, $0) }) == pages)
        for key in keys {
          #expect(try tx.find(M.self, key: key)?.page == pages[key])
          let views = try tx.withView(M.self, key: key) { try $0.views }
          #expect(views == pages[key]?.views)
        }
        let shuffled = keys.shuffled(using: &random)
        let found = try tx.find(M.self, keys: shuffled + shuffled.prefix(5))
        #expect(found.map { $0?.page } == (shuffled + shuffled.prefix(5)).map { pages[$0] })
        let sorted = try tx.sorted(M.all, .descending) { SortKey(try $0.title) }
        var titles: [String] = []
        try tx.forEach(sorted) { page in
          titles.append(page.page.title)
          return true
        }
        #expect(titles == pages.values.map(\.title).sorted(by: >))
        let tagged = try tx.fetch(M.where { $0.tags.contains("t1") }.order(by: \.title))
        let expected = pages.values.filter { $0.tags.contains("t1") }.sorted { $0.title < $1.title }
        #expect(tagged.map(\.page) == expected)
        var paged: [PageContents] = []
        var next: PageToken?
        repeat {
          let page = try tx.page(M.all, size: 7, after: next)
          paged += page.objects.map(\.page)
          next = page.next
        } while next != nil
        #expect(paged == all)
      }
      if Int.random(in: 0..<3, using: &random) == 0 { try follow() }
      #expect(try store.verify().problems == [])
    }

    /// Applies the changes since the last call to the replica.
    private mutating func follow() throws {
      let now = try store.historyToken()
      defer { token = now }
      guard let token else {
        replica = pages
        return
      }
      guard case .changes(let changes) = try store.changes(since: token, of: M.self) else {
        Issue.record("the history has expired")
        return
      }
      for key in changes.deleted { #expect(replica.removeValue(forKey: key) != nil) }
      for object in changes.inserted {
        #expect(replica.updateValue(object.page, forKey: object.page.key) == nil)
      }
      for update in changes.updated {
        #expect(replica.updateValue(update.object.page, forKey: update.object.page.key) != nil)
      }
      #expect(replica == pages)
    }
  }
}

extension Store {
  /// The layout of each model in the store.
  var layouts: [String: StorageLayout] {
    get throws {
      try readStored { _, schema in
        Dictionary(
          uniqueKeysWithValues: schema.models.map { ($0.tables.name, $0.tables.storage) }
        )
      }
    }
  }
}

extension CollidingKeys {
  /// Keys of which some have the same hash, some the same id, and some the ids that follow.
  var sample: [Data] {
    let hash: UInt64 = 0x1234_5678_9ABC_DEF0
    var keys: [Data] = []
    for first in 0..<4 as Range<UInt64> {
      keys.append(key(withHash: hash, first: first))
      // The same id, because the highest bit is not part of it.
      keys.append(key(withHash: hash | 1 << 63, first: first))
      keys.append(key(withHash: hash + first, first: 10))
      // The greatest id, after which the first one follows, and the hash 0.
      keys.append(key(withHash: .max, first: first))
      keys.append(key(withHash: first / 2, first: first))
    }
    return keys + (0..<10).map { Data("page \($0)".utf8) }
  }
}
