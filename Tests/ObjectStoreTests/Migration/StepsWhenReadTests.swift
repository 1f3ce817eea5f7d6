import Foundation
import LMDB
import TestSupport
import Testing

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Steps that are applied when objects are read.
@Suite(.timeLimit(.minutes(10))) struct StepsWhenReadTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let count: Int64 = 600

  static func options(
    _ version: UInt32 = 2,
    _ steps: [MigrationStep] = [TrackSteps.second()],
    inBackground: Bool = false
  ) -> StoreOptions {
    var options = StoreOptions(schemaVersion: version, indexBuilding: .atOpen)
    options.migration = Migration(steps: steps)
    options.migration?.convertsInBackground = inBackground
    return options
  }

  func makeTracks<L: TrackLayout>(_ layout: L.Type, _ path: String? = nil) throws {
    let store = try Store(at: path ?? folder.path, models: [OldTrack<L>.self])
    try store.write { tx in
      try tx.insert(contentsOf: (1...Self.count).map { OldTrack<L>($0) })
    }
  }

  func open<L: TrackLayout>(
    _ layout: L.Type,
    _ options: StoreOptions = options()
  ) throws -> Store {
    try Store(at: folder.path, models: [Track<L>.self], options: options)
  }

  func expected<L: TrackLayout>(_ layout: L.Type) -> [Track<L>] {
    (1...Self.count).map { Track<L>($0) }
  }

  func tracks<L: TrackLayout>(_ layout: L.Type, _ store: Store) throws -> [Track<L>] {
    try store.read { try $0.fetch(Track<L>.all) }.sorted { $0.id < $1.id }
  }

  /// The number of records that are stored in the form before the step.
  func outdatedCount(_ store: Store) throws -> Int {
    try Store.readStored(store.environment) { transaction, schema in
      let entry = try #require(schema.model("Track"))
      let reader = unsafe ModelReader(
        transaction: TransactionReference(transaction),
        tables: entry.tables
      )
      var count = 0
      unsafe try reader.forEachRecord { _, record in
        let number = unsafe record.binding.number
        if entry.outdated.version(ofLayout: number) != nil { count += 1 }
        return true
      }
      return count
    }
  }

  // MARK: Reading

  @Test func `old objects are read in their new form, and opening converts none`() throws {
    try expectNewForm(InSequence.self)
  }

  @Test func `old objects that are stored by key are read in their new form`() throws {
    try expectNewForm(InKeyOrder.self)
  }

  private func expectNewForm<L: TrackLayout>(_ layout: L.Type) throws {
    try makeTracks(layout)
    let store = try open(layout)
    let all = expected(layout)
    #expect(try tracks(layout, store) == all)
    let progress = try store.conversions()
    #expect(progress.map(\.model) == ["Track"] && progress[0].versions == [1])
    #expect(progress[0].objectCount == 0 && progress[0].totalObjectCount == 600)
    #expect(try outdatedCount(store) == 600)
    try store.read { tx in
      #expect(try tx.find(Track<L>.self, key: 77) == all[76])
      let keys = Array(stride(from: 1, to: 600, by: 7)) as [Int64]
      #expect(try tx.find(Track<L>.self, keys: keys) == keys.map { all[Int($0) - 1] })
      let view = try tx.withView(Track<L>.self, key: 78) { view in
        try (view.length, view.plays, view.skips, view.remark, view.rating, view.object())
      }
      let seen = try #require(view)
      #expect(seen.0 == all[77].length && seen.1 == all[77].plays && seen.2 == all[77].skips)
      #expect(seen.3 == all[77].remark && seen.5 == all[77])
      let titles = try tx.fetch(Track<L>.where { $0.title < "Artist 2" }.order(by: \.length))
      #expect(titles.map(\.length) == all.filter { $0.title < "Artist 2" }.map(\.length).sorted())
      #expect(try tx.count(Track<L>.where { $0.length > 200 }) == all.count { $0.length > 200 })
      #expect(try tx.count(Track<L>.where { $0.skips == 4 }) == all.count { $0.skips == 4 })
      #expect(try tx.count(Track<L>.where { $0.plays > 900 }) == all.count { $0.plays > 900 })
      #expect(try tx.sum(Track<L>.all, of: \.skips) == all.reduce(0) { $0 + $1.skips })
      #expect(try tx.sum(Track<L>.all, of: \.length) == all.reduce(0) { $0 + $1.length })
      #expect(try tx.max(Track<L>.all, of: \.length) == all.map(\.length).max())
      let artists = try tx.fetch(Track<L>.where { $0.artist == "Artist 5" }) { try $0.id }
      #expect(Set(artists) == Set(all.filter { $0.artist == "Artist 5" }.map(\.id)))
    }
    #expect(try store.verify().problems == [])
  }

  @Test func `an index is used unless the step changes its field`() throws {
    try makeTracks(InSequence.self)
    let store = try open(InSequence.self)
    let plans = try store.read { tx in
      (
        "\(try tx.explain(Track<InSequence>.where { $0.title == "x" }))",
        "\(try tx.explain(Track<InSequence>.where { $0.length == 3 }))",
        "\(try tx.explain(Track<InSequence>.where { $0.artist == "x" }))"
      )
    }
    #expect(plans.0.contains("index"))
    #expect(!plans.1.contains("index") && !plans.2.contains("index"))
    try store.finishConversions()
    #expect(try store.indexBuilds() == [])
    let length = try store.read { tx in
      "\(try tx.explain(Track<InSequence>.where { $0.length == 3 }))"
    }
    #expect(length.contains("index"))
  }

  // MARK: Writing

  @Test func `a write stores the new form`() throws {
    try expectWrites(InSequence.self)
  }

  @Test func `a write stores the new form of an object that is stored by key`() throws {
    try expectWrites(InKeyOrder.self)
  }

  private func expectWrites<L: TrackLayout>(_ layout: L.Type) throws {
    try makeTracks(layout)
    let store = try open(layout)
    var all = Dictionary(uniqueKeysWithValues: expected(layout).map { ($0.id, $0) })
    try store.write { tx in
      try tx.update(Track<L>.self, key: 1) { $0.length = 9 }
      all[1]?.length = 9
      try tx.edit(Track<L>.self, key: 2) { $0.set(\.plays, to: 99) }
      all[2]?.plays = 99
      try tx.delete(Track<L>.self, key: 3)
      all[3] = nil
      var track = Track<L>(4)
      track.artist = "Somebody"
      try tx.upsert(track)
      all[4] = track
      try tx.insert(Track<L>(900))
      all[900] = Track<L>(900)
      // Nothing changes for a reader.
      try tx.upsert(Track<L>(5))
      try tx.upsert(contentsOf: [Track<L>(6), Track<L>(901)])
      all[901] = Track<L>(901)
      try tx.update(Track<L>(7), to: track.with(id: 7))
      all[7] = track.with(id: 7)
      try tx.update(Track<L>.where { $0.title == OldTrack<L>(8).title }) { $0.skips = 1 }
      all[8]?.skips = 1
      try tx.delete(Track<L>.where { $0.artist == "Artist 11" })
      all = all.filter { $0.value.artist != "Artist 11" }
    }
    let sorted = all.values.sorted { $0.id < $1.id }
    #expect(try tracks(layout, store) == sorted)
    #expect(try store.verify().problems == [])
    let old = try outdatedCount(store)
    #expect(old < 600 && old > 500)
    try store.finishConversions()
    #expect(try outdatedCount(store) == 0)
    #expect(try tracks(layout, store) == sorted)
    #expect(try store.verify().problems == [])
    let found = try store.read { try $0.fetch(Track<L>.where { $0.length == 9 }).map(\.id) }
    #expect(found == sorted.filter { $0.length == 9 }.map(\.id))
  }

  @Test func `a conversion is no change for observers and the history`() throws {
    try makeTracks(InSequence.self)
    let store = try open(InSequence.self)
    let token = try store.read { try $0.historyToken() }
    try store.finishConversions()
    let changes = try store.read { try $0.changes(since: token, of: Track<InSequence>.self) }
    guard case .changes(let list) = changes else {
      Issue.record("the history has expired")
      return
    }
    #expect(list.isEmpty)
  }

  // MARK: The end

  @Test func `when all objects are converted, programs need no step`() throws {
    try makeTracks(InSequence.self)
    try open(InSequence.self).finishConversions()
    var options = Self.options()
    options.migration = nil
    let store = try open(InSequence.self, options)
    #expect(try tracks(InSequence.self, store) == expected(InSequence.self))
    #expect(try store.conversions() == [])
    let fields = try #require(try store.storedModels().first).fields.map(\.name)
    #expect(fields.sorted() == Track<InSequence>.schema.fields.map(\.name).sorted())
    #expect(try store.verify().problems == [])
  }

  @Test func `objects are converted in the background`() async throws {
    try makeTracks(InSequence.self)
    let store = try open(InSequence.self, Self.options(inBackground: true))
    while try !store.conversions().isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    #expect(try outdatedCount(store) == 0)
    #expect(try tracks(InSequence.self, store) == expected(InSequence.self))
  }

  @Test func `readers and writers see the new form while objects are converted`() async throws {
    try makeTracks(InSequence.self)
    var options = Self.options()
    options.migration?.batchCount = 20
    let store = try open(InSequence.self, options)
    let expected = expected(InSequence.self)
    try await withThrowingTaskGroup { group in
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<20 {
            let found = try Self.readAll(store)
            #expect(found.count == 600)
            #expect(zip(found, expected).allSatisfy { $0.with(plays: 0) == $1.with(plays: 0) })
          }
        }
      }
      group.addTask {
        for id in 1...200 as ClosedRange<Int64> {
          try Self.write(store) { tx in
            try tx.edit(Track<InSequence>.self, key: id * 3) { $0.set(\.plays, to: 7) }
          }
        }
      }
      group.addTask { try store.finishConversions() }
      try await group.waitForAll()
    }
    #expect(try store.conversions().isEmpty)
    #expect(try tracks(InSequence.self, store).count { $0.plays == 7 } == 200)
    #expect(try store.verify().problems == [])
  }

  private static func readAll(_ store: Store) throws -> [Track<InSequence>] {
    try store.read { try $0.fetch(Track<InSequence>.all) }.sorted { $0.id < $1.id }
  }

  private static func write(
    _ store: Store,
    _ body: (inout StoreTransaction) throws -> Void
  ) throws {
    try store.write(body)
  }

  @Test func `a model without objects is converted at once`() throws {
    _ = try folder.open(OldTrack<InSequence>.self)
    let store = try open(InSequence.self)
    try store.finishConversions()
    #expect(try store.conversions() == [])
    try store.write { try $0.insert(Track<InSequence>(1)) }
    #expect(try tracks(InSequence.self, store) == [Track(1)])
  }

  // MARK: Other programs

  @Test func `a program without the steps cannot read the model`() throws {
    try makeTracks(InSequence.self)
    let old = try folder.open(OldTrack<InSequence>.self)
    let store = try open(InSequence.self)
    #expect(try store.read { try $0.count(Track<InSequence>.all) } == 600)
    for body in [
      { _ = try old.read { try $0.find(OldTrack<InSequence>.self, key: 1) } },
      { _ = try self.folder.open(OldTrack<InSequence>.self) },
    ] {
      let error = #expect(throws: StoreError.self) { try body() }
      #expect(error?.code == .tooNew)
    }
    var options = Self.options()
    options.migration = nil
    let error = #expect(throws: StoreError.self) { try open(InSequence.self, options) }
    #expect(error?.code == .schemaMismatch)
    // Tools without models see the values under the version of their fields.
    let fields = try #require(try store.storedModels().first).fields.map(\.name)
    #expect(fields.contains("length@1") && fields.contains("length") && fields.contains("id"))
    #expect(throws: StoreError.self) { try store.exportJSONLines { _ in } }
  }

  @Test(arguments: [MigrationStep.Mode.atOpen, .whenRead])
  func `opening a store read-only does not apply a step, and says what does`(
    mode: MigrationStep.Mode
  ) throws {
    try makeTracks(InSequence.self)
    var options = Self.options(2, [TrackSteps.second(mode)])
    options.access = .readOnly
    let error = #expect(throws: StoreError.self) { try open(InSequence.self, options) }
    #expect(error?.code == .schemaMismatch)
    #expect(error?.message.hasSuffix("open the store for writing, which migrates it") == true)
    _ = try open(InSequence.self, Self.options(2, [TrackSteps.second(mode)]))
    let store = try open(InSequence.self, options)
    #expect(try store.read { try $0.count(Track<InSequence>.all) } == 600)
  }

  @Test func `a program that reads only can read old objects`() throws {
    try makeTracks(InSequence.self)
    _ = try open(InSequence.self)
    var options = Self.options()
    options.access = .readOnly
    let store = try open(InSequence.self, options)
    #expect(try tracks(InSequence.self, store) == expected(InSequence.self))
  }

  @Test func `two programs convert the same store`() throws {
    try makeTracks(InSequence.self)
    let one = try open(InSequence.self)
    var worker = ConversionWorker(
      one.environment,
      [Track<InSequence>.self],
      Self.options()
    )
    guard case .progressed = try worker.step() else {
      Issue.record("all objects are converted in one step")
      return
    }
    try one.finishConversions()
    while case .progressed = try worker.step() {}
    #expect(try outdatedCount(one) == 0)
    #expect(try tracks(InSequence.self, one) == expected(InSequence.self))
    #expect(try one.verify().problems == [])
  }
}

extension Track {
  fileprivate func with(plays: Int64) -> Track {
    var track = self
    track.plays = plays
    return track
  }

  fileprivate func with(id: Int64) -> Track {
    var track = self
    track.id = id
    return track
  }
}
