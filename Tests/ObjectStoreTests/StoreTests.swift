import Foundation
import TestSupport
import Testing

@testable import LMDB
@testable import ObjectStoreCore

@Suite struct StoreTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path + "/a/b", models: [Everything.self])
  }

  private func get(_ key: Int64) throws -> Everything? {
    try store.read { try $0.find(Everything.self, key: key) }
  }

  @Test func `an object with every type of field round-trips`() throws {
    let plain = Everything(id: 2)
    try store.write { tx in
      try tx.insert(Everything.full)
      try tx.insert(plain)
    }
    #expect(try get(7) == .full)
    #expect(try get(2) == plain)
    #expect(try get(3) == nil)
    #expect(try store.read { try $0.contains(Everything.self, key: 7) })
    #expect(try store.read { try $0.fetch(Everything.all) } == [.full, plain])
  }

  @Test func `only the owner reads a new folder, and the umask decides about its parents`() throws {
    func mode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }
    let other = folder.path + "/other"
    try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
    #expect(try mode(folder.path + "/a/b") == 0o700)
    #expect(try mode(folder.path + "/a") == mode(other))
  }

  @Test func `inserting an existing key throws duplicateKey, and upserting replaces it`() throws {
    try store.write { try $0.insert(Everything(id: 1, text: "old")) }
    let error = #expect(throws: StoreError.self) {
      try store.write { try $0.insert(Everything(id: 1, text: "new")) }
    }
    #expect(error?.code == .duplicateKey)
    #expect(try store.write { try $0.upsert(Everything(id: 1, text: "new")) } == false)
    #expect(try store.write { try $0.upsert(Everything(id: 2)) } == true)
    #expect(try get(1)?.text == "new")
    #expect(try store.read { try $0.count(Everything.all) } == 2)
  }

  @Test func `update changes the object and returns whether it exists`() throws {
    try store.write { try $0.insert(Everything(id: 1)) }
    let found = try store.write { try $0.update(Everything.self, key: 1) { $0.received += 5 } }
    let missing = try store.write { try $0.update(Everything.self, key: 2) { $0.received += 5 } }
    #expect(found && !missing)
    #expect(try get(1)?.received == 5)
  }

  @Test func `an update of the primary key throws keyChanged`() throws {
    try store.write { try $0.insert(Everything(id: 1)) }
    let error = #expect(throws: StoreError.self) {
      try store.write { _ = try $0.update(Everything.self, key: 1) { $0.id = 2 } }
    }
    #expect(error?.code == .keyChanged)
    #expect(try get(1) != nil)
  }

  @Test func `deleting by key and by query removes the objects`() throws {
    try store.write { tx in for id in 1...10 { try tx.insert(Everything(id: Int64(id))) } }
    #expect(try store.write { try $0.delete(Everything.self, key: 3) })
    #expect(try store.write { try $0.delete(Everything.self, key: 3) } == false)
    #expect(try store.write { try $0.delete(Everything.where { $0.id > 5 }) } == 5)
    #expect(try store.read { try $0.fetch(Everything.all).map(\.id) } == [1, 2, 4, 5])
  }

  @Test func `a write that throws is rolled back`() throws {
    try store.write { try $0.insert(Everything(id: 1)) }
    #expect(throws: Failure.self) {
      try store.write { tx in
        try tx.delete(Everything.self, key: 1)
        try tx.insert(Everything(id: 2))
        throw Failure()
      }
    }
    #expect(try store.read { try $0.fetch(Everything.all).map(\.id) } == [1])
  }

  @Test func `a write sees its own changes`() throws {
    let count = try store.write { tx in
      try tx.insert(Everything(id: 1))
      return try tx.count(Everything.all)
    }
    #expect(count == 1)
  }

  @Test func `beginning a write inside a write throws wouldDeadlock`() throws {
    let error = #expect(throws: StoreError.self) {
      try store.write { tx in
        try tx.insert(Everything(id: 1))
        try store.write { try $0.insert(Everything(id: 2)) }
      }
    }
    #expect(error?.code == .wouldDeadlock)
    #expect(try store.read { try $0.count(Everything.all) } == 0)
  }

  @Test func `an update without changes makes no commit`() throws {
    try store.write { try $0.insert(Everything.full) }
    let before = try store.commitNumber()
    try store.write { _ = try $0.upsert(Everything.full) }
    try store.write { _ = try $0.update(Everything.self, key: 7) { _ in } }
    #expect(try store.commitNumber() == before)
    try store.write { _ = try $0.update(Everything.self, key: 7) { $0.age = 3 } }
    #expect(try store.commitNumber() == before + 1)
  }

  @Test func `changing a hot field does not rewrite the cold part`() throws {
    try store.write { try $0.insert(Everything.full) }
    let before = try parts(ofFirst: "Everything")
    try store.write { _ = try $0.update(Everything.self, key: 7) { $0.received = 9 } }
    let after = try parts(ofFirst: "Everything")
    #expect(before.cold == after.cold)
    #expect(before.hot != after.hot)
  }

  private func parts(ofFirst model: String) throws -> (cold: [UInt8], hot: [UInt8]) {
    let transaction = try store.environment.beginRead()
    func first(_ name: String) throws -> [UInt8] {
      let database = try #require(try transaction.openDatabase(name, keys: .integers))
      return unsafe try transaction.cursor(on: database).first().map { unsafe Array($0.value) }
        ?? []
    }
    return (try first(model), try first(model + "/hot"))
  }

  @Test func `object ids are never reused`() throws {
    func ids() throws -> [UInt64] {
      let transaction = try store.environment.beginRead()
      let database = try #require(try transaction.openDatabase("Everything", keys: .integers))
      let cursor = unsafe try transaction.cursor(on: database)
      var ids: [UInt64] = []
      var entry = unsafe try cursor.first()
      while let found = unsafe entry {
        ids.append(unsafe found.key.loadUnaligned(as: UInt64.self))
        unsafe entry = unsafe try cursor.next()
      }
      return ids
    }
    try store.write { tx in for id in 1...5 { try tx.insert(Everything(id: Int64(id))) } }
    try store.write { tx in for id in [5, 4, 2] { try tx.delete(Everything.self, key: Int64(id)) } }
    try store.write { try $0.insert(Everything(id: 6)) }
    #expect(try ids() == [1, 3, 6])
    try store.write { _ = try $0.delete(Everything.all) }
    try store.write { try $0.insert(Everything(id: 7)) }
    #expect(try ids() == [7])
  }

  @Test func `keys with the same hash are distinguished`() throws {
    try store.write { tx in
      try tx.insert(Everything(id: 1, text: "one"))
      try tx.insert(Everything(id: 2, text: "two"))
    }
    // Simulates that both keys have the hash of the first key: its list has both objects.
    let schema = try StoreOpening.readSchema(
      of: store.environment,
      models: [Everything.self],
      options: StoreOptions()
    )
    let tables = try #require(try schema.tables(of: Everything.self))
    var key = ByteWriter()
    key.write(1 as Int64)
    var hash = ByteWriter()
    hash.write(XXHash64.hash(key.bytes, seed: tables.hashSeed))
    var list = ByteWriter()
    list.write(2 as UInt64)
    list.write(1 as UInt64)
    var transaction = try store.environment.beginWrite()
    try transaction.put(list.bytes.span, for: hash.bytes.span, in: tables.keys)
    try transaction.commit()

    #expect(try get(1)?.text == "one")
    #expect(try store.write { try $0.delete(Everything.self, key: 1) })
    #expect(try get(1) == nil)
    #expect(try get(2)?.text == "two")
    let left = try store.environment.beginRead().withValue(for: hash.bytes.span, in: tables.keys) {
      $0?.count
    }
    #expect(left == 8)
  }

  @Test func `reading a model that was not passed to open throws unknownModel`() throws {
    let error = #expect(throws: StoreError.self) {
      try store.read { try $0.count(Item.all) }
    }
    #expect(error?.code == .unknownModel)
  }

  @Test func `the asynchronous overloads read, write and roll back`() async throws {
    let added = try await store.write { try $0.upsert(Everything(id: 1, text: "a")) }
    #expect(added)
    let text = try await store.read { try $0.find(Everything.self, key: 1)?.text }
    #expect(text == "a")
    await #expect(throws: Failure.self) {
      try await store.write { tx in
        try tx.insert(Everything(id: 2))
        throw Failure()
      }
    }
    #expect(try await store.read { try $0.count(Everything.all) } == 1)
  }
}
