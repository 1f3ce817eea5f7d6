import Foundation
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Work on a store in which a step rejects objects that are converted when they are read.
@Suite(.timeLimit(.minutes(10))) struct ConversionFailureTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func makeTracks(_ count: Int64 = 600) throws {
    let store = try folder.open(OldTrack<InSequence>.self, version: 1)
    try store.write { tx in
      try tx.insert(contentsOf: (1...count).map { OldTrack<InSequence>($0) })
    }
  }

  private func makeAuthors() throws {
    let store = try folder.open(Author.self, version: 1)
    try store.write { tx in try tx.insert(contentsOf: (1...200).map { Author($0) }) }
  }

  /// A step that rejects each hundredth track.
  private static let rejecting = MigrationStep(
    "count seconds",
    to: 2,
    mode: .whenRead,
    [
      .renameField("note", of: "Track", to: "remark"),
      .change("Track", fields: ["length", "artist", "skips"]) { old, new in
        if try old.value("id", as: Int64.self) % 100 == 0 { throw StoreError(.invalidInput, "odd") }
        new.set("length", to: 1 as Int64)
        new.set("artist", to: "Somebody")
        new.set("skips", to: Int64(try old.value("skips", as: Int32.self)))
      },
    ]
  )

  // MARK: Indexes

  @Test func `indexes of other fields are built although a step rejects an object`() async throws {
    try makeTracks()
    var options = StepsWhenReadTests.options(2, [Self.rejecting], inBackground: true)
    options.indexBuilding = .inBackground(above: 100)
    let store = try Store(at: folder.path, models: [IndexedTrack.self], options: options)
    while try !store.indexBuilds().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    try expectIndexed(IndexedTrack.where { $0.plays == 1_005 }, count: 1, store)
    // Its objects are not all converted, so the indexes of changed fields are not begun.
    #expect(try store.conversions().map(\.model) == ["Track"])
    #expect(try store.verify().problems == [])
  }

  @Test func `a failed conversion does not end the building of indexes`() async throws {
    try makeTracks()
    try makeAuthors()
    let step = MigrationStep(
      Self.rejecting.summary,
      to: 2,
      mode: .whenRead,
      Self.rejecting.operations
        + [.change("Author", fields: ["year"]) { _, new in new.set("year", to: "1984") }]
    )
    var options = StepsWhenReadTests.options(2, [step])
    options.indexBuilding = .inBackground(above: 100)
    let models: [any Model.Type] = [Track<InSequence>.self, Author.self]
    let store = try Store(at: folder.path, models: models, options: options)
    expectFailure(of: store)
    // The authors are converted.
    while try !store.indexBuilds().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try store.conversions().map(\.model) == ["Track"])
    try expectIndexed(Author.where { $0.year == "1984" }, count: 200, store)
  }

  private func expectIndexed<M: Model>(_ query: Query<M>, count: Int, _ store: Store) throws {
    let (plan, found) = try store.read { tx in (try tx.explain(query), try tx.fetch(query)) }
    #expect("\(plan)".contains("index") && found.count == count)
  }

  private func expectFailure(of store: Store) {
    let error = #expect(throws: StoreError.self) { try store.finishConversions() }
    #expect(error?.code == .migrationFailed)
  }

  // MARK: Rehearsals

  private func files() throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    return try Dictionary(
      uniqueKeysWithValues: names.filter { $0 != "lock.mdb" }.map { name in
        (name, try Data(contentsOf: URL(filePath: folder.path(name))))
      }
    )
  }

  private func rehearse(_ steps: [MigrationStep], version: UInt32 = 2) throws -> MigrationRehearsal
  {
    try Store.rehearseMigration(
      at: folder.path,
      models: [Track<InSequence>.self],
      options: StepsWhenReadTests.options(version, steps),
      failureLimit: 4
    )
  }

  @Test func `a rehearsal lists the remaining objects that cannot be converted`() throws {
    try makeTracks()
    let options = StepsWhenReadTests.options(2, [Self.rejecting])
    let store = try Store(at: folder.path, models: [Track<InSequence>.self], options: options)
    try store.write { tx in
      _ = try tx.upsert(Track<InSequence>(300))
      try tx.delete(Track<InSequence>.self, key: 400)
      _ = try tx.update(Track<InSequence>.self, key: 1) { $0.plays = 0 }
    }
    let before = try files()
    let first = try rehearse([Self.rejecting])
    #expect(first.from == 2 && first.to == 2 && first.steps == ["count seconds"])
    #expect(first.objectCount == 597 && first.failureCount == 4 && first.fileSize == 0)
    #expect(first.failures.map(\.objectID) == [100, 200, 500, 600])
    #expect(first.failures[0].reason == "odd" && first.failures[0].step == "count seconds")
    #expect(try files() == before)

    #expect(throws: StoreError.self) { try store.finishConversions() }
    let second = try rehearse([Self.rejecting])
    #expect(second.objectCount == 4 && second.failureCount == 4)
    // A corrected step.
    let third = try rehearse([TrackSteps.second()])
    #expect(third.objectCount == 4 && third.failureCount == 0 && third.failures == [])
    // A program of the version before cannot convert them.
    #expect(try rehearse([], version: 1).steps == [])
    #expect(throws: StoreError.self) { try rehearse([]) }
  }
}

/// The second version of a track, with an index on a field that the step does not change.
private struct IndexedTrack: Model {
  struct Columns: Sendable {
    let plays = Column<IndexedTrack, Int64>(position: 5)
  }

  static let columns = Columns()
  static let schema: ModelSchema = {
    var fields = Track<InSequence>.schema.fields
    fields[5] = FieldSchema("plays", Int64.self, isIndexed: true, isHot: true)
    return ModelSchema(name: "Track", fields: fields)
  }()

  let track: Track<InSequence>
  var primaryKey: Int64 { track.id }

  init(from record: borrowing RecordView) throws(RecordError) { track = try Track(from: record) }

  func encode(to record: inout RecordEncoder) { track.encode(to: &record) }
}
