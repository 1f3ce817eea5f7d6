import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

// Verification and repair of models that are stored by key.

extension KeyedStoreTests {
  // MARK: Verification

  @Test(arguments: ["record", "key", "entry", "id"])
  func `verification finds damage`(_ what: String) throws {
    do { _ = try makeStore() }
    let path = folder.path("store")
    let environment = try Environment.open(path)
    var transaction = try environment.beginWrite()
    let name = what == "record" || what == "id" ? "Page/keyed" : "Page/keyed/keys"
    let table = try transaction.createDatabase(name, keys: .integers)
    let entry = try #require(try Self.entries(of: table, in: transaction).first)
    let (key, value) = (entry.key, entry.value)
    switch what {
    // A displaced object is no longer listed, or an object is missing that an index lists.
    case "record", "key": try transaction.delete(key.span, in: table)
    // An object is listed although its id follows from its key.
    case "entry":
      let key = unsafe withUnsafeBytes(of: 77 as UInt64) { unsafe Array($0) }
      let home = unsafe withUnsafeBytes(of: 1 as UInt64) { unsafe Array($0) }
      try transaction.put(home.span, for: key.span, in: table)
    // A record is stored under another id.
    default:
      let key = unsafe withUnsafeBytes(of: 99 as UInt64) { unsafe Array($0) }
      try transaction.put(value.span, for: key.span, in: table)
    }
    try transaction.commit()
    #expect(try !Store.verify(at: path).isValid)
  }

  private static func entries(
    of table: Database,
    in transaction: borrowing WriteTransaction
  ) throws -> [(key: [UInt8], value: [UInt8])] {
    var entries: [(key: [UInt8], value: [UInt8])] = []
    let cursor = unsafe try transaction.cursor(on: table)
    var entry = unsafe try cursor.first()
    while let found = unsafe entry {
      entries.append(unsafe (Array(found.key), Array(found.value)))
      unsafe entry = unsafe try cursor.next()
    }
    return entries
  }

  // MARK: Repair

  @Test func `repairing an intact store keeps every object and its id`() throws {
    let before = try keysByID(makeStore().store)
    let target = folder.path("repaired")
    let report = try Store.repair(at: folder.path("store"), into: target)
    #expect(report.isComplete)
    let repaired = try Store(at: target, models: [KeyedPage.self])
    #expect(try keysByID(repaired) == before)
    #expect(try repaired.layouts == ["Page": .byKey])
    #expect(try repaired.verify().problems == [])
  }

  @Test func `a store whose seed is lost keeps its ids, and lists all of them`() throws {
    let (before, pages) = try { () throws in
      let (store, pages) = try makeStore()
      return (try keysByID(store), pages)
    }()
    let path = folder.path("store")
    do {
      let environment = try Environment.open(path)
      var transaction = try environment.beginWrite()
      let table = try transaction.createDatabase("store")
      try transaction.delete(Array("seed".utf8).span, in: table)
      try transaction.commit()
    }
    let target = folder.path("repaired")
    _ = try Store.repair(at: path, into: target)
    let repaired = try Store(at: target, models: [KeyedPage.self])
    #expect(try keysByID(repaired) == before)
    #expect(try repaired.verify().problems == [])
    try repaired.write { tx in
      for page in pages {
        let found = try tx.find(KeyedPage.self, key: page.primaryKey)
        #expect(found?.page == page.page)
        let wasThere = try tx.delete(KeyedPage.self, key: page.primaryKey)
        #expect(wasThere)
      }
      try tx.insert(contentsOf: pages)
    }
    #expect(try repaired.verify().problems == [])
  }

  @Test func `objects without a description are read as the program stores them`() throws {
    let before = try { () throws in try keysByID(makeStore().store) }()
    let path = folder.path("store")
    do {
      let environment = try Environment.open(path)
      var transaction = try environment.beginWrite()
      try transaction.removeAll(in: try transaction.createDatabase("store"))
      try transaction.commit()
    }
    let target = folder.path("repaired")
    #expect(throws: StoreError.self) { try Store.repair(at: path, into: target) }
    let report = try Store.repair(at: path, into: target, models: [KeyedPage.self])
    #expect(report.models["Page"]?.saved == before.count && !report.isComplete)
    let repaired = try Store(at: target, models: [KeyedPage.self])
    #expect(try keysByID(repaired) == before)
    #expect(try repaired.verify().problems == [])
  }

  @Test func `of two records with one key, repair saves the first and reports the other`() throws {
    do { _ = try makeStore() }
    let path = folder.path("store")
    do {
      let environment = try Environment.open(path)
      var transaction = try environment.beginWrite()
      let table = try transaction.createDatabase("Page/keyed", keys: .integers)
      var (_, copy) = try #require(try Self.entries(of: table, in: transaction).last)
      let id = UInt64.max / 2 - 1_000
      let checksum = unsafe copy.withUnsafeBytes {
        unsafe RecordHeader.checksum(of: $0, seed: id)
      }
      for byte in 0..<4 { copy[byte] = UInt8(truncatingIfNeeded: checksum >> UInt32(8 * byte)) }
      let key = unsafe withUnsafeBytes(of: id) { unsafe Array($0) }
      try transaction.put(copy.span, for: key.span, in: table)
      try transaction.commit()
    }
    let target = folder.path("repaired")
    let report = try Store.repair(at: path, into: target)
    #expect(report.skippedObjects.count == 1)
    #expect(try Store.verify(at: target).problems == [])
  }
}
