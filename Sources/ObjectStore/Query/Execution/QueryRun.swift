internal import LMDB

/// Runs a query on the records of one transaction.
///
/// Not generic: it gives records, and whoever knows the model decodes them.
@unsafe
struct QueryRun: ~Copyable {
  private let reader: ModelReader
  private let core: QueryCore
  private let plan: AccessPlan
  /// What the condition and the order read.
  private let testedParts: RecordParts
  private let startKey: [UInt8]?
  private var records: RecordWalk
  private var skippedCount = 0
  private var givenCount = 0
  private var pace = ReadPace()

  init(_ reader: ModelReader, _ core: QueryCore) throws {
    unsafe self.reader = unsafe reader
    unsafe self.core = core
    unsafe plan = unsafe core.plan(reader.tables)
    unsafe testedParts = unsafe core.parts(reader.tables)
    unsafe startKey = core.start?.sortKey(core.order)
    unsafe records = unsafe try RecordWalk(reader)
  }

  /// Calls `body` with each match in the order of the query; it returns false to stop.
  ///
  /// Before each match, `wanted` is asked which parts `body` is to be given.
  mutating func forEach(
    wanted: @autoclosure () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard unsafe core.takeCount > 0 else { return }
    switch unsafe plan.access {
    case .nothing: return
    case .scan:
      if unsafe plan.isOrdered {
        unsafe try scan(wanted, body)
      } else {
        unsafe try give(sortedByScan(), wanted, body)
      }
    case .walk(let path, let isReversed):
      if path.equalParts == 0, unsafe !plan.isExact {
        unsafe try give(walkOrScan(path, isReversed), wanted, body)
      } else {
        _ = unsafe try walk(path, isReversed, mostEntries: .max) { run, id in
          unsafe try run.give(id, wanted, body)
        }
      }
    case .keys(let keys):
      unsafe try give(candidates: objectIDs(of: keys), wanted, body)
    case .shortest(let paths):
      unsafe try give(candidates: shortest(paths), wanted, body)
    case .union(let paths):
      unsafe try give(candidates: all(paths), wanted, body)
    }
  }

  // MARK: Giving

  /// Counts a match that is known to be one, and says whether it is to be given; the walk ends after
  /// it when ``isDone``.
  private mutating func takes() -> Bool {
    guard unsafe skippedCount >= core.skipCount else {
      unsafe skippedCount += 1
      return false
    }
    unsafe givenCount += 1
    return true
  }

  private var isDone: Bool { unsafe givenCount >= core.takeCount }

  /// Gives the objects of those ids, in their order, all of which match.
  private mutating func give(
    _ ids: [UInt64],
    _ wanted: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    for id in ids {
      unsafe try pace.step()
      guard unsafe takes() else { continue }
      let record = unsafe try existing(id, wanted())
      guard try body(id, record), unsafe !isDone else { return }
    }
  }

  /// Gives the objects of those ids that match, in order.
  private mutating func give(
    candidates ids: [UInt64],
    _ wanted: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard unsafe plan.isOrdered else {
      var sorter = unsafe Sorter(core.order, limit: core.neededCount, after: startKey)
      for id in ids {
        unsafe try pace.step()
        let record = unsafe try existing(id, testedParts)
        guard unsafe try matches(record, id) else { continue }
        unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
      }
      return unsafe try give(sorter.sortedIDs(), wanted, body)
    }
    for id in ids {
      unsafe try pace.step()
      if let start = unsafe core.start, id <= start.id { continue }
      guard unsafe try give(id, wanted, body) else { return }
    }
  }

