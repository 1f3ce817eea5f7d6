internal import LMDB

/// Runs a query on the records of one transaction.
///
/// It is not generic: it yields record views, and the caller decodes them.
@unsafe
struct QueryExecutor: ~Copyable {
  let reader: ModelReader
  let core: ResolvedQuery
  let plan: AccessPlan
  /// The record parts that the condition and the order read.
  let testedParts: RecordParts
  let startKey: [UInt8]?
  var records: RecordLookup
  var skippedCount = 0
  var emittedCount = 0
  var cancellation = CancellationCheck()

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
  mutating func countMatch() -> Bool {
    guard unsafe skippedCount >= core.skipCount else {
      unsafe skippedCount += 1
      return false
    }
    unsafe emittedCount += 1
    return true
  }

  var isDone: Bool { unsafe emittedCount >= core.takeCount }

  /// Emits the objects with the given IDs, all of which match, in the given order.
  mutating func emit(
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
  mutating func emit(
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
  mutating func prepare(_ ids: [UInt64], at index: Int, _ parts: RecordParts) throws {
    guard unsafe index.isMultiple(of: RecordBatch.size) else { return }
    unsafe try records.prepare(ids[index...].prefix(RecordBatch.size), parts: parts)
  }

  /// Emits the objects of an index that match, in the order of the index.
  ///
  /// Their records are read in batches, which grow, because the caller may need only some of them.
  mutating func emitOrdered(
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
  mutating func emit(
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
  mutating func emit(
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
  func skips(_ count: Int) -> Bool {
    unsafe plan.isExact && startKey == nil && skippedCount + count <= core.skipCount
  }

  /// The parts to read of a candidate.
  func parts(_ requested: RecordParts) -> RecordParts {
    // The entries of an exact path match, so their records need not be tested.
    let isTested = unsafe !plan.isExact || startKey != nil
    return unsafe isTested ? testedParts.union(requested) : requested
  }

  func isAfterStart(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    guard let start = unsafe startKey else { return true }
    var key = ByteWriter()
    unsafe try translating(id) { () throws(RecordError) in
      unsafe try core.order.write(record, id, to: &key)
    }
    return unsafe key.buffer.compare(to: start) > 0
  }

  mutating func existingRecord(_ id: UInt64, _ parts: RecordParts) throws -> RecordView {
    guard let record = unsafe try records.record(id, parts: parts) else {
      throw StoreError(
        .damaged,
        "an index of \(unsafe reader.tables.name) refers to object \(id), which does not exist"
      )
    }
    return record
  }

  func matches(_ record: borrowing RecordView, _ id: UInt64) throws -> Bool {
    do throws(RecordError) {
      return unsafe try core.matches(record)
    } catch {
      throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
    }
  }

  func translating(_ id: UInt64, _ body: () throws(RecordError) -> Void) throws {
    do throws(RecordError) {
      try body()
    } catch {
      throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
    }
  }
}
