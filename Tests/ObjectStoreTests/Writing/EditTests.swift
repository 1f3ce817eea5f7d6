import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite(.timeLimit(.minutes(10))) struct EditTests {
  private struct Failure: Error {}

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func makeStore(_ name: String = "store") throws -> Store {
    let path = folder.path(name) as String
    return try Store(at: path, models: [Everything.self, Item.self])
  }

  // MARK: Equivalence with updates

  @Test func `edits have the same result as updates`() throws {
    let (edited, updated) = (try makeStore("edited"), try makeStore("updated"))
    let ids = Int64(1)...70
    for store in [edited, updated] {
      try store.write { tx in for id in ids { try tx.insert(Everything(id: id)) } }
    }
    var random = SplitMix64(seed: 7)
    for _ in 0..<60 {
      let start = (try edited.historyToken(), try updated.historyToken())
      let changes = (0..<Int.random(in: 1...20, using: &random)).map { _ in
        (ids.randomElement(using: &random) ?? 1, EverythingChange.random(&random))
      }
      let oneByOne = Bool.random(using: &random)
      try edited.write(durability: .deferred) { tx in
        for (id, change) in changes {
          try tx.edit(Everything.self, key: id) { change.apply(to: &$0) }
          // A read must see the deferred changes.
          if oneByOne { _ = try tx.find(Everything.self, key: id) }
        }
      }
      try updated.write(durability: .deferred) { tx in
        for (id, change) in changes {
          try tx.update(Everything.self, key: id) { change.apply(to: &$0) }
        }
      }
      let all = (
        try edited.read { try $0.fetch(Everything.all) },
        try updated.read { try $0.fetch(Everything.all) }
      )
      try #require(all.0 == all.1)
      guard case .changes(let actual) = try edited.changes(since: start.0, of: Everything.self),
        case .changes(let expected) = try updated.changes(since: start.1, of: Everything.self)
      else {
        Issue.record("the history has expired")
        return
      }
      #expect(actual.updated.map(\.object) == expected.updated.map(\.object))
      #expect(actual.updated.map(\.fields) == expected.updated.map(\.fields))
    }
    #expect(try edited.verify().isValid)
  }

  @Test func `an edit updates the indexes`() throws {
    let store = try makeStore()
    var random = SplitMix64(seed: 3)
    let items = (1...50).map { id in
      Item(
        id: id,
        rank: id % 5,
        score: 1,
        name: "a",
        colour: .red,
        priority: .low,
        nick: nil,
        age: nil,
        tags: ["x"],
        marks: []
      )
    }
    try store.write { tx in for item in items { try tx.insert(item) } }
    for _ in 0..<200 {
      let id = Int.random(in: 1...50, using: &random)
      let rank = Int.random(in: 0...5, using: &random)
      let age: Int? = Bool.random(using: &random) ? Int.random(in: 0...3, using: &random) : nil
      try store.write(durability: .deferred) { tx in
        try tx.edit(Item.self, key: id) { item in
          item.set(\.rank, to: rank)
          item.set(\.age, to: age)
          item.set(\.tags, to: ["t\(rank)"])
        }
      }
      let found = try store.read { tx in
        (
          try tx.fetch(Item.where { $0.rank == rank }).map(\.id),
          try tx.fetch(Item.where { $0.age == age }).map(\.id),
          try tx.fetch(Item.where { $0.tags.contains("t\(rank)") }).map(\.id)
        )
      }
      #expect(found.0.contains(id) && found.1.contains(id) && found.2.contains(id))
    }
    #expect(try store.verify().isValid)
  }

  // MARK: Reading and setting

  @Test func `an editor reads the values it has set, and the last value wins`() throws {
    let store = try makeStore()
    try store.write { try $0.insert(Everything(id: 1, text: "old", received: 5, note: "n")) }
    try store.write { tx in
      try tx.edit(Everything.self, key: 1) { editor in
        let stored = (try editor.received, try editor.text, try editor.note)
        #expect(stored == (5, "old", "n"))
        editor.set(\.received, to: try editor.received + 1)
        editor.set(\.received, to: try editor.received + 1)
        editor.set(\.note, to: nil)
        editor.set(\.hotNote, to: "hot")
        editor.set(\.text, to: "first, which is longer")
        editor.set(\.text, to: "new")
        let set = (try editor.received, try editor.text, try editor.note, try editor.hotNote)
        #expect(set == (7, "new", nil, "hot"))
      }
    }
    let found = try store.read { try $0.find(Everything.self, key: 1) }
    #expect(found == Everything(id: 1, text: "new", received: 7, hotNote: "hot"))
  }

  @Test func `setting the current value makes no commit`() throws {
    let store = try makeStore()
    try store.write { try $0.insert(Everything(id: 1, text: "old", received: 5)) }
    let count = try store.commitNumber()
    try store.write { tx in
      let found = [
        try tx.edit(Everything.self, key: 1) { $0.set(\.received, to: 5) },
        try tx.edit(Everything.self, key: 1) { $0.set(\.text, to: "old") },
        try tx.edit(Everything.self, key: 1) { $0.set(\.id, to: 1) },
        try tx.edit(Everything.self, key: 1) { _ in },
      ]
      #expect(found == [true, true, true, true])
      let hasChanges = tx.hasChanges
      #expect(!hasChanges)
    }
    #expect(try store.commitNumber() == count)
  }

  @Test func `editing a missing object returns false`() throws {
    let store = try makeStore()
    try store.write { tx in
      let exists = try tx.edit(Everything.self, key: 1) { _ in Issue.record("the object is missing")
      }
      #expect(!exists)
    }
  }

  @Test func `an edit that throws or changes the key does not change the object`() throws {
    let store = try makeStore()
    let object = Everything(id: 1, text: "old", received: 5)
    try store.write { tx in
      try tx.insert(object)
      #expect(throws: Failure.self) {
        try tx.edit(Everything.self, key: 1) { editor in
          editor.set(\.received, to: 9)
          throw Failure()
        }
      }
      let error = #expect(throws: StoreError.self) {
        try tx.edit(Everything.self, key: 1) { editor in
          editor.set(\.received, to: 9)
          editor.set(\.id, to: 2)
        }
      }
      #expect(error?.code == .keyChanged)
      // Values set by a failed edit are not visible to the next edit.
      var received: Int64 = 0
      try tx.edit(Everything.self, key: 1) { received = try $0.received }
      #expect(received == 5)
    }
    #expect(try store.read { try $0.fetch(Everything.all) } == [object])
  }

  // MARK: Other layouts

  @Test
  func `an edit keeps unknown fields and reads defaults of new fields`()
    throws
  {
    let path = folder.path("labels") as String
    do {
      let store = try Store(at: path, models: [NewLabel.self])
      try store.write { try $0.insert(NewLabel(id: 1, text: "a", size: 7, link: "l")) }
    }
    do {
      let store = try Store(at: path, models: [OldLabel.self])
      try store.write { tx in
        try tx.insert(OldLabel(id: 2, text: "b"))
        try tx.edit(OldLabel.self, key: 1) { $0.set(\.text, to: "A") }
        try tx.edit(OldLabel.self, key: 1) { $0.set(\.text, to: "AA") }
      }
    }
    let store = try Store(at: path, models: [NewLabel.self])
    try store.write { tx in
      let first = try tx.find(NewLabel.self, key: 1)
      #expect(first == NewLabel(id: 1, text: "AA", size: 7, link: "l"))
      try tx.edit(NewLabel.self, key: 2) { editor in
        let size = try editor.size
        #expect(size == 42)
        editor.set(\.size, to: size + 1)
      }
      let second = try tx.find(NewLabel.self, key: 2)
      #expect(second == NewLabel(id: 2, text: "b", size: 43, link: nil))
    }
    #expect(try store.verify().isValid)
  }

  @Test func `an edit inside a nested write is rolled back with it`() throws {
    let store = try makeStore()
    try store.write { tx in
      try tx.insert(Everything(id: 1, received: 1))
      try tx.edit(Everything.self, key: 1) { $0.set(\.received, to: 2) }
      #expect(throws: Failure.self) {
        try tx.nested { tx in
          try tx.edit(Everything.self, key: 1) { $0.set(\.received, to: 3) }
          throw Failure()
        }
      }
      try tx.edit(Everything.self, key: 1) { $0.set(\.flag, to: true) }
    }
    let found = try store.read { try $0.find(Everything.self, key: 1) }
    #expect(found?.received == 2 && found?.flag == true)
  }
}

