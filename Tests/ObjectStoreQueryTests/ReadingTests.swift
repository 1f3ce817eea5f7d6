import Foundation
import ObjectStore
import TestSupport
import Testing

/// Tests views, aggregates, groups, pages, snapshots, and changes by query.
@Suite struct ReadingTests {
  let folder: TemporaryFolder
  let store: Store
  let rows: [Row]

  init() throws {
    folder = try TemporaryFolder()
    store = try Store(
      at: folder.path,
      models: [BareSample.self, SingleSample.self, CompoundSample.self, ColumnarSample.self]
    )
    var random = SplitMix64(seed: 5)
    rows = (0..<150).map { id in
      var row = random.row(id)
      // Small values, so that sums neither overflow nor round.
      row.rank = Int.random(in: -50...50, using: &random)
      return row
    }
    try store.write { [rows] tx in
      for row in rows {
        try tx.insert(BareSample(row: row))
        try tx.insert(SingleSample(row: row))
        try tx.insert(CompoundSample(row: row))
        try tx.insert(ColumnarSample(row: row))
      }
    }
  }

  // MARK: Views

  @Test func `a view reads single fields, hot and cold`() throws {
    try store.read { tx throws in
      for row in rows {
        let found = try tx.withView(BareSample.self, key: row.id) { view in
          #expect(try view.name.utf8.elementsEqual(row.name.utf8))
          #expect(try view.rank == row.rank)
          #expect(try view.level == row.level)
          #expect(try view.nick?.utf8.count == row.nick?.utf8.count)
          #expect(try view.tags == row.tags)
          let length = try view.withBytes(\.name) { $0.count }
          #expect(length == row.name.utf8.count)
          let nick = try view.withBytes(\.nick) { $0.count }
          #expect(nick == row.nick?.utf8.count)
          return try view.object().row.id
        }
        #expect(found == row.id)
      }
      #expect(try tx.withView(BareSample.self, key: -1) { _ in 1 } == nil)
    }
  }

