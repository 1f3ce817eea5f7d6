import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance

@Suite struct CheckedUpdateTests {
  let folder: TemporaryFolder
  let store: Store

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(at: folder.path, models: [Everything.self])
  }

  private func get(_ key: Int64) throws -> Everything? {
    try store.read { try $0.find(Everything.self, key: key) }
  }

  /// Expects the write to throw `conflict` without a commit, and returns the cause.
  private func conflict(_ body: (inout StoreTransaction) throws -> Void) throws -> UpdateConflict? {
    let before = try store.commitNumber()
    let error = #expect(throws: StoreError.self) { try store.write(body) }
    #expect(error?.code == .conflict)
    #expect(try store.commitNumber() == before)
    return error?.cause as? UpdateConflict
  }

  @Test func `the edits cover every field of the model`() {
    #expect(FieldEdit.all.map(\.name) == Everything.schema.fields.dropFirst().map(\.name))
    #expect(FieldEdit.all.map(\.isHot) == Everything.schema.fields.dropFirst().map(\.isHot))
  }

  @Test(arguments: FieldEdit.all)
  func `an edit of an unchanged object writes only the edited field`(
    edit: FieldEdit
  ) throws {
    let original = Everything(id: 7)
    try store.write { try $0.insert(original) }
    let token = try store.historyToken()
    var edited = original
    edit.set(&edited, 5)
    try store.write { try $0.update(original, to: edited) }
    #expect(try get(7) == edited)
    guard case .changes(let changes) = try store.changes(since: token, of: Everything.self) else {
      Issue.record("the history has expired")
      return
    }
    #expect(changes.updated.map(\.fields.names) == [[edit.name]])
  }

  @Test(arguments: FieldEdit.all)
  func `an edit of a changed object throws conflict with the changed fields`(
    edit: FieldEdit
  ) throws {
    let original = Everything(id: 7)
    var stored = original
    edit.set(&stored, 5)
    try store.write { try $0.insert(stored) }
    var edited = original
    edited.text = "edited"
    edited.received = 99
    let conflict = try conflict { try $0.update(original, to: edited) }
    let expected = UpdateConflict(
      model: "Everything",
      key: "7",
      fields: [edit.name],
      isDeleted: false
    )
    #expect(conflict == expected)
    #expect(try get(7) == stored)
  }

  @Test func `the conflict message names the fields and the remedy`() throws {
    try store.write { try $0.insert(Everything(id: 7, text: "a", received: 1)) }
    let error = #expect(throws: StoreError.self) {
      try store.write { try $0.update(Everything(id: 7), to: Everything(id: 7)) }
    }
    #expect(
      error?.message == """
        Everything 7 was changed in text, received since it was read; nothing was written: read it \
        again and repeat the edit
        """
    )
  }

  @Test func `an edit of a deleted object throws conflict, whatever columns are checked`() throws {
    let original = Everything(id: 7)
    let expected = UpdateConflict(model: "Everything", key: "7", fields: [], isDeleted: true)
    #expect(try conflict { try $0.update(original, to: .full) } == expected)
    #expect(try conflict { try $0.update(original, to: .full, checking: []) } == expected)
    #expect(try conflict { try $0.update(original, to: .full, checking: [\.age]) } == expected)
  }

  @Test func `an object that was changed back to the same values is unchanged`() throws {
    try store.write { try $0.insert(Everything.full) }
    try store.write { tx in
      try tx.delete(Everything.self, key: 7)
      try tx.insert(Everything.full)
    }
    var edited = Everything.full
    edited.age = nil
    try store.write { [edited] in try $0.update(.full, to: edited) }
    #expect(try get(7) == edited)
  }

  @Test func `NaN is not a conflict with NaN`() throws {
    let original = Everything(id: 7, ratio: .nan, score: -.infinity)
    try store.write { try $0.insert(original) }
    var edited = original
    edited.text = "edited"
    try store.write { [edited] in try $0.update(original, to: edited) }
    #expect(try get(7)?.text == "edited")
  }

  @Test func `an edit without changes writes nothing`() throws {
    try store.write { try $0.insert(Everything.full) }
    let before = try store.commitNumber()
    try store.write { try $0.update(.full, to: .full as Everything) }
    #expect(try store.commitNumber() == before)
  }

  @Test func `editing the primary key throws keyChanged`() throws {
    try store.write { try $0.insert(Everything.full) }
    var edited = Everything.full
    edited.id = 8
    for columns in [nil, [], [\.text]] as [[PartialKeyPath<Everything.Columns>]?] {
      let error = #expect(throws: StoreError.self) {
        try store.write { tx in
          // Another field differs, so that the update with checked columns merges.
          try tx.update(Everything.self, key: 7) { $0.received += columns == nil ? 0 : 1 }
          if let columns {
            try tx.update(.full, to: edited, checking: columns)
          } else {
            try tx.update(.full, to: edited)
          }
        }
      }
      #expect(error?.code == .keyChanged)
    }
    #expect(try get(7) == .full)
    #expect(try get(8) == nil)
  }

  @Test func `an edit sees the writes of its own transaction`() throws {
    try store.write { try $0.insert(Everything.full) }
    var first = Everything.full
    first.received = 1
    first.text = "first"
    var second = first
    second.received = 2
    second.list = []
    try store.write { tx in
      try tx.update(.full, to: first)
      try tx.update(first, to: second)
      let error = #expect(throws: StoreError.self) { try tx.update(first, to: .full) }
      #expect((error?.cause as? UpdateConflict)?.fields == ["list", "received"])
    }
    #expect(try get(7) == second)
  }

  // MARK: Chosen columns

  @Test func `only the chosen columns are checked, and only edited fields are written`() throws {
    var generator = SplitMix64(seed: 21)
    var conflicts = 0
    var merges = 0
    for round in 0..<2_000 {
      var original = Everything(id: Int64(round))
      for edit in FieldEdit.all { edit.set(&original, .random(in: 0..<4, using: &generator)) }
      var (stored, edited) = (original, original)
      for edit in FieldEdit.all where Int.random(in: 0..<5, using: &generator) == 0 {
        edit.set(&stored, .random(in: 0..<4, using: &generator))
      }
      for edit in FieldEdit.all where Int.random(in: 0..<5, using: &generator) == 0 {
        edit.set(&edited, .random(in: 0..<4, using: &generator))
      }
      let checked = FieldEdit.all.filter { _ in Int.random(in: 0..<6, using: &generator) == 0 }
      try store.write(durability: .deferred) { try $0.insert(stored) }

      // Computes the expected result from the values.
      let conflicting = checked.filter { !$0.isSame(original, stored) }.map(\.name)
      var expected = edited
      for edit in FieldEdit.all where edit.isSame(original, edited) {
        edit.copy(&expected, stored)
      }
      let columns = checked.map { $0.column as PartialKeyPath<Everything.Columns> }
      if conflicting.isEmpty {
        try store.write(durability: .deferred) {
          try $0.update(original, to: edited, checking: columns)
        }
        #expect(try get(original.id) == expected)
        if expected != edited { merges += 1 }
      } else {
        let conflict = try conflict { try $0.update(original, to: edited, checking: columns) }
        #expect(conflict?.fields == conflicting)
        #expect(try get(original.id) == stored)
        conflicts += 1
      }
    }
    #expect(conflicts > 200 && merges > 200)
    #expect(try Store.verify(at: folder.path).isValid)
  }

  @Test func `fields beyond the 64th are compared individually`() throws {
    let store = try Store(at: folder.path("wide"), models: [Wide.self])
    let original = Wide(id: 1)
    var stored = original
    stored.values[66] = "stored"
    try store.write { [stored] in try $0.insert(stored) }
    var edited = original
    edited.values[67] = "edited"
    try store.write { [edited] in
      try $0.update(original, to: edited, checking: [\.v67])
    }
    #expect(try store.read { try $0.find(Wide.self, key: 1)?.values[66] } == "stored")
    #expect(try store.read { try $0.find(Wide.self, key: 1)?.values[67] } == "edited")
    let error = #expect(throws: StoreError.self) {
      try store.write { [edited] in
        try $0.update(original, to: edited, checking: [\.v66])
      }
    }
    #expect((error?.cause as? UpdateConflict)?.fields == ["v66"])
  }

  // MARK: Programs of different versions

  @Test func `a missing field compares equal to its default`() throws {
    let path = folder.path("notes")
    let old = try Store(at: path, models: [OldNote.self])
    try old.write { try $0.insert(OldNote(id: 1, text: "old")) }
    let other = try Store(at: path, models: [StarredNote.self])
    let original = try #require(try other.read { try $0.find(StarredNote.self, key: 1) })
    #expect(original.stars == 4)
    try other.read { (tx) throws in
      #expect(try tx.changedFields(since: original)?.isEmpty == true)
    }
    var edited = original
    edited.stars = 5
    try other.write { [edited] in try $0.update(original, to: edited) }
    #expect(try other.read { try $0.find(StarredNote.self, key: 1) } == edited)
  }

  @Test func `unknown fields are not compared and keep their values`() throws {
    let path = folder.path("notes")
    let new = try Store(at: path, models: [StarredNote.self])
    try new.write { try $0.insert(StarredNote(id: 1, stars: 2, text: "old")) }
    let old = try Store(at: path, models: [OldNote.self])
    let original = try #require(try old.read { try $0.find(OldNote.self, key: 1) })
    try new.write { _ = try $0.update(StarredNote.self, key: 1) { $0.stars = 3 } }
    var edited = original
    edited.text = "edited"
    try old.write { [edited] in try $0.update(original, to: edited) }
    let expected = StarredNote(id: 1, stars: 3, text: "edited")
    #expect(try new.read { try $0.find(StarredNote.self, key: 1) } == expected)
  }

  // MARK: Reading

  @Test func `changedFields lists the fields that differ from a copy`() throws {
    try store.write { try $0.insert(Everything.full) }
    var copy = Everything.full
    #expect(try store.read { try $0.changedFields(since: .full as Everything)?.names } == [])
    copy.hotNote = nil
    copy.tags = []
    #expect(try store.read { try $0.changedFields(since: copy)?.names } == ["tags", "hotNote"])
    #expect(try store.read { try $0.changedFields(since: copy)?.contains(\.tags) } == true)
    #expect(try store.read { try $0.changedFields(since: copy)?.isEmpty } == false)
    #expect(try store.read { try $0.changedFields(since: Everything(id: 8)) } == nil)
    // A write transaction sees its own changes.
    try store.write { tx in
      try tx.update(Everything.self, key: 7) { $0.received += 1 }
      #expect(try tx.changedFields(since: Everything.full)?.names == ["received"])
    }
  }

  // MARK: Concurrency

  @Test(.timeLimit(.minutes(10)))
  func `concurrent edits are each applied exactly once`() async throws {
    try await store.write { try $0.insert(Everything(id: 1)) }
    let conflicts = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<4 {
        group.addTask {
          var conflicts = 0
          for _ in 0..<25 {
            while true {
              let original = try #require(
                try await store.read { try $0.find(Everything.self, key: 1) }
              )
              var edited = original
              edited.count += 1
              edited.map["\(task)", default: 0] += 1
              do {
                try await store.write(durability: .deferred) { [edited] tx in
                  try tx.update(original, to: edited)
                }
                break
              } catch let error as StoreError where error.code == .conflict {
                conflicts += 1
              }
            }
          }
          return conflicts
        }
      }
      return try await group.reduce(0, +)
    }
    let object = try #require(try await store.read { try $0.find(Everything.self, key: 1) })
    #expect(object.count == 100, "after \(conflicts) conflicts")
    #expect(object.map == ["0": 25, "1": 25, "2": 25, "3": 25])
  }
}

/// ``OldNote`` with an additional field before its existing one.
private struct StarredNote: Note, Equatable {
  static let schema = noteSchema(
    FieldSchema("stars", Int.self, default: 4),
    FieldSchema("text", String.self)
  )
  var id: Int
  var stars: Int
  var text: String

  init(id: Int, stars: Int, text: String) {
    self.id = id
    self.stars = stars
    self.text = text
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    stars = try record.value(at: 1)
    text = try record.value(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(stars)
    record.encode(text)
  }
}

/// A model with more than 64 fields.
private struct Wide: Model, Equatable {
  struct Columns: Sendable {
    let v66 = Column<Wide, String>(position: 67)
    let v67 = Column<Wide, String>(position: 68)
  }

  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Wide",
    fields: [FieldSchema("id", Int.self, isPrimaryKey: true)]
      + (0..<70).map { FieldSchema("v\($0)", String.self) }
  )
  var id: Int
  var values = Array(repeating: "", count: 70)
  var primaryKey: Int { id }

  init(id: Int) { self.id = id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    for number in 0..<70 { values[number] = try record.value(at: number + 1) }
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    for value in values { record.encode(value) }
  }
}