  /// Gives a candidate if it matches; says whether to go on.
  private mutating func give(
    _ id: UInt64,
    _ wanted: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws -> Bool {
    if unsafe plan.isExact, unsafe startKey == nil, unsafe skippedCount < core.skipCount {
      unsafe skippedCount += 1
      return true
    }
    let record = unsafe try existing(id, testedParts.union(wanted()))
    guard unsafe try isAfterStart(record, id), unsafe try plan.isExact || matches(record, id),
      unsafe takes()
    else { return true }
    return unsafe try body(id, record) && !isDone
  }

  private func isAfterStart(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    guard let start = unsafe startKey else { return true }
    var key = ByteWriter()
    unsafe try translating(id) { () throws(RecordError) in
      unsafe try core.order.write(record, id, to: &key)
    }
    return unsafe key.buffer.compare(to: start) > 0
  }

  private mutating func existing(_ id: UInt64, _ parts: RecordParts) throws -> RecordView {
    guard let record = unsafe try records.record(id, parts: parts) else {
      throw StoreError(
        .damaged,
        "an index of \(unsafe reader.tables.name) names object \(id), which is not there"
      )
    }
    return record
  }

  private func matches(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    do throws(RecordError) {
      return unsafe try core.matches(record)
    } catch {
      throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
    }
  }

  private func translating(_ id: UInt64, _ body: () throws(RecordError) -> Void) throws {
    do throws(RecordError) {
      try body()
    } catch {
      throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
    }
  }

  // MARK: Primary keys

  /// The ids of the objects that have one of the keys, in order.
  private mutating func objectIDs(of keys: [[UInt8]]) throws -> [UInt64] {
    var ids: [UInt64] = []
    for key in keys {
      unsafe try pace.step()
      let id = try unsafe key.withUnsafeBytes { unsafe try reader.objectID(of: $0) }
      if let id { ids.append(id) }
    }
    return ids.sorted()
  }

  // MARK: Every object

  private mutating func scan(
    _ wanted: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    var first: UInt64 = 0
    if let start = unsafe core.start {
      guard start.id < .max else { return }
      first = start.id + 1
    }
    // Hot parts alone are read first where they say which objects match.
    let parts = unsafe testedParts == .hot ? .hot : testedParts.union(wanted())
    let reader = unsafe reader
    unsafe try reader.forEachRecord(parts: parts, from: first) { id, record in
      unsafe try pace.step()
      guard unsafe try matches(record, id), unsafe takes() else { return true }
      let needed = wanted()
      guard needed.isSubset(of: parts) else {
        let whole = unsafe try existing(id, parts.union(needed))
        return unsafe try body(id, whole) && !isDone
      }
      return unsafe try body(id, record) && !isDone
    }
    unsafe reader.noteScan(Int(pace.steps), core)
  }

  private mutating func sortedByScan() throws -> [UInt64] {
    var sorter = unsafe Sorter(core.order, limit: core.neededCount, after: startKey)
    let reader = unsafe reader
    unsafe try reader.forEachRecord(parts: testedParts) { id, record in
      unsafe try pace.step()
      guard unsafe try matches(record, id) else { return true }
      unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
      return true
    }
    unsafe reader.noteScan(Int(pace.steps), core)
    return sorter.sortedIDs()
  }

  // MARK: Indexes

  /// The ids of the path that has the fewest entries, each once, in order: the paths are read in
  /// lock-step until one ends.
  private func shortest(_ paths: [AccessPath]) throws -> [UInt64] {
    guard paths.count > 1 else { return unsafe try all(paths) }
    let walks = unsafe try paths.map {
      unsafe try IndexWalk(reader, index(of: $0), $0.ranges)
    }
    var found = unsafe walks.map { _ in [UInt64]() }
    while true {
      for number in unsafe walks.indices {
        for _ in 0..<64 {
          guard let id = unsafe try walks[number].nextID() else {
            return Set(found[number]).sorted()
          }
          found[number].append(id)
        }
      }
    }
  }

  /// The ids of all paths, each once, in order.
  private func all(_ paths: [AccessPath]) throws -> [UInt64] {
    var ids: [UInt64] = []
    for path in paths {
      let walk = unsafe try IndexWalk(reader, index(of: path), path.ranges)
      while let id = unsafe try walk.nextID() { ids.append(id) }
    }
    ids.sort()
    guard paths.count > 1 || paths.contains(where: \.mayRepeat) else { return ids }
    var last: UInt64?
    return ids.filter { id in
      defer { last = id }
      return id != last
    }
  }

  private func index(of path: AccessPath) -> ModelTables.Index {
    unsafe reader.tables.indexes[path.index]
  }

  // MARK: An index in the order of the query

  /// Calls `body` with the object of each entry in the order of the query, whether or not it
  /// matches; says whether the walk came to its end or was stopped by `body`.
  private mutating func walk(
    _ path: AccessPath,
    _ isReversed: Bool,
    mostEntries: Int,
    _ body: (inout QueryRun, UInt64) throws -> Bool
  ) throws -> Bool {
    let index = unsafe index(of: path)
    let ranges = unsafe remaining(path, isReversed)
    let walk = unsafe try IndexWalk(reader, index, ranges, isReversed: isReversed)
    let hasTexts = index.parts.dropFirst(path.fixedParts).contains { $0.width == nil }
    var left = mostEntries
    // Texts that were cut stand in the order of their hashes: those with one beginning are sorted
    // before they are given.
    var group: [UInt64] = []
    var groupKey: [UInt8] = []
    while let key = unsafe try walk.next() {
      guard left > 0 else { return false }
      left -= 1
      let id = unsafe try walk.objectID(key)
      let cut = unsafe hasTexts ? index.startOfCut(key) : nil
      if !group.isEmpty {
        if let cut, unsafe UnsafeRawBufferPointer(rebasing: key[..<cut]).isSame(as: groupKey) {
          group.append(id)
          continue
        }
        guard unsafe try flush(&group, body) else { return true }
      }
      if let cut {
        group = [id]
        groupKey = unsafe Array(key[..<cut])
      } else {
        guard unsafe try body(&self, id) else { return true }
      }
    }
    return unsafe try flush(&group, body) || true
  }

  private mutating func flush(
    _ group: inout [UInt64],
    _ body: (inout QueryRun, UInt64) throws -> Bool
  ) throws -> Bool {
    guard !group.isEmpty else { return true }
    var sorter = unsafe Sorter(core.order, limit: .max, after: nil)
    for id in group {
      let record = unsafe try existing(id, testedParts)
      unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
    }
    group = []
    for id in sorter.sortedIDs() {
      guard unsafe try body(&self, id) else { return false }
    }
    return true
  }

  /// The ranges of the path from the start of the page on.
  private func remaining(_ path: AccessPath, _ isReversed: Bool) -> [KeyRange] {
    guard let start = unsafe core.start else { return path.ranges }
    let index = unsafe index(of: path)
    // The values that the query fixes are the same in every range.
    guard let prefix = index.prefix(ofParts: path.fixedParts, of: path.ranges[0].lower)
    else { return path.ranges }
    var bound = prefix
    var isWhole = true
    let open = unsafe core.order.columns.enumerated().filter { _, column in
      index.parts.dropFirst(path.fixedParts).contains { $0.position == column.position }
    }
    for (number, column) in open {
      let key = start.keys[number]
      let isText = column.width == nil
      if isText, key.count - 3 > index.longestContent / 2 {
        // The index may have it cut: begin with all that begin like it.
        bound += key.prefix(min(key.count - 2, index.longestContent / 2))
        isWhole = false
        break
      }
      bound += key
    }
    if isWhole { bound = KeyEncoding.append(start.id, to: bound) }
    let range =
      isReversed
      ? KeyRange(lower: [], upper: KeyRange.successor(of: bound))
      : KeyRange(lower: bound, upper: nil)
    return KeyRange.intersection(path.ranges, [range])
  }

  /// The ids of the first matches in the order of an index of which the query fixes no value; by a
  /// scan when few of its entries match.
  private mutating func walkOrScan(_ path: AccessPath, _ isReversed: Bool) throws -> [UInt64] {
    let needed = unsafe core.neededCount
    let most = unsafe max(1_000, try reader.count() / 8)
    var ids: [UInt64] = []
    let isComplete = unsafe try walk(path, isReversed, mostEntries: most) { run, id in
      let record = unsafe try run.existing(id, run.testedParts)
      if unsafe try run.isAfterStart(record, id), unsafe try run.matches(record, id) {
        ids.append(id)
      }
      return ids.count < needed
    }
    return unsafe isComplete ? ids : try sortedByScan()
  }
}
