internal import LMDB

/// Runs a query on the records of one transaction.
///
/// It is not generic: it yields record views, and the caller decodes them.
@unsafe
struct QueryExecutor: ~Copyable {
  private let reader: ModelReader
  private let core: ResolvedQuery
  private let plan: AccessPlan
  /// The record parts that the condition and the order read.
  private let testedParts: RecordParts
  private let startKey: [UInt8]?
  private var records: RecordLookup
  private var skippedCount = 0
  private var emittedCount = 0
  private var cancellation = CancellationCheck()

  init(_ reader: ModelReader, _ core: ResolvedQuery) throws {
    unsafe self.reader = unsafe reader
    unsafe self.core = core
    unsafe plan = unsafe core.plan(reader.tables)
    unsafe testedParts = unsafe core.parts(reader.tables)
    unsafe startKey = core.start?.sortKey(core.order)
    unsafe records = unsafe try RecordLookup(reader)
  }

  /// Calls `body` with each match in the order of the query, until `body` returns `false`.
  ///
  /// `requested` is evaluated before each match and gives the record parts to pass to `body`.
  mutating func forEach(
    requested: @autoclosure () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard unsafe core.takeCount > 0 else { return }
    switch unsafe plan.access {
    case .nothing: return
    case .scan:
      if unsafe plan.isOrdered {
        unsafe try scanTable(requested, body)
      } else {
        unsafe try emit(sortedByTableScan(), requested, body)
      }
    case .columns:
      if unsafe plan.isOrdered {
        unsafe try scanColumns(requested, body)
      } else {
        unsafe try emit(sortedByColumns(), requested, body)
      }
    case .ordered(let path, let isReversed):
      if path.equalParts == 0, unsafe !plan.isExact {
        unsafe try emit(orderedIDs(path, isReversed), requested, body)
      } else {
        unsafe try emitOrdered(path, isReversed, requested, body)
      }
    case .primaryKeys(let keys):
      unsafe try emit(candidates: objectIDs(of: keys), requested, body)
    case .shortest(let paths):
      unsafe try emit(candidates: shortest(paths), requested, body)
    case .union(let paths):
      unsafe try emit(candidates: union(paths), requested, body)
    }
  }

  // MARK: Emitting matches

  /// Counts a match, and returns whether it is past the offset and is to be emitted.
  private mutating func countMatch() -> Bool {
    guard unsafe skippedCount >= core.skipCount else {
      unsafe skippedCount += 1
      return false
    }
    unsafe emittedCount += 1
    return true
  }

  private var isDone: Bool { unsafe emittedCount >= core.takeCount }

  /// Emits the objects with the given IDs, all of which match, in the given order.
  private mutating func emit(
    _ ids: [UInt64],
    _ requested: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    for (index, id) in ids.enumerated() {
      unsafe try cancellation.step()
      guard unsafe countMatch() else { continue }
      unsafe try prepare(ids, at: index, requested())
      let record = unsafe try existingRecord(id, requested())
      guard try body(id, record), unsafe !isDone else { return }
    }
  }

  /// Emits the candidates that match, in the order of the query.
  private mutating func emit(
    candidates ids: [UInt64],
    _ requested: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard unsafe plan.isOrdered else {
      var sorter = unsafe Sorter(core.order, limit: core.neededCount, after: startKey)
      for (index, id) in ids.enumerated() {
        unsafe try cancellation.step()
        unsafe try prepare(ids, at: index, testedParts)
        let record = unsafe try existingRecord(id, testedParts)
        guard unsafe try matches(record, id) else { continue }
        unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
      }
      return unsafe try emit(sorter.sortedIDs(), requested, body)
    }
    for (index, id) in ids.enumerated() {
      unsafe try cancellation.step()
      if let start = unsafe core.start, id <= start.id { continue }
      if unsafe !skips(1) { unsafe try prepare(ids, at: index, parts(requested())) }
      guard unsafe try emit(id, requested, body) else { return }
    }
  }

  /// Reads the next objects together, if `index` is where a batch of them begins.
  private mutating func prepare(_ ids: [UInt64], at index: Int, _ parts: RecordParts) throws {
    guard unsafe index.isMultiple(of: RecordBatch.size) else { return }
    unsafe try records.prepare(ids[index...].prefix(RecordBatch.size), parts: parts)
  }

