internal import LMDB

// Queries of primary keys, and scans of all records or of the columns of a model.

@unsafe
extension QueryExecutor {
  // MARK: Primary keys

  /// Returns the IDs of the objects with the given primary keys, in ascending order.
  mutating func objectIDs(of keys: [[UInt8]]) throws -> [UInt64] {
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

  mutating func scanTable(
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
    unsafe reader.tables.logScan(Int(cancellation.steps), core)
  }

  mutating func sortedByTableScan() throws -> [UInt64] {
    var sorter = unsafe Sorter(core.order, limit: core.neededCount, after: startKey)
    let reader = unsafe reader
    unsafe try reader.forEachRecord(parts: testedParts) { id, record in
      unsafe try cancellation.step()
      guard unsafe try matches(record, id) else { return true }
      unsafe try translating(id) { () throws(RecordError) in try sorter.add(record, id) }
      return true
    }
    unsafe reader.tables.logScan(Int(cancellation.steps), core)
    return sorter.sortedIDs()
  }

  // MARK: Columns

  /// Emits the matches in the order of their IDs.
  mutating func scanColumns(
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
  mutating func sortedByColumns() throws -> [UInt64] {
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
}
