import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Steps that are applied when objects are read, together with other changes of the store.
@Suite(.timeLimit(.minutes(10))) struct StepsWhenReadChainTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeTracks<L: TrackLayout>(_ layout: L.Type) throws {
    let store = try folder.open(OldTrack<L>.self, version: 1)
    try store.write { tx in try tx.insert(contentsOf: (1...300).map { OldTrack<L>($0) }) }
  }

  /// Begins the second version, and converts some objects.
  private func makeMixed<L: TrackLayout>(_ layout: L.Type) throws {
    try makeTracks(layout)
    let options = StepsWhenReadTests.options()
    let store = try Store(at: folder.path, models: [Track<L>.self], options: options)
    try store.write { tx in
      for id in stride(from: 1, through: 300, by: 10) as StrideThrough<Int64> {
        try tx.update(Track<L>.self, key: id) { $0.rating = 3 }
        try tx.insert(Track<L>(id + 1_000))
      }
    }
  }

  private func expectNewest<L: TrackLayout>(_ layout: L.Type, _ store: Store) throws {
    let ids = Array(1...300) + stride(from: 1_001, through: 1_300, by: 10) as [Int64]
    let all = ids.map { NewestTrack<L>(Track<L>($0)) }
    let found = try store.read { try $0.fetch(NewestTrack<L>.all) }.sorted { $0.id < $1.id }
    #expect(found == all)
    let long = try store.read { try $0.count(NewestTrack<L>.where { $0.length > 100 }) }
    #expect(long == all.count { $0.length > 100 })
    #expect(try store.verify().problems == [])
  }

  @Test(arguments: StorageLayout.allCases)
  func `objects of several versions are read through all steps that follow theirs`(
    layout: StorageLayout
  ) throws {
    switch layout {
    case .sequential: try expectChain(InSequence.self)
    case .byKey: try expectChain(InKeyOrder.self)
    }
  }

  private func expectChain<L: TrackLayout>(_ layout: L.Type) throws {
    try makeMixed(layout)
    let options = StepsWhenReadTests.options(3, [TrackSteps.second(), TrackSteps.third()])
    let store = try Store(at: folder.path, models: [NewestTrack<L>.self], options: options)
    #expect(try store.conversions().first?.versions == [1, 2])
    try expectNewest(layout, store)
    try store.finishConversions()
    #expect(try store.conversions() == [])
    try expectNewest(layout, store)
  }

  @Test(arguments: StorageLayout.allCases)
  func `a later step at open finds objects of several versions`(layout: StorageLayout) throws {
    switch layout {
    case .sequential: try expectStepAtOpen(InSequence.self)
    case .byKey: try expectStepAtOpen(InKeyOrder.self)
    }
  }

  private func expectStepAtOpen<L: TrackLayout>(_ layout: L.Type) throws {
    try makeMixed(layout)
    let options = StepsWhenReadTests.options(3, [TrackSteps.second(), TrackSteps.third(.atOpen)])
    let store = try Store(at: folder.path, models: [NewestTrack<L>.self], options: options)
    #expect(try store.conversions() == [])
    try expectNewest(layout, store)
    _ = try Store.migrationStatus(at: folder.path)
  }

  @Test(arguments: [MigrationStep.Mode.atOpen, .whenRead])
  func `a program without a step for which objects wait changes nothing`(
    mode: MigrationStep.Mode
  ) throws {
    try makeMixed(InSequence.self)
    for models in [[NewestTrack<InSequence>.self], []] as [[any Model.Type]] {
      let options = StepsWhenReadTests.options(3, [TrackSteps.third(mode)])
      let before = try Data(contentsOf: URL(filePath: folder.path("data.mdb")))
      let error = #expect(throws: StoreError.self) {
        try Store(at: folder.path, models: models, options: options)
      }
      #expect(error?.code == .schemaMismatch)
      #expect(error?.message.contains("no step that leads from it to version 2") == true)
      #expect(try Data(contentsOf: URL(filePath: folder.path("data.mdb"))) == before)
    }
    let options = StepsWhenReadTests.options(3, [TrackSteps.second(), TrackSteps.third(mode)])
    let models: [any Model.Type] = [NewestTrack<InSequence>.self]
    try expectNewest(InSequence.self, try Store(at: folder.path, models: models, options: options))
  }

  @Test func `a program without a step between two others cannot read objects that need it`() throws
  {
    try makeMixed(InSequence.self)
    let models: [any Model.Type] = [NewestTrack<InSequence>.self]
    let all = StepsWhenReadTests.options(3, [TrackSteps.second(), TrackSteps.third()])
    _ = try Store(at: folder.path, models: models, options: all)
    let error = #expect(throws: StoreError.self) {
      try Store(
        at: folder.path,
        models: models,
        options: StepsWhenReadTests.options(3, [TrackSteps.third()])
      )
    }
    #expect(error?.code == .schemaMismatch)
    try expectNewest(InSequence.self, try Store(at: folder.path, models: models, options: all))
  }

  @Test func `both modes have the same result`() throws {
    try makeTracks(InSequence.self)
    let other = folder.path("other")
    try folder.open(OldTrack<InSequence>.self).backup(to: other)
    var stores: [Store] = []
    for (path, mode) in [(folder.path, MigrationStep.Mode.atOpen), (other, .whenRead)] {
      let options = StepsWhenReadTests.options(2, [TrackSteps.second(mode)])
      stores.append(try Store(at: path, models: [Track<InSequence>.self], options: options))
      try stores.last?.finishConversions()
    }
    let contents = try stores.map { store in
      try store.read { try $0.fetch(Track<InSequence>.all) }
    }
    #expect(contents[0] == contents[1] && contents[0].count == 300)
  }

  @Test(arguments: [MigrationStep.Mode.atOpen, .whenRead])
  func `a store of version 0 is migrated`(mode: MigrationStep.Mode) throws {
    do {
      let store = try folder.open(OldTrack<InSequence>.self, version: 0)
      try store.write { try $0.insert(OldTrack<InSequence>(1)) }
    }
    let options = StepsWhenReadTests.options(2, [TrackSteps.second(mode)])
    let store = try Store(at: folder.path, models: [Track<InSequence>.self], options: options)
    #expect(try store.read { try $0.fetch(Track<InSequence>.all) } == [Track(1)])
    #expect(try store.conversions().flatMap(\.versions) == (mode == .atOpen ? [] : [0]))
  }

  @Test func `a step that changes a unique field is applied at open`() throws {
    do {
      let store = try folder.open(Author.self)
      try store.write { tx in for id in 1...50 as ClosedRange<Int64> { try tx.insert(Author(id)) } }
    }
    let step = MigrationStep(
      "split names",
      to: 2,
      mode: .whenRead,
      [
        .renameField("mail", of: "Author", to: "email"),
        .change("Author", fields: ["name", "givenName", "year", "isDeleted"]) {
          old,
          new in
          let names = try old.value("name", as: String.self).split(separator: " ")
          new.set("givenName", to: String(names[0]))
          new.set("year", to: Int64(try old.value("year", as: String.self)))
          new.removeField("name")
          new.removeField("isDeleted")
        },
      ]
    )
    let options = StepsWhenReadTests.options(2, [step])
    let store = try Store(at: folder.path, models: [UniqueAuthor.self], options: options)
    #expect(try store.conversions() == [])
    #expect(try store.read { try $0.count(UniqueAuthor.all) } == 50)
    #expect(try Store.migrationStatus(at: folder.path).previousFile != nil)
  }

  @Test func `a step applies to objects of a store whose layout changes later`() throws {
    try makeTracks(InSequence.self)
    _ = try Store(
      at: folder.path,
      models: [Track<InSequence>.self],
      options: StepsWhenReadTests.options()
    )
    // The next version has no step, and stores the model by key.
    let options = StepsWhenReadTests.options(3)
    let store = try Store(at: folder.path, models: [Track<InKeyOrder>.self], options: options)
    #expect(try store.layouts["Track"] == .byKey)
    let all = (1...300).map { Track<InKeyOrder>($0) }
    func tracks() throws -> [Track<InKeyOrder>] {
      try store.read { try $0.fetch(Track<InKeyOrder>.all) }.sorted { $0.id < $1.id }
    }
    #expect(try tracks() == all)
    #expect(try store.verify().problems == [])
    try store.finishConversions()
    #expect(try store.conversions() == [])
    #expect(try tracks() == all)
    #expect(try store.verify().problems == [])
  }

  @Test func `a new column of a changed field is built when all objects are converted`() throws {
    try makeMixed(InSequence.self)
    let options = StepsWhenReadTests.options(2)
    let store = try Store(at: folder.path, models: [ColumnarTrack.self], options: options)
    let ids = Array(1...300) + stride(from: 1_001, through: 1_300, by: 10) as [Int64]
    let lengths = ids.map { Track<InSequence>($0).length }
    for isConverted in [false, true] {
      if isConverted { try store.finishConversions() }
      #expect(try store.conversions().isEmpty == isConverted)
      let query = ColumnarTrack.where { $0.length > 200 }
      let (count, sum, plan) = try store.read { tx in
        (try tx.count(query), try tx.sum(query, of: \.length), try tx.explain(query))
      }
      #expect(count == lengths.count { $0 > 200 })
      #expect(sum == lengths.filter { $0 > 200 }.reduce(0, +))
      #expect("\(plan)".contains("column") == isConverted)
      #expect(try store.verify().problems == [])
    }
  }

  @Test func `a new reference in a changed field is checked when all objects are converted`() throws
  {
    try makeMixed(InSequence.self)
    let models: [any Model.Type] = [City.self, ReferringTrack.self]
    let store = try Store(at: folder.path, models: models, options: StepsWhenReadTests.options(2))
    try store.write { tx in
      for id in 0..<13 { try tx.insert(City("Artist \(id)")) }
      try tx.insert(City("Nobody"))
    }
    #expect(try store.conversions().map(\.model) == ["Track"])
    #expect(try store.verify().problems == [])
    try store.finishConversions()
    #expect(try store.verify().problems == [])
    try store.write { _ = try $0.delete(City.self, key: "Nobody") }
    let error = #expect(throws: StoreError.self) {
      try store.write { try $0.delete(City.self, key: "Artist 3") }
    }
    #expect(error?.code == .referenced)
  }

  @Test func `a repaired store has the same objects to convert`() throws {
    try makeMixed(InSequence.self)
    let target = folder.path("repaired")
    _ = try Store.repair(at: folder.path, into: target)
    let options = StepsWhenReadTests.options(3, [TrackSteps.second(), TrackSteps.third()])
    let store = try Store(at: target, models: [NewestTrack<InSequence>.self], options: options)
    #expect(try store.conversions().first?.versions == [1, 2])
    try expectNewest(InSequence.self, store)
    try store.finishConversions()
    try expectNewest(InSequence.self, store)
  }

  @Test func `damaged outdated layouts are an error`() throws {
    try makeMixed(InSequence.self)
    let entry = try Store.readStored(Environment.open(folder.path)) { transaction, schema in
      try schema.metadata.bytes(MetadataKey.outdatedLayouts("Track"), in: transaction)
    }
    let bytes = try #require(entry)
    for count in 0..<bytes.count {
      let error = #expect(throws: RecordError.self) {
        try unsafe bytes.prefix(count).withUnsafeBytes { bytes in
          var reader = unsafe ByteReader(bytes)
          _ = try OutdatedLayouts(encoded: &reader)
        }
      }
      #expect(error?.code == .truncated)
    }
  }
}