// MARK: Changes

/// A random change of some fields, which can be applied to an object and to an editor.
private struct EverythingChange: Sendable {
  var received: Int64?
  var text: String?
  var note: String??
  var hotNote: String??
  var age: Int??
  var tags: Set<String>?
  var score: Double?

  static func random(_ random: inout SplitMix64) -> Self {
    func sometimes<Value>(_ value: Value) -> Value? {
      Int.random(in: 0..<3, using: &random) == 0 ? value : nil
    }
    let number = Int.random(in: 0..<4, using: &random)
    let text = String(repeating: "x", count: number * 9)
    return Self(
      received: sometimes(Int64(number)),
      text: sometimes(text),
      note: sometimes(number == 0 ? nil : text),
      hotNote: sometimes(number == 0 ? nil : text),
      age: sometimes(number == 0 ? nil : number),
      tags: sometimes(Set(["\(number)", text])),
      score: sometimes(Double(number))
    )
  }

  func apply(to object: inout Everything) {
    if let received { object.received = received }
    if let text { object.text = text }
    if let note { object.note = note }
    if let hotNote { object.hotNote = hotNote }
    if let age { object.age = age }
    if let tags { object.tags = tags }
    if let score { object.score = score }
  }

  func apply(to editor: inout ObjectEditor<Everything>) {
    if let received { editor.set(\.received, to: received) }
    if let text { editor.set(\.text, to: text) }
    if let note { editor.set(\.note, to: note) }
    if let hotNote { editor.set(\.hotNote, to: hotNote) }
    if let age { editor.set(\.age, to: age) }
    if let tags { editor.set(\.tags, to: tags) }
    if let score { editor.set(\.score, to: score) }
  }
}

// MARK: Program versions

private struct OldLabel: Model, Equatable {
  struct Columns: Sendable {
    let text = Column<OldLabel, String>(position: 1)
  }
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Label",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("text", String.self),
    ]
  )

  var id: Int
  var text: String
  var primaryKey: Int { id }

  init(id: Int, text: String) {
    self.id = id
    self.text = text
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    text = try record.value(at: 1)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(text)
  }
}

private struct NewLabel: Model, Equatable {
  struct Columns: Sendable {
    let size = Column<NewLabel, Int>(position: 2)
  }
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Label",
    fields: [
      FieldSchema("id", Int.self, isPrimaryKey: true),
      FieldSchema("text", String.self),
      FieldSchema("size", Int.self, default: 42, isHot: true),
      FieldSchema("link", String.self, isOptional: true),
    ]
  )

  var id: Int
  var text: String
  var size: Int
  var link: String?
  var primaryKey: Int { id }

  init(id: Int, text: String, size: Int, link: String?) {
    self.id = id
    self.text = text
    self.size = size
    self.link = link
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    text = try record.value(at: 1)
    size = try record.value(at: 2)
    link = try record.optional(at: 3)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(text)
    record.encode(size)
    record.encode(link)
  }
}
