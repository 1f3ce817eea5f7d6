import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Objects that a step rejects which is applied when objects are read.
@Suite(.timeLimit(.minutes(10))) struct RejectedObjectTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Opens a store of 60 tracks with a step that rejects number 40.
  private func open<L: TrackLayout>(_ layout: L.Type) throws -> Store {
    do {
      let store = try folder.open(OldTrack<L>.self, version: 1)
      try store.write { tx in try tx.insert(contentsOf: (1...60).map { OldTrack<L>($0) }) }
    }
    let options = StepsWhenReadTests.options(2, [TrackSteps.second(failing: 40)])
    return try Store(at: folder.path, models: [Track<L>.self], options: options)
  }

  /// Executes a write, and checks that the store is sound before and after its conversion.
  private func expectConverted<L: TrackLayout>(
    _ layout: L.Type,
    _ expected: [Track<L>],
    _ body: (inout StoreTransaction) throws -> Void
  ) throws {
    let store = try open(layout)
    try store.write(body)
    for _ in 1...2 {
      let found = try store.read { try $0.fetch(Track<L>.all) }.sorted { $0.id < $1.id }
      #expect(found == expected)
      #expect(try store.verify().problems == [])
      for track in expected where track.id % 10 == 0 {
        let ids = try store.read { tx in
          [
            try tx.fetch(Track<L>.where { $0.title == track.title }).map(\.id),
            try tx.fetch(Track<L>.where { $0.length == track.length }).map(\.id),
          ]
        }
        #expect(ids[0] == [track.id] && ids[1].contains(track.id))
      }
      try store.finishConversions()
      try store.finishIndexBuilds()
      #expect(try store.conversions() == [])
    }
  }

  private static let layouts = StorageLayout.allCases

  // MARK: Replacing

  @Test(arguments: layouts, [false, true])
  func `an upsert replaces an object that a step rejects`(
    layout: StorageLayout,
    inBatch: Bool
  ) throws {
    switch layout {
    case .sequential: try expectReplaced(InSequence.self, inBatch)
    case .byKey: try expectReplaced(InKeyOrder.self, inBatch)
    }
  }

  private func expectReplaced<L: TrackLayout>(_ layout: L.Type, _ inBatch: Bool) throws {
    var track = Track<L>(40)
    track.title = "a new title"
    track.length = 7
    track.plays = 1
    var all = (1...60).map { Track<L>($0) }
    all[39] = track
    try expectConverted(layout, all) { [track] tx in
      let added =
        if inBatch { try tx.upsert(contentsOf: [track, Track<L>(41)]) > 0 } else {
          try tx.upsert(track)
        }
      #expect(!added)
    }
  }

  @Test func `the history lists the changed fields of a replaced object`() throws {
    let store = try open(InSequence.self)
    let token = try store.historyToken()
    var track = Track<InSequence>(40)
    track.plays = 1
    try store.write { [track] tx in _ = try tx.upsert(track) }
    let result = try store.read { try $0.changes(since: token, of: Track<InSequence>.self) }
    guard case .changes(let changes) = result else {
      Issue.record("the history has expired")
      return
    }
    let names = try #require(changes.updated.first).fields.names
    // Older objects do not have a rating.
    #expect(names == ["length", "artist", "remark", "plays", "skips", "rating"])
  }

  @Test func `fields that a program does not declare are kept, without those of the step`() throws {
    do {
      let store = try folder.open(LabelledTrack.self, version: 1)
      try store.write { try $0.insert(LabelledTrack(40)) }
    }
    let options = StepsWhenReadTests.options(2, [TrackSteps.second(failing: 40)])
    let store = try Store(at: folder.path, models: [Track<InSequence>.self], options: options)
    try store.write { _ = try $0.upsert(Track<InSequence>(40)) }
    let object = try #require(try store.storedObject(of: "Track", key: .signed(40)))
    #expect(object["label"] == .string("label 40"))
    let names = Track<InSequence>.schema.fields.map(\.name) + ["label"]
    #expect(object.fields.map(\.name) == names)
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: layouts)
  func `an insert of an object that a step rejects finds its key`(layout: StorageLayout) throws {
    switch layout {
    case .sequential: try expectDuplicate(InSequence.self)
    case .byKey: try expectDuplicate(InKeyOrder.self)
    }
  }

  private func expectDuplicate<L: TrackLayout>(_ layout: L.Type) throws {
    let store = try open(layout)
    let single = #expect(throws: StoreError.self) {
      try store.write { try $0.insert(Track<L>(40)) }
    }
    let batch = #expect(throws: StoreError.self) {
      try store.write { try $0.insert(contentsOf: [Track<L>(40), Track<L>(99)]) }
    }
    #expect(single?.code == .duplicateKey && batch?.code == .duplicateKey)
  }

  // MARK: Deleting

  private enum Deletion: CaseIterable, Sendable { case key, title, plays, limit, all }

  @Test(arguments: layouts, Deletion.allCases)
  private func `an object that a step rejects can be deleted`(
    layout: StorageLayout,
    deletion: Deletion
  ) throws {
    switch layout {
    case .sequential: try expectDeleted(InSequence.self, deletion)
    case .byKey: try expectDeleted(InKeyOrder.self, deletion)
    }
  }

  private func expectDeleted<L: TrackLayout>(_ layout: L.Type, _ deletion: Deletion) throws {
    let all = (1...60).map { Track<L>($0) }
    let remaining =
      switch deletion {
      case .key, .title: all.filter { $0.id != 40 }
      case .plays: all.filter { $0.plays < 150 }
      case .limit: Array(all.prefix(35))
      case .all: [] as [Track<L>]
      }
    try expectConverted(layout, remaining) { tx in
      let count =
        switch deletion {
        case .key: try tx.delete(Track<L>.self, key: 40) ? 1 : 0
        case .title: try tx.delete(Track<L>.where { $0.title == all[39].title })
        case .plays: try tx.delete(Track<L>.where { $0.plays >= 150 })
        case .limit: try tx.delete(Track<L>.all.order(by: \.plays, .descending).limit(25))
        case .all: try tx.delete(Track<L>.all)
        }
      #expect(count == 60 - remaining.count)
    }
  }

  @Test func `a deletion whose condition or order reads a changed field is an error`() throws {
    let store = try open(InSequence.self)
    for query in [
      Track<InSequence>.where { $0.length > 0 },
      Track<InSequence>.where { $0.plays > 0 && $0.artist == "Artist 1" },
      Track<InSequence>.all.order(by: \.skips),
    ] {
      let error = #expect(throws: StoreError.self) { try store.write { try $0.delete(query) } }
      #expect(error?.code == .migrationFailed)
    }
    #expect(try store.read { try $0.count(Track<InSequence>.all) } == 60)
  }

  // MARK: Reading and changing

  @Test func `a read or a change of single fields is an error`() throws {
    let store = try open(InSequence.self)
    let changes: [(inout StoreTransaction) throws -> Void] = [
      { _ = try $0.find(Track<InSequence>.self, key: 40) },
      { _ = try $0.find(Track<InSequence>.self, keys: [39, 40]) },
      { _ = try $0.fetch(Track<InSequence>.all) },
      { _ = try $0.update(Track<InSequence>.self, key: 40) { $0.rating = 1 } },
      { _ = try $0.edit(Track<InSequence>.self, key: 40) { $0.set(\.rating, to: 1) } },
      { try $0.update(Track<InSequence>(40), to: Track<InSequence>(40)) },
      { _ = try $0.update(Track<InSequence>.where { $0.plays == 200 }) { $0.rating = 1 } },
    ]
    for change in changes {
      let error = #expect(throws: StoreError.self) { try store.write { try change(&$0) } }
      #expect(error?.code == .migrationFailed)
      #expect((error?.cause as? MigrationFailure)?.objectID == 40)
    }
    #expect(try store.read { try $0.contains(Track<InSequence>.self, key: 40) })
    #expect(try store.verify().problems == [])
  }

  // MARK: References

  /// Opens a store in which 2 refers to 1, and 4 to 3, with a step that rejects some objects.
  private func openEmployees<R: RuleTag>(_ rule: R.Type, rejecting ids: Set<Int>) throws -> Store {
    do {
      let store = try folder.open(Employee<R>.self, version: 1)
      try store.write { tx in
        for id in 1...4 { try tx.insert(Employee<R>(id, boss: id % 2 == 0 ? id - 1 : nil)) }
      }
    }
    let step = MigrationStep(
      "write names in capital letters",
      to: 2,
      mode: .whenRead,
      [
        .change("Employee", fields: ["name"]) { old, new in
          if ids.contains(try old.value("id")) { throw TrackSteps.Unreadable() }
          new.set("name", to: try old.value("name", as: String.self).uppercased())
        }
      ]
    )
    let options = StepsWhenReadTests.options(2, [step])
    return try Store(at: folder.path, models: [Employee<R>.self], options: options)
  }

  @Test func `a cascade deletes objects that a step rejects`() throws {
    let store = try openEmployees(Cascade.self, rejecting: [1, 2])
    try store.write { _ = try $0.delete(Employee<Cascade>.self, key: 1) }
    #expect(try store.read { try $0.fetch(Employee<Cascade>.all) }.map(\.name) == ["P3", "P4"])
    #expect(try store.verify().problems == [])
    try store.finishConversions()
    #expect(try store.conversions() == [])
  }

  @Test func `an object that a step rejects protects the object to which it refers`() throws {
    let store = try openEmployees(Deny.self, rejecting: [2])
    let error = #expect(throws: StoreError.self) {
      try store.write { try $0.delete(Employee<Deny>.self, key: 1) }
    }
    #expect(error?.code == .referenced)
  }

  @Test func `a reference in an object that a step rejects cannot be removed`() throws {
    let store = try openEmployees(Nullify.self, rejecting: [2, 3])
    let error = try store.write { tx in
      let error = #expect(throws: StoreError.self) { try tx.delete(Employee<Nullify>.self, key: 1) }
      let hasChanges = tx.hasChanges
      #expect(!hasChanges)
      return error
    }
    #expect(error?.code == .migrationFailed)
    #expect(error?.message.contains("Employee 1 cannot be deleted") == true)
    #expect((error?.cause as? MigrationFailure)?.objectID == 2)
    // The rejected object itself can be deleted, and its reference is removed from another.
    try store.write { tx in
      try tx.delete(Employee<Nullify>.self, key: 3)
      try tx.upsert(Employee<Nullify>(2, boss: 1))
      try tx.delete(Employee<Nullify>.self, key: 1)
    }
    #expect(try store.read { try $0.fetch(Employee<Nullify>.all) }.map(\.boss) == [nil, nil])
    #expect(try store.verify().problems == [])
  }

  @Test func `a new object can refer to one that a step rejects`() throws {
    let store = try openEmployees(Deny.self, rejecting: [1])
    try store.write { try $0.insert(Employee<Deny>(9, boss: 1)) }
    #expect(try store.verify().problems == [])
  }
}

