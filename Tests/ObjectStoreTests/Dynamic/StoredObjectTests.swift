import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore

@Suite struct StoredObjectTests {
  @Test func `objects can be read without their Swift type`() throws {
    let folder = try TemporaryFolder()
    let full = Everything.full
    try Store(at: folder.path, models: [Everything.self]).write { tx in
      try tx.insert(full)
      try tx.insert(Everything())
    }
    let store = try Store(at: folder.path, models: [])
    let models = try store.storedModels()
    #expect(models.map(\.name) == ["Everything"])
    let model = try #require(models.first)
    #expect(model.fields.map(\.name) == Everything.schema.fields.map(\.name))
    #expect(model.fields.map(\.type) == Everything.schema.fields.map(\.type))
    #expect(model.fields.filter(\.isHot).map(\.name) == ["received", "hotNote"])
    #expect(model.fields.filter(\.isPrimaryKey).map(\.name) == ["id"])
    #expect(model.fields.filter(\.isOptional).map(\.name) == ["note", "age", "hotNote"])
    #expect(model.objectCount == 2)
    #expect(model.layoutCount == 1)
    #expect(model.indexes == [])

    var objects: [StoredObject] = []
    try store.forEachStoredObject(of: "Everything") { object in
      objects.append(object)
      return true
    }
    #expect(objects.map(\.id) == [1, 2])
    let first = try #require(objects.first)
    #expect(first["id"] == .signed(7))
    #expect(first["tiny"] == .signed(-3))
    #expect(first["count"] == .unsigned(.max))
    #expect(first["date"] == .date(full.date))
    #expect(first["uuid"] == .uuid(full.uuid))
    #expect(first["colour"] == .string("blue"))
    #expect(first["list"] == .array([.string("b"), .string(""), .string("a")]))
    #expect(first["received"] == .signed(1 << 40))
    #expect(first["hotNote"] == .string("hot"))
    #expect(objects.last?["hotNote"] == .null)
    #expect(first["nothing"] == nil)
  }

  @Test func `fields that the schema of the program lacks are read by name`() throws {
    let folder = try TemporaryFolder()
    let new = try Store(at: folder.path, models: [NewNote.self])
    try new.write { tx in
      try tx.insert(NewNote(id: 1, stars: 4, text: "a", link: nil))
      try tx.insert(NewNote(id: 2, stars: 5, text: "b", link: "x"))
    }
    let old = try Store(at: folder.path, models: [OldNote.self])
    try old.write { tx in
      try tx.update(OldNote.self, key: 1) { $0.text = "changed" }
      try tx.insert(OldNote(id: 3, text: "c"))
    }
    var objects: [StoredObject] = []
    try old.forEachStoredObject(of: "Note") { object in
      objects.append(object)
      return true
    }
    #expect(objects.count == 3)
    #expect(objects[0]["text"] == .string("changed"))
    #expect(objects[0]["stars"] == .signed(4))
    #expect(objects[0]["link"] == .null)
    #expect(objects[1]["link"] == .string("x"))
    // A schema without `stars` wrote this object, so it has the default.
    #expect(Set(objects[2].fields.map(\.name)) == ["id", "text", "stars", "tags", "size", "link"])
    #expect(objects[2]["stars"] == .signed(3) && objects[2]["link"] == .string("unset"))
    let model = try #require(try old.storedModels().first)
    #expect(model.layoutCount == 2)
    #expect(Set(model.fields.map(\.name)) == ["id", "stars", "tags", "text", "size", "link"])
    #expect(model.indexes.map(\.entryCount).sorted() == [0, 3])
  }

  @Test func `enumeration starts at the given id and stops when the body returns false`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [OldNote.self])
    try store.write { tx in for id in 1...9 { try tx.insert(OldNote(id: id, text: "")) } }
    var ids: [UInt64] = []
    try store.forEachStoredObject(of: "Note", from: 4) { object in
      ids.append(object.id)
      return object.id < 6
    }
    #expect(ids == [4, 5, 6])
    let error = #expect(throws: StoreError.self) {
      try store.forEachStoredObject(of: "Other") { _ in true }
    }
    #expect(error?.code == .unknownModel)
  }
}