  @Test func `reading a field that the record lacks throws missingField`() throws {
    let other = try TemporaryFolder()
    let old = try Store(at: other.path, models: [OldSample<BareSample>.self])
    try old.write { try $0.insert(OldSample<BareSample>(row: Row())) }
    let new = try Store(at: other.path, models: [BareSample.self])
    try new.read { tx in
      let error = #expect(throws: StoreError.self) {
        try tx.withView(BareSample.self, key: 0) { view in try view.ratio }
      }
      #expect(error?.code == .missingField)
      // In the stored layout, `rank` is a cold field and `nick` is a hot one.
      let rank = try tx.withView(BareSample.self, key: 0) { try $0.rank }
      let nick = try tx.withView(BareSample.self, key: 0) { try $0.nick }
      #expect(rank == 0)
      #expect(nick == .some(nil))
    }
  }

  @Test func `find returns nil for a missing object`() throws {
    try store.read { tx throws in
      #expect(try tx.find(BareSample.self, key: 3)?.row == rows[3])
      #expect(try tx.find(BareSample.self, key: -3) == nil)
    }
  }

  @Test(.timeLimit(.minutes(10)))
  func `an object that an index has under several elements is found once`() async throws {
    var row = Row(id: 1_000)
    row.rank = 1_000
    row.tags = ["first", "second"]
    let sample = CompoundSample(row: row)
    try await store.write { tx in try tx.insert(sample) }
    // Successive numbers would be one range.
    let ranks = (500..<1_001).map { $0 * 2 }
    let query = CompoundSample.where { sample in
      sample.tags.any { $0.isIn(["first", "second"]) } && sample.rank.isIn(ranks)
    }
    try await store.read { tx throws in
      #expect(try tx.fetch(query).map(\.row.id) == [1_000])
      #expect(try tx.count(query) == 1)
      #expect(try tx.sum(query, of: \.rank) == 1_000)
    }
    var changes = store.observe(query.limit(5)).makeAsyncIterator()
    #expect(try await changes.next()?.snapshot.map(\.row.id) == [1_000])
    row.id = 1_001
    let other = CompoundSample(row: row)
    try await store.write { tx in try tx.insert(other) }
    #expect(try await changes.next()?.snapshot.map(\.row.id) == [1_000, 1_001])
    #expect(try await store.write { tx in try tx.delete(query) } == 2)
  }

  // MARK: Aggregates

  private func aggregates<M: SampleModel>(_ model: M.Type) throws {
    try store.read { tx throws in
      for limit in [-60, 0, 40] {
        let query = M.where { $0.rank > limit }
        let matches = rows.filter { $0.rank > limit }
        #expect(try tx.min(query, of: \.rank) == matches.map(\.rank).min())
        #expect(try tx.max(query, of: \.rank) == matches.map(\.rank).max())
        #expect(try tx.sum(query, of: \.rank) == matches.map(\.rank).reduce(0, +))
        #expect(try tx.min(query, of: \.level) == matches.compactMap(\.level).min())
        #expect(try tx.max(query, of: \.level) == matches.compactMap(\.level).max())
        #expect(try tx.min(query, of: \.priority) == matches.map(\.priority).min())
        #expect(try tx.max(query, of: \.priority) == matches.map(\.priority).max())
        let ratios = matches.compactMap(\.ratio).filter { !$0.isNaN }
        #expect(try tx.min(query, of: \.ratio) == ratios.min())
        #expect(try tx.max(query, of: \.ratio) == ratios.max())
        let names = matches.map { Array($0.name.utf8) }
        let greatest = names.max { $0.lexicographicallyPrecedes($1) }
        #expect(try tx.max(query, of: \.name).map { Array($0.utf8) } == greatest)
        let average = Double(matches.map(\.rank).reduce(0, +)) / Double(matches.count)
        #expect(try tx.average(query, of: \.rank) == average)
      }
      let none = M.where { $0.rank > 1_000 }
      #expect(try tx.min(none, of: \.rank) == nil)
      #expect(try tx.sum(none, of: \.rank) == 0)
      #expect(try tx.average(none, of: \.level) == nil)
      #expect(try tx.max(M.all, of: \.rank) == rows.map(\.rank).max())
    }
  }

  @Test func `aggregates match those of an array, with and without an index`() throws {
    try aggregates(BareSample.self)
    try aggregates(SingleSample.self)
    try aggregates(CompoundSample.self)
    try aggregates(ColumnarSample.self)
  }

  @Test func `a sum that exceeds its type throws overflow`() throws {
    try store.read { tx throws in
      let error = #expect(throws: StoreError.self) {
        let levels = BareSample.where { $0.level == 127 }
        _ = try tx.sum(levels, of: \.level)
      }
      #expect(error?.code == .overflow)
    }
  }

  private func groups<M: SampleModel>(_ model: M.Type) throws {
    try store.read { tx throws in
      for least in [Int.min, 0] {
        let query = least == .min ? M.all : M.where { $0.rank > least }
        let matches = rows.filter { $0.rank > least }
        let ranks = Set(matches.map(\.rank)).sorted()
        #expect(try tx.distinct(query, \.rank) == ranks)
        let levels = Set(matches.map(\.level))
        let sortedLevels = levels.sorted {
          ($0 ?? -128, $0 == nil ? 0 : 1) < ($1 ?? -128, $1 == nil ? 0 : 1)
        }
        #expect(try tx.distinct(query, \.level) == sortedLevels)
        let colours = Set(matches.map(\.colour.rawValue)).sorted()
        #expect(try tx.distinct(query, \.colour).map(\.rawValue) == colours)
        let sections = try tx.sections(query, by: \.level)
        #expect(sections.map(\.value) == sortedLevels)
        #expect(
          sections.map(\.count) == sortedLevels.map { level in matches.count { $0.level == level } }
        )
        let list = try tx.fetch(query.order(by: \.level)).map(\.row.level)
        for section in sections {
          let part = list[section.offset..<section.offset + section.count]
          #expect(part.allSatisfy { $0 == section.value })
        }
      }
    }
  }

  @Test func `groups match those of an array, with and without an index`() throws {
    try groups(BareSample.self)
    try groups(SingleSample.self)
    try groups(CompoundSample.self)
    try groups(ColumnarSample.self)
  }

  // MARK: Pages

  @Test func `pages skip no object while objects are inserted and deleted`() throws {
    let query = SingleSample.all.order(by: \.rank, .descending)
    var seen: Set<Int> = []
    var token: PageToken?
    var round = 0
    repeat {
      let page = try store.read { try $0.page(query, size: 10, after: token) }
      #expect(seen.isDisjoint(with: page.objects.map(\.row.id)))
      seen.formUnion(page.objects.map(\.row.id))
      // Deletes the last object of the page and inserts one before all others.
      if let last = page.objects.last {
        try store.write { tx in
          try tx.delete(SingleSample.self, key: last.row.id)
          var row = Row()
          row.id = 1_000 + round
          row.rank = 100
          try tx.insert(SingleSample(row: row))
        }
      }
      token = page.next
      round += 1
    } while token != nil
    #expect(seen == Set(rows.map(\.id)))
  }

  @Test func `a page token round-trips as a string and is valid for one order only`() throws {
    let query = BareSample.all.order(by: \.name)
    let page = try store.read { try $0.page(query, size: 3) }
    let token = try #require(page.next)
    let data = try JSONEncoder().encode([token])
    #expect(try JSONDecoder().decode([PageToken].self, from: data) == [token])
    #expect(PageToken(token.description) == token)
    for wrong in ["", "0", "zz", "00", String(token.description.dropLast(2))] {
      #expect(PageToken(wrong) == nil)
    }
    try store.read { tx throws in
      for other in [BareSample.all, BareSample.all.order(by: \.name, .descending)] {
        let error = #expect(throws: StoreError.self) {
          _ = try tx.page(other, size: 3, after: token)
        }
        #expect(error?.code == .invalidPageToken)
      }
    }
  }

  // MARK: Snapshots

  @Test func `a snapshot reads one commit until it is closed`() async throws {
    let snapshot = try store.snapshot()
    try await store.write { _ = try $0.delete(BareSample.all) }
    #expect(try await store.read { try $0.count(BareSample.all) } == 0)
    try await withThrowingTaskGroup { group in
      for part in 0..<4 {
        group.addTask {
          for row in rows where row.id % 4 == part {
            let found = try snapshot.read { try $0.find(BareSample.self, key: row.id) }
            #expect(found?.row == row)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try snapshot.read { try $0.count(BareSample.all) } == rows.count)
    #expect(snapshot.commitNumber < (try store.commitNumber()))
    snapshot.close()
    let error = #expect(throws: StoreError.self) {
      try snapshot.read { try $0.count(BareSample.all) }
    }
    #expect(error?.code == .closed)
  }

  // MARK: Cancellation

  @Test func `a read throws CancellationError when its task is cancelled`() async throws {
    try await store.write { tx in
      for id in 1_000..<3_000 {
        var row = Row()
        row.id = id
        try tx.insert(BareSample(row: row))
      }
    }
    let task = Task {
      // The task cancels itself, so that the read starts after the cancellation.
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try store.read { try $0.fetch(BareSample.where { $0.name.contains("q") }).count }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await store.read { try $0.count(BareSample.where { $0.id >= 1_000 }) } == 2_000)
  }

  // MARK: Changes by query

  @Test func `an update by query changes the objects that matched when it started`() throws {
    let count = try store.write { tx in
      try tx.update(SingleSample.where { $0.rank > 0 }) { object in
        var row = object.row
        row.rank += 1_000
        object = SingleSample(row: row)
      }
    }
    #expect(count == rows.count { $0.rank > 0 })
    #expect(try store.read { try $0.count(SingleSample.where { $0.rank > 1_000 }) } == count)
    let limited = try store.write { tx in
      try tx.delete(SingleSample.all.order(by: \.rank, .descending).limit(5))
    }
    #expect(limited == 5)
    #expect(try store.read { try $0.count(SingleSample.where { $0.rank > 1_000 }) } == count - 5)
  }

  // MARK: Plans

  @Test func `only a filtered or sorted scan of many objects is a large scan`() throws {
    let folder = try TemporaryFolder()
    let store = try Store(at: folder.path, models: [BareSample.self])
    try store.write { tx in
      for id in 0...1_000 {
        var row = Row()
        row.id = id
        try tx.insert(BareSample(row: row))
      }
    }
    try store.read { tx throws in
      let scan = try tx.explain(BareSample.where { $0.rank == 1 })
      #expect(scan.isLargeScan)
      #expect(scan.objectCount == 1_001)
      #expect(scan.readsHotFields)
      #expect(!scan.readsColdFields)
      #expect(try !tx.explain(BareSample.all).isLargeScan)
      #expect(try tx.explain(BareSample.all.order(by: \.name)).isLargeScan)
    }
  }
}