/// The first version of a track, of a program that also stores a label.
private struct LabelledTrack: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Track",
    fields: OldTrack<InSequence>.schema.fields + [FieldSchema("label", String.self)]
  )

  let track: OldTrack<InSequence>
  var primaryKey: Int64 { track.id }

  init(_ id: Int64) { track = OldTrack(id) }

  init(from record: borrowing RecordView) throws(RecordError) {
    track = try OldTrack(from: record)
  }

  func encode(to record: inout RecordEncoder) {
    track.encode(to: &record)
    record.encode("label \(track.id)")
  }
}

/// An employee with a reference to another one.
private struct Employee<Rule: RuleTag>: Model {
  struct Columns: Sendable {}
  static var columns: Columns { Columns() }
  static var schema: ModelSchema {
    ModelSchema(
      name: "Employee",
      fields: [
        FieldSchema("id", Int.self, isPrimaryKey: true),
        FieldSchema("name", String.self),
        FieldSchema("boss", Reference<Employee>.self, isOptional: true, onDelete: Rule.rule),
      ]
    )
  }

  var id: Int
  var name: String
  var boss: Reference<Employee>?
  var primaryKey: Int { id }

  init(_ id: Int, boss: Int? = nil) {
    self.id = id
    name = "p\(id)"
    self.boss = boss.map { Reference($0) }
  }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    name = try record.value(at: 1)
    boss = try record.optional(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(name)
    record.encode(boss)
  }
}