  /// Emits the objects of an index that match, in the order of the index.
  ///
  /// Their records are read in batches, which grow, because the caller may need only some of them.
  private mutating func emitOrdered(
    _ path: AccessPath,
    _ isReversed: Bool,
    _ requested: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    var size = unsafe RecordLookup.leastBatch
    var ids: [UInt64] = []
    _ = unsafe try scanIndex(path, isReversed, maxEntries: .max) { executor, id in
      ids.append(id)
      let missingCount =
        unsafe executor.core.neededCount - executor.skippedCount
        - executor.emittedCount
      guard ids.count >= min(size, missingCount) else { return true }
      defer {
        ids.removeAll(keepingCapacity: true)
        size = unsafe min(size * 2, RecordBatch.size)
      }
      return unsafe try executor.emit(batch: ids, requested, body)
    }
    // Empty if the query is complete.
    _ = unsafe try emit(batch: ids, requested, body)
  }

  /// Emits candidates that match, and returns whether to continue.
  private mutating func emit(
    batch ids: [UInt64],
    _ requested: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws -> Bool {
    if unsafe !skips(ids.count) {
      unsafe try records.prepare(ids[...], parts: parts(requested()))
    }
    for id in ids {
      guard unsafe try emit(id, requested, body) else { return false }
    }
    return true
  }

  /// Emits a candidate if it matches, and returns whether to continue.
  private mutating func emit(
    _ id: UInt64,
    _ requested: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws -> Bool {
    if unsafe skips(1) {
      unsafe skippedCount += 1
      return true
    }
    let record = unsafe try existingRecord(id, parts(requested()))
    guard unsafe try isAfterStart(record, id), unsafe try plan.isExact || matches(record, id),
      unsafe countMatch()
    else { return true }
    return unsafe try body(id, record) && !isDone
  }

  /// Whether the next candidates are skipped without being read: all of them match.
  private func skips(_ count: Int) -> Bool {
    unsafe plan.isExact && startKey == nil && skippedCount + count <= core.skipCount
  }

  /// The parts to read of a candidate.
  private func parts(_ requested: RecordParts) -> RecordParts {
    // The entries of an exact path match, so their records need not be tested.
    let isTested = unsafe !plan.isExact || startKey != nil
    return unsafe isTested ? testedParts.union(requested) : requested
  }

  private func isAfterStart(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    guard let start = unsafe startKey else { return true }
    var key = ByteWriter()
    unsafe try translating(id) { () throws(RecordError) in
      unsafe try core.order.write(record, id, to: &key)
    }
    return unsafe key.buffer.compare(to: start) > 0
  }

  private mutating func existingRecord(_ id: UInt64, _ parts: RecordParts) throws -> RecordView {
    guard let record = unsafe try records.record(id, parts: parts) else {
      throw StoreError(
        .damaged,
        "an index of \(unsafe reader.tables.name) refers to object \(id), which does not exist"
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

  /// Returns the IDs of the objects with the given primary keys, in ascending order.
  private mutating func objectIDs(of keys: [[UInt8]]) throws -> [UInt64] {
    // The primary key does not change when a record is converted.
    let reader = unsafe reader.tables.hasOutdatedLayouts ? reader.asStored : reader
    var lookup = unsafe KeyLookup(reader, capacity: keys.count, parts: .cold)
    for key in keys { unsafe key.withUnsafeBytes { key in unsafe lookup.append(key) } }
    unsafe try lookup.resolve()
    var ids: [UInt64] = []
    while let candidate = unsafe try lookup.next() {
      unsafe try cancellation.step()
      let found = try unsafe keys[candidate.position].withUnsafeBytes { key in
        unsafe try lookup.found(candidate, ifKeyIs: key)?.id
      }
      if let id = found { ids.append(id) }
    }
    return ids
  }

  /// The lowest ID that follows the start of the page; `nil` if there is none.
  private var firstID: UInt64? {
    guard let start = unsafe core.start else { return 0 }
    return start.id < .max ? start.id + 1 : nil
  }

  // MARK: Table scans

  private mutating func scanTable(
    _ requested: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard let first = unsafe firstID else { return }
    // If the condition reads hot fields only, filter by them first and fetch the rest per match.
    let filtersByHotPart = unsafe testedParts == .hot
    var parts = unsafe filtersByHotPart ? .hot : testedParts.union(requested())
    let reader = unsafe reader
    var next: UInt64? = first
    while let start = next {
      next = nil
      unsafe try reader.forEachRecord(parts: parts, from: start) { id, record in
        if !filtersByHotPart, !requested().isSubset(of: parts) {
          // Continue the scan with all parts that are requested: a lookup per match is slower.
          parts = unsafe reader.tables.parts(ofScanNeeding: parts.union(requested()))
          next = id
          return false
        }
        unsafe try cancellation.step()
        guard unsafe try matches(record, id), unsafe countMatch() else { return true }
        let needed = requested()
        guard needed.isSubset(of: parts) else {
          let whole = unsafe try existingRecord(id, parts.union(needed))
          return unsafe try body(id, whole) && !isDone
        }
        return unsafe try body(id, record) && !isDone
      }
    }
    unsafe reader.logScan(Int(cancellation.steps), core)
  }

  private mutating func sortedByTableScan() throws -> [UInt64] {
    var sorter = unsafe Sorter(core.order, limit: core.neededCount, after: startKey)
    let reader = unsafe reader
    unsafe try reader.forEachRecord(parts: testedParts) { id, record in
      unsafe try cancellation.step()
      guard unsafe try matches(record, id) else { return true }
      unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
      return true
    }
    unsafe reader.logScan(Int(cancellation.steps), core)
    return sorter.sortedIDs()
  }

  // MARK: Columns

  /// Emits the matches in the order of their IDs.
  private mutating func scanColumns(
    _ requested: () -> RecordParts,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard let first = unsafe firstID else { return }
    let filter = unsafe ColumnFilter(core, reader.tables)
    var scan = unsafe try ColumnScan(reader, filter, from: first)
    while let chunk = unsafe try scan.next() {
      for slot in chunk.matches {
        unsafe try cancellation.step()
        guard unsafe try emit(chunk.id(at: slot), requested, body) else { return }
      }
    }
  }

  /// Returns the IDs of the matches in the order of the query.
  ///
  /// Reads no record if the columns decide the condition and the query sorts by one column.
  private mutating func sortedByColumns() throws -> [UInt64] {
    var sorter = unsafe Sorter(core.order, limit: core.neededCount, after: startKey)
    let tables = unsafe reader.tables
    var filter = unsafe ColumnFilter(core, tables)
    let order = unsafe core.order.columns
    guard filter.isExact, order.count == 1, let column = tables.column(ofFieldAt: order[0].position)
    else {
      var scan = unsafe try ColumnScan(reader, filter)
      while let chunk = unsafe try scan.next() {
        for slot in chunk.matches {
          let id = chunk.id(at: slot)
          unsafe try cancellation.step()
          let record = unsafe try existingRecord(id, testedParts)
          guard unsafe try filter.isExact || matches(record, id) else { continue }
          unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
        }
      }
      return sorter.sortedIDs()
    }
    let number = filter.add(order[0].position)
    var scan = unsafe try ColumnScan(reader, filter)
    while let chunk = unsafe try scan.next() {
      guard !chunk.matches.isEmpty else { continue }
      let view = unsafe scan.views[number]
      let values = unsafe view.values
      for slot in chunk.matches {
        let base = unsafe view.firstValue + slot * view.width
        let word = values.contains(slot) ? unsafe column.form.word(base) : nil
        sorter.add(word, chunk.id(at: slot))
      }
    }
    return sorter.sortedIDs()
  }

  // MARK: Index scans

  /// Returns the distinct IDs of the path with the fewest entries, in ascending order.
  ///
  /// The paths are read in lock step until one of them ends.
  private func shortest(_ paths: [AccessPath]) throws -> [UInt64] {
    guard paths.count > 1 else { return unsafe try union(paths) }
    let scans = unsafe try paths.map {
      unsafe try IndexScan(reader, index(of: $0), $0.ranges)
    }
    var found = unsafe scans.map { _ in [UInt64]() }
    while true {
      for number in unsafe scans.indices {
        for _ in 0..<64 {
          guard let id = unsafe try scans[number].nextID() else {
            return Set(found[number]).sorted()
          }
          found[number].append(id)
        }
      }
    }
  }

  /// Returns the distinct IDs of all paths, in ascending order.
  private func union(_ paths: [AccessPath]) throws -> [UInt64] {
    var ids: [UInt64] = []
    for path in paths {
      let scan = unsafe try IndexScan(reader, index(of: path), path.ranges)
      while let id = unsafe try scan.nextID() { ids.append(id) }
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

  // MARK: Ordered index scans

  /// Calls `body` with the object ID of each entry in the order of the query, whether or not the
  /// object matches.
  ///
  /// Returns `false` if the scan ended because it had read `maxEntries` entries.
  private mutating func scanIndex(
    _ path: AccessPath,
    _ isReversed: Bool,
    maxEntries: Int,
    _ body: (inout QueryExecutor, UInt64) throws -> Bool
  ) throws -> Bool {
    let index = unsafe index(of: path)
    let ranges = unsafe remainingRanges(path, isReversed)
    let scan = unsafe try IndexScan(reader, index, ranges, isReversed: isReversed)
    let hasStrings = index.parts.dropFirst(path.fixedParts).contains { $0.width == nil }
    var remainingEntries = maxEntries
    // Truncated strings are ordered by their hash. Entries that share a truncated prefix are
    // collected and sorted by the full values before they are emitted.
    var group: [UInt64] = []
    var groupKey: [UInt8] = []
    while let key = unsafe try scan.next() {
      guard remainingEntries > 0 else { return false }
      remainingEntries -= 1
      let id = unsafe try scan.objectID(key)
      let truncation = unsafe hasStrings ? index.truncationOffset(key) : nil
      if !group.isEmpty {
        if let truncation,
          unsafe UnsafeRawBufferPointer(rebasing: key[..<truncation]).isSame(as: groupKey)
        {
          group.append(id)
          continue
        }
        guard unsafe try flush(&group, body) else { return true }
      }
      if let truncation {
        group = [id]
        groupKey = unsafe Array(key[..<truncation])
      } else {
        guard unsafe try body(&self, id) else { return true }
      }
    }
    return unsafe try flush(&group, body) || true
  }

  private mutating func flush(
    _ group: inout [UInt64],
    _ body: (inout QueryExecutor, UInt64) throws -> Bool
  ) throws -> Bool {
    guard !group.isEmpty else { return true }
    var sorter = unsafe Sorter(core.order, limit: .max, after: nil)
    for id in group {
      let record = unsafe try existingRecord(id, testedParts)
      unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
    }
    group = []
    for id in sorter.sortedIDs() {
      guard unsafe try body(&self, id) else { return false }
    }
    return true
  }

  /// Returns the ranges of the path that follow the start of the page.
  private func remainingRanges(_ path: AccessPath, _ isReversed: Bool) -> [KeyRange] {
    guard let start = unsafe core.start else { return path.ranges }
    let index = unsafe index(of: path)
    // Every range has the same values in the fixed parts.
    guard let prefix = index.prefix(ofParts: path.fixedParts, of: path.ranges[0].lower)
    else { return path.ranges }
    var bound = prefix
    var isExact = true
    let sortColumns = unsafe core.order.columns.enumerated().filter { _, column in
      index.parts.dropFirst(path.fixedParts).contains { $0.position == column.position }
    }
    for (number, column) in sortColumns {
      let key = start.keys[number]
      let isString = column.width == nil
      if isString, key.count - 3 > index.maximumContentSize / 2 {
        // The index may have truncated the value: start with all entries that share its prefix.
        bound += key.prefix(min(key.count - 2, index.maximumContentSize / 2))
        isExact = false
        break
      }
      bound += key
    }
    if isExact { bound = KeyEncoding.append(start.id, to: bound) }
    let range =
      isReversed
      ? KeyRange(lower: [], upper: KeyRange.successor(of: bound))
      : KeyRange(lower: bound, upper: nil)
    return KeyRange.intersection(path.ranges, [range])
  }

  /// Returns the IDs of the first matches, read through an index for which the query fixes no
  /// value.
  ///
  /// Falls back to a table scan if too few entries match.
  private mutating func orderedIDs(_ path: AccessPath, _ isReversed: Bool) throws -> [UInt64] {
    let needed = unsafe core.neededCount
    let maxEntries = unsafe max(1_000, try reader.count() / 8)
    var ids: [UInt64] = []
    let isComplete = unsafe try scanIndex(path, isReversed, maxEntries: maxEntries) {
      executor,
      id in
      let record = unsafe try executor.existingRecord(id, executor.testedParts)
      if unsafe try executor.isAfterStart(record, id), unsafe try executor.matches(record, id) {
        ids.append(id)
      }
      return ids.count < needed
    }
    return unsafe isComplete ? ids : try sortedByTableScan()
  }
}
