import TestSupport
import Testing

@testable import ObjectStoreCore

/// The commits of a store without the Swift types of its models.
@Suite struct StoredHistoryTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The store, opened as a tool opens it.
  private func tool() throws -> Store {
    try Store(at: folder.path, models: [], options: StoreOptions(access: .readOnly))
  }

  private func commits(since token: HistoryToken) throws -> [StoredCommit.Changes] {
    try #require(try tool().storedHistory(since: token)).commits.flatMap(\.changes)
  }

  @Test(arguments: StorageLayout.allCases)
  func `each commit has the keys of its objects, also of those deleted later`(
    layout: StorageLayout
  ) throws {
    if layout == .byKey {
      try check { Keyed(Ticket(id: $0, seat: $1, row: $2)) as Keyed<Ticket> }
    } else {
      try check { Ticket(id: $0, seat: $1, row: $2) }
    }
  }

  private func check<M: Model>(_ make: (Int, String, Int) throws -> M) throws
  where M.PrimaryKey == Int {
    let store = try Store(at: folder.path, models: [M.self])
    let token = try store.historyToken()
    let objects = try [make(1, "a", 1), make(2, "b", 1), make(1, "c", 1)]
    try store.write { tx in
      try tx.insert(objects[0])
      try tx.insert(objects[1])
    }
    try store.write { tx in try tx.upsert(objects[2]) }
    try store.write { tx in _ = try tx.delete(M.self, key: 1) }
    try store.write { tx in try tx.insert(objects[0]) }
    let changes = try commits(since: token)
    #expect(changes.map(\.model) == ["Ticket", "Ticket", "Ticket", "Ticket"])
    #expect(Set(changes[0].inserted) == [.signed(1), .signed(2)])
    #expect(changes[1].updated == [StoredCommit.Update(key: .signed(1), fields: ["seat"])])
    #expect(changes[2].deleted == [.signed(1)] && changes[3].inserted == [.signed(1)])
    let history = try #require(try tool().storedHistory(since: token))
    #expect(history.commits.map(\.number) == history.commits.map(\.number).sorted())
    #expect(try history.token == store.historyToken())
    #expect(try tool().storedHistory(since: history.token)?.commits == [])
  }

  @Test func `an object that is replaced in one commit is changed in all fields`() throws {
    let store = try Store(at: folder.path, models: [Keyed<Ticket>.self])
    try store.write { try $0.insert(Keyed(Ticket(id: 1, seat: "a", row: 1))) }
    let token = try store.historyToken()
    try store.write { tx in
      _ = try tx.delete(Keyed<Ticket>.self, key: 1)
      try tx.insert(Keyed(Ticket(id: 1, seat: "b", row: 1)))
    }
    let changes = try commits(since: token)
    #expect(changes.map(\.updated) == [[StoredCommit.Update(key: .signed(1), fields: [])]])
    #expect(changes[0].inserted.isEmpty && changes[0].deleted.isEmpty)
  }

  @Test func `a position that the history has lost has no commits`() throws {
    let limit = StoreOptions(historyLimit: HistoryLimit(commits: 4))
    let store = try Store(at: folder.path, models: [Ticket.self], options: limit)
    let token = try store.historyToken()
    for id in 1...9 { try store.write { try $0.insert(Ticket(id: id, seat: "\(id)", row: 0)) } }
    #expect(try tool().storedHistory(since: token) == nil)
    #expect(try tool().storedHistory(since: store.historyToken())?.commits == [])
  }

  @Test func `a commit of too many objects says so`() throws {
    let limit = StoreOptions(historyLimit: HistoryLimit(byteCount: 400))
    let store = try Store(at: folder.path, models: [Ticket.self], options: limit)
    let token = try store.historyToken()
    try store.write { tx in
      for id in 1...1_000 { try tx.insert(Ticket(id: id, seat: "\(id)", row: 0)) }
    }
    let changes = try commits(since: token)
    #expect(changes == [StoredCommit.Changes(model: "Ticket", coversAllObjects: true)])
  }

  @Test(arguments: StorageLayout.allCases)
  func `a commit before one of too many objects has the keys of those that still exist`(
    layout: StorageLayout
  ) throws {
    if layout == .byKey {
      try checkCovered { Keyed(Ticket(id: $0, seat: "\($0)", row: 0)) as Keyed<Ticket> }
    } else {
      try checkCovered { Ticket(id: $0, seat: "\($0)", row: 0) }
    }
  }

  private func checkCovered<M: Model>(_ make: (Int) -> M) throws where M.PrimaryKey == Int {
    let limit = StoreOptions(historyLimit: HistoryLimit(byteCount: 400))
    let store = try Store(at: folder.path, models: [M.self], options: limit)
    try store.write { tx in for id in 1...1_000 { try tx.insert(make(id)) } }
    let token = try store.historyToken()
    try store.write { tx in
      try tx.insert(make(2_000))
      try tx.insert(make(2_001))
    }
    try store.write { tx in
      for id in Array(1...1_000) + [2_000] { _ = try tx.delete(M.self, key: id) }
    }
    let changes = try commits(since: token)
    #expect(changes.count == 2 && changes.allSatisfy(\.coversAllObjects))
    #expect(changes[0].inserted == [.signed(2_001)])
    #expect(changes[1] == StoredCommit.Changes(model: "Ticket", coversAllObjects: true))
    #expect(try tool().lastStoredCommits(2).flatMap(\.changes) == changes)
  }
}