/// The second version of a track, with a column of its length.
private struct ColumnarTrack: Model {
  struct Columns: Sendable {
    let length = Column<ColumnarTrack, Int64>(position: 2)
  }

  static let columns = Columns()
  static let schema: ModelSchema = {
    var fields = Track<InSequence>.schema.fields
    fields[2] = FieldSchema("length", Int64.self, isColumnar: true)
    return ModelSchema(name: "Track", fields: fields)
  }()

  let track: Track<InSequence>
  var primaryKey: Int64 { track.id }

  init(from record: borrowing RecordView) throws(RecordError) { track = try Track(from: record) }

  func encode(to record: inout RecordEncoder) { track.encode(to: &record) }
}

/// The second version of a track, whose artist is a reference.
private struct ReferringTrack: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema: ModelSchema = {
    var fields = Track<InSequence>.schema.fields
    fields[3] = FieldSchema("artist", Reference<City>.self, onDelete: .deny)
    return ModelSchema(name: "Track", fields: fields)
  }()

  let track: Track<InSequence>
  var primaryKey: Int64 { track.id }

  init(from record: borrowing RecordView) throws(RecordError) { track = try Track(from: record) }

  func encode(to record: inout RecordEncoder) { track.encode(to: &record) }
}

/// A version of an author with a unique address.
private struct UniqueAuthor: Model {
  struct Columns: Sendable {}
  static let columns = Columns()
  static let schema = ModelSchema(
    name: "Author",
    fields: [
      FieldSchema("id", Int64.self, isPrimaryKey: true),
      FieldSchema("givenName", String.self),
      FieldSchema("email", String.self, isOptional: true, isUnique: true),
      FieldSchema("year", Int64.self),
      FieldSchema("views", Int64.self, isHot: true),
    ]
  )

  var id: Int64
  var givenName: String
  var email: String?
  var primaryKey: Int64 { id }

  init(from record: borrowing RecordView) throws(RecordError) {
    id = try record.value(at: 0)
    givenName = try record.value(at: 1)
    email = try record.optional(at: 2)
  }

  func encode(to record: inout RecordEncoder) {
    record.encode(id)
    record.encode(givenName)
    record.encode(email)
    record.encode(0)
    record.encode(0)
  }
}
