import Foundation
import TestSupport
import Testing

@testable import LMDB
@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

/// Tests that queries see what an object shows, for fields that are younger than the object.
@Suite struct AddedFieldTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Adds objects of the first version with the ids 1 to `count`.
  private func addOld(_ count: Int = 3) throws {
    try folder.open(OldGadget.self).write { tx in
      for id in 1...count { try tx.insert(OldGadget(id)) }
    }
  }

  /// Checks that conditions, sums, sorts and groups agree with the objects.
  private func check<Version: GadgetVersion>(_ version: Version.Type, _ store: Store) throws {
    typealias New = Gadget<Version>
    let conditions: [(Query<New>, (New) -> Bool)] = [
      (New.where { $0.isActive == true }, { $0.isActive }),
      (New.where { !($0.isActive == true) }, { !$0.isActive }),
      (New.where { $0.level == 3 }, { $0.level == 3 }),
      (New.where { $0.level != 3 }, { $0.level != 3 }),
      (New.where { $0.level > 2 }, { $0.level > 2 }),
      (New.where { $0.level < 3 }, { $0.level < 3 }),
      (New.where { $0.level == 3 && $0.isActive == true }, { $0.level == 3 && $0.isActive }),
      (New.where { $0.level == 3 || $0.id == 1 }, { $0.level == 3 || $0.id == 1 }),
      (New.where { $0.nick == "nick" }, { $0.nick == "nick" }),
      (New.where { $0.nick == nil }, { $0.nick == nil }),
      (New.where { $0.nick != nil }, { $0.nick != nil }),
      (New.where { $0.nick.hasPrefix("n") }, { $0.nick?.hasPrefix("n") == true }),
      (New.where { $0.tags.contains("a") }, { $0.tags.contains("a") }),
      (New.where { !$0.tags.contains("a") }, { !$0.tags.contains("a") }),
    ]
    try store.read { tx in
      let all = try tx.fetch(New.all)
      for (number, (query, test)) in conditions.enumerated() {
        let expected = all.filter(test).map(\.id)
        let found = try tx.fetch(query).map(\.id).sorted()
        let count = try tx.count(query)
        #expect(found == expected, "\(Version.self) \(number)")
        #expect(count == expected.count, "\(Version.self) \(number)")
      }
      let sum = try tx.sum(New.all, of: \.level)
      let greatest = try tx.max(New.all, of: \.level)
      let levels = try tx.distinct(New.all, \.level)
      let sections = try tx.sections(New.all, by: \.isActive)
      #expect(sum == all.map(\.level).reduce(0, +))
      #expect(greatest == all.map(\.level).max())
      #expect(levels == Set(all.map(\.level)).sorted())
      #expect(sections.map(\.count).reduce(0, +) == all.count)
      #expect(sections.first { $0.value == true }?.count == all.count { $0.isActive })
      let sorted = try tx.fetch(New.all.order(by: \.level, .descending)).map(\.level)
      #expect(sorted == all.map(\.level).sorted(by: >))
      var paged: [Int] = []
      var token: PageToken?
      repeat {
        let page = try tx.page(New.all.order(by: \.level), size: 2, after: token)
        paged += page.objects.map(\.level)
        token = page.next
      } while token != nil
      #expect(paged == all.map(\.level).sorted())
      for object in all {
        let level = try tx.withView(New.self, key: object.id) { try $0.level }
        #expect(level == object.level)
      }
    }
    #expect(try store.verify().problems == [])
  }

  private func checkAfterAll<Version: GadgetVersion>(_ version: Version.Type) throws {
    typealias New = Gadget<Version>
    try addOld()
    let store = try folder.open(New.self)
    var expected = New(1)
    expected.name = "old 1"
    #expect(try store.read { try $0.find(New.self, key: 1) } == expected)
    try check(version, store)
    try store.write { tx in
      for (id, level) in [(10, 3), (11, 7), (12, 1)] {
        var object = New(id)
        object.level = level
        object.isActive = id == 11
        object.nick = id == 10 ? nil : "n\(id)"
        object.tags = id == 12 ? [] : ["a"]
        try tx.insert(object)
      }
    }
    try check(version, store)
    // The first program runs beside it.
    let old = try folder.open(OldGadget.self)
    try old.write { tx in
      try tx.insert(OldGadget(20))
      try tx.update(OldGadget.self, key: 2) { $0.name = "changed" }
      try tx.update(OldGadget.self, key: 11) { $0.name = "changed" }
      try tx.delete(OldGadget.self, key: 3)
    }
    try check(version, store)
    try store.write { tx in
      try tx.update(New.self, key: 1) { $0.level = 5 }
      try tx.update(New.self, key: 2) { $0.isActive = false }
      try tx.edit(New.self, key: 20) { $0.set(\.level, to: try $0.level + 1) }
    }
    #expect(try store.read { try $0.find(New.self, key: 20)?.level } == 4)
    try check(version, store)
  }

  @Test(arguments: Added.versions)
  func `queries see the default of a field in objects that are older`(
    _ version: any GadgetVersion.Type
  ) throws {
    try checkAfterAll(version)
  }

  @Test func `an added field needs no rewriting of the objects`() throws {
    try addOld()
    let layouts = { [path = folder.path as String] () throws -> [UInt16] in
      try Store.readStored(Environment.open(path)) { transaction, schema in
        let tables = try #require(schema.models.first).tables
        let reader = unsafe ModelReader(
          transaction: TransactionReference(transaction),
          tables: tables
        )
        var numbers: [UInt16] = []
        unsafe try reader.forEachRecord { _, record in
          numbers.append(unsafe record.binding.number)
          return true
        }
        return numbers
      }
    }
    _ = try folder.open(Gadget<Added.All>.self)
    #expect(try layouts() == [1, 1, 1])
  }

  @Test func `objects of an older program in a new store have the default`() throws {
    let store = try folder.open(Gadget<Added.Indexed>.self)
    try addOld()
    try check(Added.Indexed.self, store)
    let plan = try store.read { try $0.explain(Gadget<Added.Indexed>.where { $0.level == 3 }) }
    #expect(plan.description.hasPrefix("index (level)"))
  }

  // MARK: Several programs

  @Test func `the first default that is stored counts for every program`() throws {
    try addOld()
    _ = try folder.open(Gadget<Added.Plain>.self)
    let store = try folder.open(Gadget<Added.OtherDefault>.self)
    try check(Added.OtherDefault.self, store)
    #expect(try store.read { try $0.find(Gadget<Added.OtherDefault>.self, key: 1)?.level } == 3)
    let first = try folder.open(Gadget<Added.Plain>.self)
    try check(Added.Plain.self, first)
  }

  @Test func `a program that only reads uses its own default until the store has one`() throws {
    try addOld()
    let options = StoreOptions(access: .readOnly)
    do {
      let store = try Store(
        at: folder.path,
        models: [Gadget<Added.OtherDefault>.self],
        options: options
      )
      try check(Added.OtherDefault.self, store)
      #expect(try store.read { try $0.find(Gadget<Added.OtherDefault>.self, key: 1)?.level } == 9)
    }
    _ = try folder.open(Gadget<Added.Indexed>.self)
    let store = try Store(
      at: folder.path,
      models: [Gadget<Added.OtherDefault>.self],
      options: options
    )
    try check(Added.OtherDefault.self, store)
    #expect(try store.read { try $0.find(Gadget<Added.OtherDefault>.self, key: 1)?.level } == 3)
  }

  @Test func `indexes and columns that were built without defaults are built again`() throws {
    try addOld()
    let before = try folder.open(Gadget<Added.WithoutDefaults>.self)
    try before.write { try $0.insert(Gadget<Added.WithoutDefaults>(10)) }
    do {
      // A program that only reads does not use them.
      let copy = try TemporaryFolder()
      try FileManager.default
        .copyItem(atPath: folder.path("data.mdb"), toPath: copy.path("data.mdb"))
      let reader = try Store(
        at: copy.path,
        models: [Gadget<Added.All>.self],
        options: StoreOptions(access: .readOnly)
      )
      try check(Added.All.self, reader)
    }
    let store = try folder.open(Gadget<Added.Indexed>.self)
    try check(Added.Indexed.self, store)
    let plan = try store.read { try $0.explain(Gadget<Added.Indexed>.where { $0.level == 3 }) }
    #expect(plan.description.hasPrefix("index (level)"))
    try check(Added.All.self, try folder.open(Gadget<Added.All>.self))
    // The program that is still open maintains them.
    try before.write { tx in
      try tx.insert(Gadget<Added.WithoutDefaults>(11))
      try tx.update(Gadget<Added.WithoutDefaults>.self, key: 1) { $0.name = "changed" }
      try tx.delete(Gadget<Added.WithoutDefaults>.self, key: 2)
    }
    try check(Added.Indexed.self, store)
  }

  @Test func `an index that is built in the background has the defaults`() async throws {
    try addOld(60)
    var options = StoreOptions()
    options.indexBuilding = .inBackground(above: 10)
    let store = try Store(
      at: folder.path,
      models: [Gadget<Added.Indexed>.self],
      options: options
    )
    while try !store.indexBuilds().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    let plan = try await store.read {
      try $0.explain(Gadget<Added.Indexed>.where { $0.level == 3 })
    }
    #expect(plan.description.hasPrefix("index (level)"))
    try check(Added.Indexed.self, store)
  }

  @Test func `a unique field with a default cannot be added to several objects`() throws {
    try addOld(1)
    try check(Added.Unique.self, folder.open(Gadget<Added.Unique>.self))
    let error = #expect(throws: StoreError.self) {
      try folder.open(Gadget<Added.Unique>.self).write { try $0.insert(Gadget<Added.Unique>(2)) }
    }
    #expect(error?.code == .duplicateKey)
    let other = try TemporaryFolder()
    try other.open(OldGadget.self).write { tx in
      for id in 1...2 { try tx.insert(OldGadget(id)) }
    }
    let openError = #expect(throws: StoreError.self) { try other.open(Gadget<Added.Unique>.self) }
    #expect(openError?.code == .duplicateKey)
    #expect(openError?.message.contains("two objects of Gadget have the same level") == true)
    // The store is unchanged.
    #expect(try other.open(OldGadget.self).read { try $0.count(OldGadget.all) } == 2)
  }

  // MARK: Other readers

  @Test func `observers see the default`() async throws {
    try addOld()
    typealias New = Gadget<Added.Plain>
    let store = try folder.open(New.self)
    var changes = store.observe(New.where { $0.level == 3 }).makeAsyncIterator()
    let first = try #require(try await changes.next())
    #expect(first.snapshot.map(\.id) == [1, 2, 3])
    try await store.write { try $0.update(New.self, key: 2) { $0.level = 4 } }
    let second = try #require(try await changes.next())
    #expect(second.deletions == [1] && second.snapshot.map(\.id) == [1, 3])
    try await folder.open(OldGadget.self).write { try $0.insert(OldGadget(9)) }
    let third = try #require(try await changes.next())
    #expect(third.insertions == [2] && third.snapshot.map(\.id) == [1, 3, 9])
  }

  @Test func `tools without the models see the default`() throws {
    try addOld()
    let store = try folder.open(Gadget<Added.Indexed>.self)
    var levels: [StoredValue?] = []
    try store.forEachStoredObject(of: "Gadget") { object in
      levels.append(object["level"])
      return true
    }
    #expect(levels == [.signed(3), .signed(3), .signed(3)])
    let file = folder.path + "/export"
    try store.exportJSONLines(to: file)
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count { $0.contains("\"level\":3") && $0.contains("\"isActive\":true") } == 3)
  }

  @Test func `a repaired store and a compacted one keep the defaults`() throws {
    try addOld()
    do { _ = try folder.open(Gadget<Added.Plain>.self) }
    try Store.compact(at: folder.path)
    let repaired = try TemporaryFolder()
    _ = try Store.repair(at: folder.path, into: repaired.path + "/store")
    let store = try Store(at: repaired.path + "/store", models: [Gadget<Added.OtherDefault>.self])
    try check(Added.OtherDefault.self, store)
    #expect(try store.read { try $0.find(Gadget<Added.OtherDefault>.self, key: 1)?.level } == 3)
  }
}
