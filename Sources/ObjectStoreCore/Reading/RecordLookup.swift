internal import LMDB

extension ModelTables {
  /// Calls `body` with the records of objects that an index or a scan has found, in the order of
  /// `ids`, until it returns `false`.
  ///
  /// - Throws: ``StoreError`` with `damaged` if one does not exist; the error of `body`.
  func forEachRecord(
    of ids: some Sequence<UInt64>,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    let reader = unsafe ModelReader(transaction: TransactionReference(transaction), tables: self)
    var records = unsafe try RecordLookup(reader)
    for id in ids {
      guard let record = unsafe try records.record(id, parts: .all) else {
        throw missingRecord(of: id)
      }
      guard try body(id, record) else { return }
    }
  }

  /// Calls `body` with the records that an index has in a range of keys, in their order, until it
  /// returns `false`.
  ///
  /// - Throws: As ``forEachRecord(of:in:_:)``.
  func forEachRecord(
    of index: Index,
    _ range: KeyRange,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    let reader = unsafe ModelReader(transaction: TransactionReference(transaction), tables: self)
    var records = unsafe try RecordLookup(reader)
    let scan = unsafe try IndexScan(reader, index, [range])
    while let id = unsafe try scan.nextID() {
      guard let record = unsafe try records.record(id, parts: .all) else {
        throw missingRecord(of: id)
      }
      guard try body(id, record) else { return }
    }
  }

  private func missingRecord(of id: UInt64) -> StoreError {
    StoreError(.damaged, "an index of \(name) refers to object \(id), which does not exist")
  }
}

/// Looks up records by object ID; fast when successive IDs are close to each other.
@unsafe
struct RecordLookup: ~Copyable {
  private let reader: ModelReader
  private let cold: Cursor
  private var hot: ModelReader.HotPartLookup
  /// The objects that are looked up next; `nil` if single lookups are as fast.
  private var batch: RecordBatch?
  private var hasBatch = false

  init(_ reader: ModelReader) throws {
    unsafe self.reader = unsafe reader
    unsafe cold = unsafe try reader.transaction.cursor(on: reader.tables.records)
    unsafe hot = unsafe ModelReader.HotPartLookup(reader: reader, readsWholeChunks: false)
  }

  /// Reads the objects together that are looked up next.
  ///
  /// Does nothing where single lookups are as fast.
  ///
  /// - Parameters:
  ///   - ids: At most ``RecordBatch/size`` object IDs, in the order in which they will be looked up.
  ///   - parts: The parts that will be looked up.
  /// - Throws: `LMDBError` if LMDB cannot read the store.
  mutating func prepare(_ ids: ArraySlice<UInt64>, parts: RecordParts) throws {
    guard parts.contains(.cold), unsafe ids.count >= Self.leastBatch else { return }
    if unsafe !hasBatch {
      unsafe batch = unsafe try RecordBatch(reader)
      unsafe hasBatch = true
    }
    unsafe try batch?.read(ids, parts: parts)
  }

  /// The smallest number of objects that are read together.
  static let leastBatch = 4

  /// Returns the record with the given parts, or `nil` when no such object exists.
  mutating func record(_ id: UInt64, parts: RecordParts) throws -> RecordView? {
    if let prepared = unsafe try preparedRecord(id, parts: parts) { return prepared }
    if parts == .hot { return unsafe try hotRecord(id) }
    let entry = try unsafe withUnsafeBytes(of: id) { unsafe try cold.first(atOrAfter: $0) }
    guard let entry = unsafe entry, unsafe entry.key.count == 8,
      unsafe entry.key.loadUnaligned(as: UInt64.self) == id
    else { return nil }
    let readsHot = unsafe parts.contains(.hot) && reader.tables.hasHotFields
    let part = unsafe readsHot ? try hot.part(of: id) : nil
    return unsafe try reader.record(id, cold: entry.value, hot: part, parts: parts)
  }

  /// Returns the record if it is in the batch, with the given parts.
  private mutating func preparedRecord(
    _ id: UInt64,
    parts: RecordParts
  ) throws -> RecordView? {
    guard let position = unsafe batch?.position(of: id, parts: parts),
      let cold = unsafe batch?.coldPart(at: position)
    else { return nil }
    let readsHot = unsafe parts.contains(.hot) && reader.tables.hasHotFields
    let part = unsafe readsHot ? try batch?.hotPart(at: position) : nil
    return unsafe try reader.record(id, cold: cold, hot: part, parts: parts)
  }

  private mutating func hotRecord(_ id: UInt64) throws -> RecordView? {
    guard let part = unsafe try hot.part(of: id) else { return nil }
    do throws(RecordError) {
      return unsafe try RecordView(
        hot: part,
        layout: reader.tables.reference(part.layoutNumber)
      )
    } catch {
      throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
    }
  }
}
