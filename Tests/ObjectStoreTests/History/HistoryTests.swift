import Foundation
import TestSupport
import Testing

@testable import LMDB
@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite(.timeLimit(.minutes(10))) struct HistoryTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self, Item.self])
  }

  private func changes(
    since token: HistoryToken,
    in store: Store? = nil
  ) throws -> ObjectChanges<Everything>? {
    guard
      case .changes(let changes) = try (store ?? self.store).changes(
        since: token,
        of: Everything.self
      )
    else { return nil }
    return changes
  }

  @Test func `each changed object is reported once, with its changed fields`() throws {
    try store.write { tx in for id in Int64(1)...5 { try tx.insert(Everything(id: id)) } }
    let token = try store.historyToken()
    #expect(try changes(since: token)?.isEmpty == true)
    try store.write { _ = try $0.update(Everything.self, key: 1) { $0.received = 5 } }
    try store.write { tx in
      try tx.update(Everything.self, key: 1) { $0.text = "one" }
      try tx.delete(Everything.self, key: 2)
      try tx.insert(Everything(id: 9))
    }
    try store.write { tx in
      try tx.delete(Everything.self, key: 9)
      try tx.insert(Everything(id: 10, text: "ten"))
      try tx.update(Everything.self, key: 10) { $0.text = "TEN" }
    }
    let changes = try #require(try changes(since: token))
    #expect(changes.deleted == [2])
    #expect(changes.inserted == [Everything(id: 10, text: "TEN")])
    #expect(changes.updated.map(\.object.id) == [1])
    #expect(changes.updated[0].object.text == "one")
    #expect(changes.updated[0].fields.names == ["text", "received"])
    #expect(changes.updated[0].fields.contains(\.received))
    #expect(!changes.updated[0].fields.contains(\.note))
    #expect(changes.token > token)
    #expect(try self.changes(since: changes.token)?.isEmpty == true)
  }

  @Test func `replacing an object with the same key reports a deletion and an insertion`() throws {
    try store.write { try $0.insert(Everything(id: 1, text: "a")) }
    let token = try store.historyToken()
    try store.write { tx in
      try tx.delete(Everything.self, key: 1)
      try tx.insert(Everything(id: 1, text: "b"))
    }
    let changes = try #require(try changes(since: token))
    #expect(changes.deleted == [1])
    #expect(changes.inserted.map(\.text) == ["b"])
  }

  @Test func `rolled-back writes and writes without changes add no history`() throws {
    try store.write { try $0.insert(Everything(id: 1)) }
    let token = try store.historyToken()
    try store.write { _ = try $0.update(Everything.self, key: 1) { _ in } }
    #expect(throws: Failure.self) {
      try store.write { tx in
        try tx.delete(Everything.self, key: 1)
        throw Failure()
      }
    }
    try store.write { tx in
      try? tx.nested { tx in
        try tx.delete(Everything.self, key: 1)
        throw Failure()
      }
    }
    #expect(try store.historyToken() == token)
  }

  @Test func `nested writes are coalesced in order`() throws {
    try store.write { try $0.insert(Everything(id: 1)) }
    let token = try store.historyToken()
    try store.write { tx in
      try tx.update(Everything.self, key: 1) { $0.flag = true }
      try tx.nested { tx in
        try tx.insert(Everything(id: 2))
        try? tx.nested { tx in
          try tx.delete(Everything.self, key: 1)
          throw Failure()
        }
        try tx.nested { _ = try $0.update(Everything.self, key: 1) { $0.count = 4 } }
      }
      try tx.update(Everything.self, key: 1) { $0.small = 4 }
      guard case .changes(let inside) = try tx.changes(since: token, of: Everything.self) else {
        throw Failure()
      }
      #expect(inside.updated.map(\.fields.names) == [["flag", "small", "count"]])
    }
    let changes = try #require(try changes(since: token))
    #expect(changes.inserted.map(\.id) == [2])
    #expect(changes.updated.map(\.fields.names) == [["flag", "small", "count"]])
  }

  @Test func `a token encoded as JSON is valid in another process`() async throws {
    try await store.write { try $0.insert(Everything(id: 1)) }
    let token = try store.historyToken()
    let kept = try JSONDecoder().decode(HistoryToken.self, from: JSONEncoder().encode(token))
    #expect(kept == token)
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let store = try Store(at: path, models: [Everything.self])
      try store.write { _ = try $0.update(Everything.self, key: 1) { $0.text = "theirs" } }
    }
    #expect(try changes(since: kept)?.updated.map(\.object.text) == ["theirs"])
  }

  @Test func `a commit beyond the change limit expires earlier tokens of that model`() throws {
    let token = try store.historyToken()
    try store.write { tx in
      for id in 0...Int64(ChangeLog.limit) { try tx.insert(Everything(id: id)) }
    }
    #expect(try changes(since: token) == nil)
    let later = try store.historyToken()
    try store.write { try $0.insert(Everything(id: -1)) }
    #expect(try changes(since: later)?.inserted.map(\.id) == [-1])
    // The history of other models is kept.
    let items = try store.changes(since: token, of: Item.self)
    guard case .changes = items else {
      Issue.record("the history of another model has expired")
      return
    }
  }

  @Test func `the history stays within its limits by dropping the oldest commits`() throws {
    for limit in [
      HistoryLimit(commits: 20, byteCount: 1 << 20), HistoryLimit(commits: 1_000, byteCount: 1_500),
    ] {
      let store = try Store(
        at: folder.path("\(limit.commits)"),
        models: [Everything.self],
        options: StoreOptions(historyLimit: limit)
      )
      var tokens = [try store.historyToken()]
      for id in Int64(0)..<200 {
        try store.write(durability: .deferred) { try $0.insert(Everything(id: id)) }
        tokens.append(try store.historyToken())
        let (entries, bytes) = try size(of: store)
        #expect(entries <= limit.commits && bytes <= limit.byteCount)
      }
      let answers = try tokens.map { try changes(since: $0, in: store)?.inserted.count }
      let firstValid = try #require(answers.firstIndex { $0 != nil })
      #expect((145...190).contains(firstValid))
      #expect(answers[firstValid...].map { $0 ?? -1 } == (0...(200 - firstValid)).reversed())
      #expect(answers[..<firstValid].allSatisfy { $0 == nil })
    }
  }

  /// When a commit exceeds the limit, the history is trimmed to seven eighths of the limit.
  @Test(arguments: [false, true])
  func `no commit is dropped before the limit is exceeded`(limitsBytes: Bool) throws {
    let path = folder.path("exact")
    let kept = 24
    // Each commit changes one object in the same way, so every entry has the same size.
    func commit(_ store: Store, _ number: Int) throws -> HistoryToken {
      let token = try store.historyToken()
      try store.write(durability: .deferred) {
        try $0.upsert(Everything(id: 1, text: "\(number % 10)"))
      }
      return token
    }
    func open(_ limit: HistoryLimit) throws -> Store {
      try Store(
        at: path,
        models: [Everything.self],
        options: StoreOptions(historyLimit: limit)
      )
    }
    let first = try open(.standard)
    _ = try commit(first, 0)
    let inserted = try size(of: first).bytes
    _ = try commit(first, 1)
    let updated = try size(of: first).bytes - inserted
    let limit = HistoryLimit(
      commits: limitsBytes ? 1_000 : kept,
      byteCount: limitsBytes ? inserted + (kept - 1) * updated : 1 << 20
    )
    let store = try open(limit)
    var tokens = try (2..<kept).map { try commit(store, $0) }
    #expect(try size(of: store).entries == kept)
    tokens.append(try commit(store, kept))
    let (entries, bytes) = try size(of: store)
    if limitsBytes {
      let least = limit.byteCount - limit.byteCount / 8
      #expect(bytes <= least && bytes + updated > least)
    } else {
      #expect(entries == kept - kept / 8)
    }
    // The first token was taken after the second commit.
    let firstValid = kept + 1 - entries - 2
    let answers = try tokens.map { try changes(since: $0, in: store) != nil }
    #expect(answers == tokens.indices.map { $0 >= firstValid })
  }

  private func size(of store: Store) throws -> (entries: Int, bytes: Int) {
    let transaction = try store.environment.beginRead()
    let database = try #require(
      try transaction.openDatabase(TableName.history, keys: .integers)
    )
    let cursor = unsafe try transaction.cursor(on: database)
    var sizes: [Int] = []
    var entry = unsafe try cursor.first()
    while let found = unsafe entry {
      sizes.append(unsafe found.value.count)
      unsafe entry = unsafe try cursor.next()
    }
    // The first entry is the floor of the history, not a commit.
    return (sizes.count - 1, sizes.dropFirst().reduce(0, +))
  }

  @Test func `a write by a program without history expires all tokens`() async throws {
    try await store.write { try $0.insert(Everything(id: 1)) }
    let token = try store.historyToken()
    await #expect(processExitsWith: .success) { [path = folder.path as String] in
      let options = StoreOptions(historyLimit: .off)
      let store = try Store(at: path, models: [Everything.self], options: options)
      for id in Int64(2)...4 { try store.write { try $0.insert(Everything(id: id)) } }
    }
    #expect(try changes(since: token) == nil)
    let off = try store.historyToken()
    #expect(try changes(since: off) == nil)
    try await store.write { try $0.insert(Everything(id: 5)) }
    #expect(try changes(since: token) == nil)
    #expect(try changes(since: off) == nil)
    let again = try store.historyToken()
    try await store.write { try $0.insert(Everything(id: 6)) }
    #expect(try changes(since: again)?.inserted.map(\.id) == [6])
  }

  @Test func `a token with the right number but another nonce is expired`() throws {
    let begin = try store.historyToken()
    #expect(try changes(since: begin) != nil)
    let other = HistoryToken(number: begin.number, nonce: begin.nonce ^ 1)
    #expect(try changes(since: other) == nil)
    try store.write { try $0.insert(Everything(id: 1)) }
    #expect(try changes(since: begin)?.inserted.count == 1)
    #expect(try changes(since: other) == nil)
  }

  @Test func `a token from a diverged copy of the store is expired`() throws {
    try store.write { try $0.insert(Everything(id: 1)) }
    let copy = folder.path("copy")
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    try FileManager.default.copyItem(atPath: folder.path("data.mdb"), toPath: copy + "/data.mdb")
    let other = try Store(at: copy, models: [Everything.self])
    let common = try store.historyToken()
    #expect(try other.historyToken() == common)
    try store.write { try $0.insert(Everything(id: 2)) }
    try other.write { try $0.insert(Everything(id: 3)) }
    let token = try store.historyToken()
    #expect(token.number == (try other.historyToken().number))
    try other.write { try $0.insert(Everything(id: 4)) }
    #expect(try changes(since: token, in: other) == nil)
    #expect(try changes(since: common, in: other)?.inserted.map(\.id) == [3, 4])
  }

  @Test func `a history entry beyond the current commit restarts the history`() throws {
    try store.write { try $0.insert(Everything(id: 1)) }
    let history = try #require(
      try StoreOpening.readSchema(
        of: store.environment,
        models: [Everything.self],
        options: StoreOptions()
      ).history
    )
    // As in a compacted copy, the entry has a number that no commit has reached yet.
    var raw = try store.environment.beginWrite()
    let bytes = HistoryEntry.encode(nonce: 1, commitSum: 9, byteSum: 100, models: [])
    try unsafe withUnsafeBytes(of: HistoryTable.Key(number: 1_000).rawValue) { key in
      try unsafe bytes.withUnsafeBytes {
        unsafe try raw.put($0, for: key, in: history.database)
      }
    }
    try raw.commit()
    let token = try store.historyToken()
    #expect(token.number == 1_000)
    try store.write { try $0.insert(Everything(id: 2)) }
    #expect(try changes(since: token) == nil)
    let later = try store.historyToken()
    #expect(later.number < 1_000)
    try store.write { try $0.insert(Everything(id: 3)) }
    #expect(try changes(since: later)?.inserted.map(\.id) == [3])
  }

  @Test(arguments: [0, 50, 1 << 63, .max - 1, .max] as [UInt64])
  func `sums of the last entry that are too great or too small do not end a writer`(
    sum: UInt64
  ) throws {
    let store = try Store(
      at: folder.path("limited"),
      models: [Everything.self],
      options: StoreOptions(historyLimit: HistoryLimit(commits: 12, byteCount: 2_000))
    )
    for id in 1...3 as ClosedRange<Int64> { try store.write { try $0.insert(Everything(id: id)) } }
    let history = try #require(try StoredSchema(store.environment).history)
    let last = try store.historyToken()
    var raw = try store.environment.beginWrite()
    let bytes = HistoryEntry.encode(nonce: last.nonce, commitSum: sum, byteSum: sum, models: [])
    try unsafe withUnsafeBytes(of: HistoryTable.Key(number: last.number).rawValue) { key in
      try unsafe bytes.withUnsafeBytes {
        unsafe try raw.put($0, for: key, in: history.database)
      }
    }
    try raw.commit()
    for id in 10...100 as ClosedRange<Int64> {
      let token = try store.historyToken()
      try store.write { try $0.insert(Everything(id: id)) }
      #expect(try changes(since: token, in: store)?.inserted.map(\.id) == [id])
    }
    // The length of the history is limited again.
    #expect(try store.read { try $0.count(Everything.all) } == 94)
    #expect(try changes(since: last, in: store) == nil)
    #expect(try store.verify().problems == [])
  }

  @Test func `changes by a program with another schema are reported with this schema's fields`()
    async throws
  {
    let store = try Store(at: folder.path("notes"), models: [OldNote.self])
    try await store.write { try $0.insert(OldNote(id: 1, text: "milk")) }
    let token = try store.historyToken()
    await #expect(processExitsWith: .success) { [path = folder.path("notes") as String] in
      let store = try Store(at: path, models: [NewNote.self])
      try store.write { _ = try $0.update(NewNote.self, key: 1) { $0.text = "eggs" } }
    }
    guard case .changes(let changes) = try store.changes(since: token, of: OldNote.self) else {
      Issue.record("the history of OldNote has expired")
      return
    }
    #expect(changes.updated.map(\.object.text) == ["eggs"])
    #expect(changes.updated.map(\.fields.names) == [["text"]])
  }

  /// Compares the store with a copy that is updated only from the history.
  @Test(arguments: 0..<8) func `a copy updated from the history equals the store`(
    seed: UInt64
  ) throws {
    var random = SplitMix64(seed: seed)
    let store = try Store(
      at: folder.path("\(seed)"),
      models: [Everything.self],
      options: StoreOptions(historyLimit: HistoryLimit(commits: 12, byteCount: 2_000))
    )
    var copy: [Int64: Everything] = [:]
    var token = try store.historyToken()
    var expired = 0
    for _ in 0..<60 {
      for _ in 0..<Int.random(in: 0...14, using: &random) {
        try store.write(durability: .deferred) { tx in
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            let id = Int64.random(in: 0..<20, using: &random)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try tx.upsert(Everything(id: id, text: "\(random.next())"))
            case 1: try tx.update(Everything.self, key: id) { $0.received += 1 }
            default: try tx.delete(Everything.self, key: id)
            }
          }
        }
      }
      try store.read { tx in
        switch try tx.changes(since: token, of: Everything.self) {
        case .changes(let changes):
          for key in changes.deleted { #expect(copy.removeValue(forKey: key) != nil) }
          for object in changes.inserted {
            #expect(copy.updateValue(object, forKey: object.id) == nil)
          }
          for update in changes.updated {
            #expect(copy.updateValue(update.object, forKey: update.object.id) != nil)
          }
          token = changes.token
        case .expired:
          expired += 1
          copy = Dictionary(uniqueKeysWithValues: try tx.fetch(Everything.all).map { ($0.id, $0) })
          token = try tx.historyToken()
        }
        let all = try tx.fetch(Everything.all)
        #expect(all.count == copy.count && all.allSatisfy { copy[$0.id] == $0 })
      }
    }
    #expect(expired > 0 && expired < 40)
  }
}
