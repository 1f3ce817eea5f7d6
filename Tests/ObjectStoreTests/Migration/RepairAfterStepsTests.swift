import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Repairs of stores that a step has migrated.
@Suite(.timeLimit(.minutes(10))) struct RepairAfterStepsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A step whose result it would change again.
  private static let options: StoreOptions = {
    let step = MigrationStep(
      "count twice",
      to: 2,
      [
        .change("Author") { old, new in
          new.set("views", to: 2 * (try old.value("views", as: Int64.self)))
        }
      ]
    )
    return StoreOptions(schemaVersion: 2, migration: Migration(steps: [step]))
  }()

  private static let expected = (1...300).map { Int64($0) * 6 }

  private func makeMigrated() throws {
    try folder.open(Author.self, version: 1).write { tx in
      try tx.insert(contentsOf: (1...300).map { Author($0) })
    }
    #expect(try views(open(folder.path)) == Self.expected)
  }

  private func open(_ path: String) throws -> Store {
    try Store(at: path, models: [Author.self], options: Self.options)
  }

  private func views(_ store: Store) throws -> [Int64] {
    try store.read { try $0.fetch(Author.all).map(\.views) }
  }

  /// Overwrites the pages that contain a text, and returns their number.
  private func destroyPages(_ text: String) throws -> Int {
    let url = URL(filePath: folder.path("data.mdb"))
    var bytes = try Data(contentsOf: url)
    let pages = (2..<bytes.count / 4_096).map { $0 * 4_096..<($0 + 1) * 4_096 }
      .filter { bytes[$0].range(of: Data(text.utf8)) != nil }
    for page in pages { bytes.replaceSubrange(page, with: Data(repeating: 0xAA, count: 4_096)) }
    try bytes.write(to: url)
    return pages.count
  }

  /// Marks the page of the table `store` by a commit, which leaves a copy without the mark.
  private func markMetadata() throws {
    let environment = try Environment.open(folder.path)
    var transaction = try environment.beginWrite()
    let table = try transaction.createDatabase("store")
    let value = [UInt8](repeating: 0, count: 8)
    try transaction.put(value.span, for: Array("floor/None".utf8).span, in: table)
    try transaction.commit()
  }

  @Test func `a store whose metadata is destroyed is not migrated again`() throws {
    try makeMigrated()
    try markMetadata()
    #expect(try destroyPages("floor/None") == 1)
    let (report, _) = try Store.repairInPlace(at: folder.path)
    #expect(report.models["Author"]?.saved == 300 && !report.notes.isEmpty)
    #expect(try Store.migrationStatus(at: folder.path).version == 2)
    let store = try open(folder.path)
    #expect(try views(store) == Self.expected && !store.isReadOnly)
    #expect(try store.verify().problems == [])
  }

  @Test func `without any copy of the version, programs can only read the repaired store`() throws {
    try makeMigrated()
    #expect(try destroyPages("schema version") > 0)
    let unknown = folder.path("unknown")
    let report = try Store.repair(at: folder.path, into: unknown, models: [Author.self])
    #expect(report.notes.contains { $0.hasPrefix("the schema version is lost") })
    let reader = try open(unknown)
    #expect(try views(reader) == Self.expected && reader.isReadOnly)
    let known = folder.path("known")
    _ = try Store.repair(at: folder.path, into: known, models: [Author.self], schemaVersion: 2)
    let store = try open(known)
    #expect(try views(store) == Self.expected && !store.isReadOnly)
  }

  @Test func `a repaired store can still be rolled back`() throws {
    try makeMigrated()
    let previous = try Store.migrationStatus(at: folder.path).previousFile
    #expect(try Store.repairInPlace(at: folder.path).report.isComplete)
    let status = try Store.migrationStatus(at: folder.path)
    #expect(status.previousVersion == 1)
    #expect(status.previousFile != nil && status.previousFile == previous)
    let report = try Store.rollBackMigration(at: folder.path)
    // The repair has no history.
    #expect(report.version == 1 && !report.isComplete)
    let store = try folder.open(Author.self, version: 1)
    #expect(try views(store) == (1...300).map { $0 * 3 })
  }

  // MARK: Copies of pages

  private func stale(_ pages: [UInt64: [String: [UInt8]]]) -> StaleMetadata {
    var stale = StaleMetadata()
    for (page, entries) in pages {
      for (key, value) in entries { stale.add(key, value, ofPage: page) }
    }
    return stale
  }

  private func page(epoch: UInt8, version: UInt8?, layout: UInt8) -> [String: [UInt8]] {
    var entries: [String: [UInt8]] = [
      "epoch": [epoch] + [UInt8](repeating: 0, count: 7), "seed": [UInt8](repeating: 1, count: 8),
      "layout/M/1": [layout],
    ]
    if let version { entries["schema version"] = [version, 0, 0, 0] }
    return entries
  }

  @Test func `of several copies of the metadata, the newest is taken`() {
    let pages: [UInt64: [String: [UInt8]]] = [
      3: page(epoch: 4, version: 1, layout: 7), 5: page(epoch: 6, version: 2, layout: 8),
      9: page(epoch: 5, version: nil, layout: 9),
    ]
    var entries: [String: [UInt8]] = [:]
    #expect(stale(pages).complete(&entries) == [])
    #expect(entries["schema version"] == [2, 0, 0, 0] && entries["layout/M/1"] == [8])
  }

  @Test func `a copy without a version is of version 0`() {
    var entries: [String: [UInt8]] = [:]
    #expect(stale([3: page(epoch: 4, version: nil, layout: 7)]).complete(&entries) == [])
    #expect(entries["schema version"] == [0, 0, 0, 0])
  }

  @Test func `layouts that a later commit may have changed are not taken`() {
    let pages: [[UInt64: [String: [UInt8]]]] = [
      [3: ["layout/M/1": [7]], 4: ["layout/M/1": [8]]],
      [3: ["layout/M/1": [7]], 4: ["outdated/M": [1]]],
      [3: ["layout/M/1": [7]], 4: ["conversion/M": [1]]],
    ]
    for pages in pages {
      var entries: [String: [UInt8]] = [:]
      #expect(stale(pages).complete(&entries).count == 1)
      #expect(entries["layout/M/1"] == nil && entries["schema version"] == nil)
    }
    // The readable entries are of a later epoch than the copy.
    var entries: [String: [UInt8]] = ["epoch": [9, 0, 0, 0, 0, 0, 0, 0], "outdated/M": [1]]
    #expect(stale([3: page(epoch: 4, version: 1, layout: 7)]).complete(&entries).count == 1)
    #expect(entries["layout/M/1"] == nil)
  }

  @Test func `layouts that no commit has changed, and the greatest version, are taken`() {
    var entries: [String: [UInt8]] = ["layout/M/1": [7]]
    let pages: [UInt64: [String: [UInt8]]] = [
      3: ["layout/M/2": [8], "schema version": [1, 0, 0, 0]],
      4: ["layout/M/2": [8], "schema version": [3, 0, 0, 0]],
    ]
    #expect(stale(pages).complete(&entries) == [])
    #expect(entries["layout/M/2"] == [8] && entries["schema version"] == [3, 0, 0, 0])
  }
}
