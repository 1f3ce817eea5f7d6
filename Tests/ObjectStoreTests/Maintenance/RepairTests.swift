import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct RepairTests {
  private func objects(_ path: String) throws -> [String: [UInt64: StoredObject]] {
    let store = try Store(at: path, models: [])
    var objects: [String: [UInt64: StoredObject]] = [:]
    for model in try store.storedModels() {
      objects[model.name] = [:]
      try store.forEachStoredObject(of: model.name) { object in
        objects[model.name]?[object.id] = object
        return true
      }
    }
    return objects
  }

  private func dataPage(_ bytes: Data, _ number: Int) -> Data {
    Data(bytes[number * 4_096..<(number + 1) * 4_096])
  }

  /// Returns the numbers of the pages with the given flags that contain the text.
  private func pages(_ bytes: Data, flags: UInt8, holding text: String) -> [Int] {
    (2..<bytes.count / 4_096).filter { number in
      let page = dataPage(bytes, number)
      return page[10] == flags && page.range(of: Data(text.utf8)) != nil
    }
  }

  @Test func `repairing an intact store copies it completely`() throws {
    let damaged = try DamagedStore()
    let before = try objects(damaged.path)
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.isComplete)
    #expect(report.models["Note"]?.saved == 360)
    #expect(report.models["Ticket"]?.saved == 400)
    #expect(try objects(target) == before)
    #expect(try Store.verify(at: target).problems == [])
    let old = try damaged.open().storedModels()
    let new = try Store(at: target, models: []).storedModels()
    #expect(old.map { $0.fields } == new.map { $0.fields })
    #expect(old.map { Set($0.indexes) } == new.map { Set($0.indexes) })
    #expect(old.map(\.layoutCount) == new.map(\.layoutCount))
    // Values that an application has derived from the seed stay valid.
    #expect(try Store(at: target, models: []).seed == damaged.open().seed)

    // Programs can continue to write, and no object id is reused.
    let program = try Store(at: target, models: [NewNote.self, Ticket.self])
    try program.write { tx in try tx.insert(NewNote(id: 1_000, text: "new", link: nil)) }
    #expect(try objects(target)["Note"]?.keys.max() == 401)
    #expect(throws: StoreError.self) {
      try program.write { tx in try tx.insert(Ticket(id: 1_000, seat: "seat 7", row: 1)) }
    }
  }

  @Test func `unreadable records are reported, and the others are saved`() throws {
    let damaged = try DamagedStore()
    let before = try objects(damaged.path)
    try damaged.edit("Ticket", .integers) { tx, table in
      for id: UInt64 in [5, 77] {
        let key = unsafe withUnsafeBytes(of: id) { unsafe Array($0) }
        try tx.put([1, 2, 3].span, for: key.span, in: table)
      }
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(!report.isComplete)
    #expect(report.models["Ticket"]?.lost == [5, 77])
    #expect(report.models["Ticket"]?.lostCount == 2)
    #expect(report.models["Ticket"]?.saved == 398)
    #expect(report.models["Note"]?.saved == 360)
    var expected = before
    expected["Ticket"]?[5] = nil
    expected["Ticket"]?[77] = nil
    #expect(try objects(target) == expected)
    #expect(try Store.verify(at: target).isValid)
  }

  @Test func `a record with a damaged id is one lost object`() throws {
    let damaged = try DamagedStore()
    try damaged.edit("Ticket", .integers) { tx, table in
      let (old, new) = unsafe (
        withUnsafeBytes(of: UInt64(200)) { unsafe Array($0) },
        withUnsafeBytes(of: UInt64(200 + 65_536)) { unsafe Array($0) }
      )
      let record: [UInt8] = try tx.withValue(for: old.span, in: table) { bytes in
        guard let bytes else { return [] }
        return bytes.indices.map { bytes[$0] }
      }
      try #require(!record.isEmpty)
      _ = try tx.delete(old.span, in: table)
      try tx.put(record.span, for: new.span, in: table)
    }
    let report = try Store.repair(at: damaged.path, into: damaged.folder.path("new"))
    let own = try #require(report.models["Ticket"])
    #expect(own.saved == 399 && own.lost == [200, 65_736] && own.lostCount == 1)
    #expect(!report.isComplete)
  }

  @Test func `an id that only a damaged primary key mentions is no lost object`() throws {
    let damaged = try DamagedStore()
    try damaged.edit("Ticket/keys", .integers) { tx, table in
      let key = unsafe withUnsafeBytes(of: UInt64(1)) { unsafe Array($0) }
      let id = unsafe withUnsafeBytes(of: UInt64(9_999)) { unsafe Array($0) }
      try tx.put(id.span, for: key.span, in: table)
    }
    let report = try Store.repair(at: damaged.path, into: damaged.folder.path("new"))
    let own = try #require(report.models["Ticket"])
    #expect(own.saved == 400 && own.lost == [9_999] && own.lostCount == 0)
  }

  @Test func `an object with lost hot fields is saved with default values for them`() throws {
    let damaged = try DamagedStore()
    let before = try objects(damaged.path)
    try damaged.edit("Note/hot", .integers) { tx, table in
      let key = unsafe withUnsafeBytes(of: 2 as UInt64) { unsafe Array($0) }
      try tx.put(Array(repeating: 9, count: 200).span, for: key.span, in: table)
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    let ids = (64..<96).filter { before["Note"]?[UInt64($0)] != nil }.map { UInt64($0) }
    #expect(report.models["Note"]?.withoutHotFields == ids)
    #expect(report.models["Note"]?.saved == 360)
    let after = try objects(target)
    #expect(after["Note"]?[65]?["stars"] == before["Note"]?[65]?["stars"])
    #expect(after["Note"]?[65]?["text"] == .string(""))
    #expect(after["Note"]?[65]?["size"] == .signed(0))
    #expect(after["Note"]?[63] == before["Note"]?[63])
    #expect(try Store.verify(at: target).isValid)
  }

  @Test func `a flipped bit in a chunk of hot fields loses the hot fields of one object`() throws {
    let damaged = try DamagedStore()
    let before = try objects(damaged.path)
    try damaged.edit("Note/hot", .integers) { tx, table in
      let key = unsafe withUnsafeBytes(of: 2 as UInt64) { unsafe Array($0) }
      var chunk: [UInt8] = try tx.withValue(for: key.span, in: table) { bytes in
        guard let bytes else { return [] }
        return bytes.indices.map { bytes[$0] }
      }
      try #require(!chunk.isEmpty)
      chunk[chunk.count - 1] ^= 1
      try tx.put(chunk.span, for: key.span, in: table)
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.models["Note"]?.withoutHotFields == [95])
    #expect(report.models["Note"]?.saved == 360)
    let after = try objects(target)
    for id in (64 as UInt64)..<95 { #expect(after["Note"]?[id] == before["Note"]?[id]) }
    #expect(after["Note"]?[95]?["stars"] == before["Note"]?[95]?["stars"])
    #expect(try Store.verify(at: target).isValid)
  }

  @Test func `of two objects with one unique value, the older is saved and the other reported`()
    throws
  {
    let damaged = try DamagedStore()
    let id = FieldSchema.id(forName: "row")
    try damaged.edit("store", .bytes) { tx, table in
      let key = Array("index/Ticket/\(id)".utf8)
      let description = IndexDescription(
        parts: [.init(fieldID: id, type: .signed(bits: 64))],
        isUnique: true
      )
      try tx.put(description.encoded.span, for: key.span, in: table)
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.models["Ticket"]?.saved == 9)
    #expect(report.skippedObjects.count == 391)
    #expect(report.models["Ticket"]?.lost == [])
    #expect(report.skippedObjects.first?.object["seat"] == .string("seat 10"))
    #expect(!report.isComplete)
  }

  @Test func `of two objects with one primary key, the older is saved and the other reported`()
    throws
  {
    let damaged = try DamagedStore()
    // Without primary key entries, existing objects are not found, so a duplicate can be inserted.
    try damaged.edit("Note/keys", .integers) { tx, table in try tx.removeAll(in: table) }
    try Store(at: damaged.path, models: [NewNote.self]).write { tx in
      try tx.insert(NewNote(id: 7, text: "duplicate", link: nil))
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.models["Note"]?.saved == 360)
    #expect(report.skippedObjects.map(\.reason) == ["object 7 has the same primary key"])
    #expect(report.skippedObjects.first?.object["text"] == .string("duplicate"))
    #expect(try Store.verify(at: target).problems == [])
  }

  @Test func `the id of a lost last object is not reused`() throws {
    let damaged = try DamagedStore()
    try damaged.edit("Ticket", .integers) { tx, table in
      let key = unsafe withUnsafeBytes(of: UInt64(400)) { unsafe Array($0) }
      try tx.put([1, 2, 3].span, for: key.span, in: table)
    }
    let target = damaged.folder.path("new")
    #expect(try Store.repair(at: damaged.path, into: target).models["Ticket"]?.lost == [400])
    try Store(at: target, models: [Ticket.self]).write { tx in
      try tx.insert(Ticket(id: 1_000, seat: "new", row: 1))
    }
    #expect(try objects(target)["Ticket"]?.keys.max() == 401)
  }

  @Test func `a destroyed leaf page loses exactly its records, and they are reported`() throws {
    let damaged = try DamagedStore()
    let before = try objects(damaged.path)
    try damaged.editFile { bytes in
      let leaf = try #require(pages(bytes, flags: 2, holding: "seat 200\u{0}").last)
      for offset in 0..<4_096 { bytes[leaf * 4_096 + offset] = 0xAA }
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.damageCount > 0)
    let after = try objects(target)
    for (model, old) in before {
      let own = try #require(report.models[model])
      let new = try #require(after[model])
      #expect(own.saved == new.count)
      #expect(Set(own.lost) == Set(old.keys).subtracting(new.keys))
      #expect(own.lostCount == old.count - new.count)
      for (id, object) in new where !own.withoutHotFields.contains(id) {
        #expect(object == old[id])
      }
    }
    #expect(try Store.verify(at: target).isValid)
  }

  @Test func `records below destroyed branch pages are recovered`() throws {
    let damaged = try DamagedStore()
    let before = try objects(damaged.path)
    try damaged.editFile { bytes in
      // Every branch page: of records, hot parts, indexes and primary keys.
      for number in 2..<bytes.count / 4_096 where dataPage(bytes, number)[10] == 1 {
        for offset in 0..<64 { bytes[number * 4_096 + offset] ^= 0x5A }
      }
    }
    #expect(try !Store.verify(at: damaged.path).isValid)
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.damageCount > 0)
    #expect(try objects(target) == before)
    #expect(report.models["Note"]?.lost == [])
    #expect(report.models["Ticket"]?.lost == [])
    #expect(try Store.verify(at: target).isValid)
  }

  @Test func `a recovered record that may belong to two models is assigned to neither`() throws {
    let damaged = try DamagedStore()
    try Store(at: damaged.path, models: [Coupon.self]).write { tx in
      for id in 1...400 { try tx.insert(Coupon(id: id, seat: "coupon \(id)")) }
    }
    try damaged.editFile { bytes in
      for number in 2..<bytes.count / 4_096 where dataPage(bytes, number)[10] == 1 {
        for offset in 0..<64 { bytes[number * 4_096 + offset] ^= 0x5A }
      }
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.models["Note"]?.saved == 360)
    #expect(report.models["Ticket"]?.saved == 0)
    #expect(report.models["Coupon"]?.saved == 0)
    #expect(report.notes.contains { $0.hasPrefix("800 entries") })
    #expect(try Store.verify(at: target).isValid)
  }

  @Test func `deleted objects are not recovered from free pages`() throws {
    let damaged = try DamagedStore()
    let store = try Store(at: damaged.path, models: [Ticket.self])
    for id in 1...200 {
      try store.write(durability: .deferred) { tx in _ = try tx.delete(Ticket.self, key: id) }
    }
    let before = try objects(damaged.path)
    try damaged.editFile { bytes in
      for number in 2..<bytes.count / 4_096 where dataPage(bytes, number)[10] == 1 {
        for offset in 0..<64 { bytes[number * 4_096 + offset] ^= 0x5A }
      }
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.models["Ticket"]?.saved == 200)
    #expect(try objects(target) == before)
  }

  @Test func `a destroyed schema page is restored from earlier commits`() throws {
    let damaged = try DamagedStore()
    let before = try objects(damaged.path)
    // A commit leaves the previous version of the page in the file.
    try damaged.edit("store", .bytes) { tx, table in
      try tx.put([0, 0, 0, 0, 0, 0, 0, 0].span, for: Array("floor/None".utf8).span, in: table)
    }
    try damaged.editFile { bytes in
      let current = pages(bytes, flags: 2, holding: "floor/None")
      #expect(current.count == 1)
      for number in current {
        for offset in 0..<16 { bytes[number * 4_096 + offset] ^= 0xFF }
      }
    }
    let target = damaged.folder.path("new")
    let report = try Store.repair(at: damaged.path, into: target)
    #expect(report.notes.count >= 1)
    #expect(try objects(target) == before)
    // A program rebuilds the indexes of its models when it opens the store.
    let program = try Store(at: target, models: [Ticket.self])
    let model = try program.storedModels().first { $0.name == "Ticket" }
    #expect(model?.indexes.map(\.entryCount) == [400, 400])
  }

  @Test func `random damage never crashes a repair, and the repaired store is valid`() throws {
    let damaged = try DamagedStore()
    let before = try objects(damaged.path)
    let bytes = try Data(contentsOf: URL(filePath: damaged.path + "/data.mdb"))
    var generator = SplitMix64(seed: 9)
    var saved = 0
    for round in 0..<25 {
      let copy = damaged.folder.path("copy\(round)")
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
      var changed = bytes
      for _ in 0..<3 {
        let page = Int.random(in: 2..<bytes.count / 4_096, using: &generator) * 4_096
        let range = Bool.random(using: &generator) ? 0..<24 : 0..<4_096
        changed[page + Int.random(in: range, using: &generator)] ^=
          UInt8.random(in: 1...255, using: &generator)
      }
      try changed.write(to: URL(filePath: copy + "/data.mdb"))
      let target = damaged.folder.path("new\(round)")
      do {
        let report = try Store.repair(at: copy, into: target)
        #expect(try Store.verify(at: target).problems == [])
        for (model, objects) in try objects(target) {
          let partial = Set(report.models[model]?.withoutHotFields ?? [])
          for (id, object) in objects where !partial.contains(id) {
            #expect(before[model]?[id] == object)
          }
          saved += objects.count
          // A damaged id is not a lost object.
          if let old = before[model], let lost = report.models[model]?.lostCount {
            #expect(lost <= max(0, old.count - objects.count), "round \(round)")
          }
        }
      } catch let error as StoreError {
        #expect(error.code == .damaged)
      }
    }
    #expect(saved > 25 * 700)
  }

  @Test func `a failed repair replaces nothing and leaves no files`() throws {
    let damaged = try DamagedStore()
    try damaged.folder.makeFile("taken/file", "mine")
    func code(_ path: String, _ target: String) -> StoreError.Code? {
      do {
        _ = try Store.repair(at: path, into: damaged.folder.path(target))
        return nil
      } catch {
        return (error as? StoreError)?.code
      }
    }
    #expect(code(damaged.path, "taken") == .alreadyExists)
    #expect(code(damaged.folder.path("none"), "new") == .notFound)
    try damaged.folder.makeFile("text/data.mdb", String(repeating: "x", count: 10_000))
    #expect(code(damaged.folder.path("text"), "new") == .damaged)
    #expect(try damaged.folder.names() == ["store", "taken", "text"])
  }
}
