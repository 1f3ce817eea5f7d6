package import LMDB

/// The form of a record that the steps of a migration convert when it is read.
///
/// Both forms have the same values in all fields that the steps do not change, which include the
/// primary key, references, and every field with an index in use or a column.
package enum OutdatedForm {
  /// The form after the steps. A record that a step rejects is an error.
  case converted
  /// The form before the steps, which has no value of the fields that they change.
  case stored
  /// The form after the steps, or that before them if a step rejects the record.
  case convertedIfPossible
}

/// Reads the stored records of one model in one transaction.
///
/// It is not generic, so it is compiled once; thin generic functions around it encode and decode.
@unsafe
@usableFromInline
package struct ModelReader {
  let transaction: TransactionReference
  let tables: ModelTables
  /// The hot chunks that the transaction has changed but not yet written to the database.
  let changedChunks: HotCache?
  /// The chunks of columns that the transaction has changed but not yet written to the database.
  let changedColumns: ColumnCaches?
  /// The form in which outdated records are returned.
  let outdatedForm: OutdatedForm

  /// Creates a reader.
  ///
  /// Without the caches of a ``ModelWriter``, the reader must not read hot fields or columns in a
  /// transaction in which a writer has changed the model: they can be outdated. Use
  /// ``ModelWriter/reader(in:as:)`` there.
  package init(
    transaction: TransactionReference,
    tables: ModelTables,
    changedChunks: HotCache? = nil,
    changedColumns: ColumnCaches? = nil,
    outdatedForm: OutdatedForm = .converted
  ) {
    unsafe self.transaction = unsafe transaction
    unsafe self.tables = tables
    unsafe self.changedChunks = changedChunks
    unsafe self.changedColumns = changedColumns
    unsafe self.outdatedForm = outdatedForm
  }

  /// A reader of records as they are stored, which applies no step.
  var asStored: ModelReader {
    unsafe ModelReader(
      transaction: transaction,
      tables: tables,
      changedChunks: changedChunks,
      changedColumns: changedColumns,
      outdatedForm: .stored
    )
  }

  // MARK: Lookup by object ID

  /// Returns the record of an object, or `nil` when no such object exists.
  ///
  /// Only `parts` are read; reading a field of another part from the result is an error of the
  /// caller.
  package func record(_ id: UInt64, parts: RecordParts = .all) throws -> RecordView? {
    guard parts != .hot else { return unsafe try hotRecord(id) }
    guard let cold = unsafe try value(of: id, in: tables.records) else { return nil }
    return unsafe try record(id, cold: cold, parts: parts)
  }

  /// Returns the record with the given cold part, and reads its hot part if `parts` contains it.
  func record(
    _ id: UInt64,
    cold: UnsafeRawBufferPointer,
    parts: RecordParts
  ) throws -> RecordView {
    let hot =
      unsafe parts.contains(.hot) && tables.hasHotFields ? try hotPart(of: id) : nil
    return unsafe try record(id, cold: cold, hot: hot, parts: parts)
  }

  /// Returns the record made of a cold and a hot part.
  func record(
    _ id: UInt64,
    cold: UnsafeRawBufferPointer,
    hot: HotChunk.Part?,
    parts: RecordParts
  ) throws -> RecordView {
    do throws(RecordError) {
      let layout = unsafe try tables.reference(RecordHeader(cold).layoutNumber)
      if unsafe !layout.isOutdated || outdatedForm == .stored {
        let readsHot = unsafe parts.contains(.hot) && layout.hasHotFields
        if readsHot, unsafe hot == nil { throw RecordError(.missingHotPart) }
        return unsafe try RecordView(
          cold: cold,
          hot: readsHot ? hot : nil,
          objectID: id,
          layout: layout
        )
      }
    } catch {
      throw StoreError(error, model: unsafe tables.name, objectID: id)
    }
    guard unsafe outdatedForm == .convertedIfPossible else {
      return unsafe try convertedRecord(id, cold: cold, hot: hot)
    }
    do {
      return unsafe try convertedRecord(id, cold: cold, hot: hot)
    } catch let error as StoreError where error.code == .migrationFailed {
      return unsafe try asStored.record(id, cold: cold, hot: hot, parts: parts)
    }
  }

  /// Returns the record of an outdated layout as the steps of a migration convert it.
  ///
  /// Reads the hot part if the caller has not, because a step may use any field.
  private func convertedRecord(
    _ id: UInt64,
    cold: UnsafeRawBufferPointer,
    hot: HotChunk.Part?
  ) throws -> RecordView {
    let part = unsafe try hot ?? hotPart(of: id)
    do {
      let layout = unsafe try tables.reference(RecordHeader(cold).layoutNumber)
      guard let conversion = unsafe layout.binding.conversion else {
        throw RecordError(.unknownLayout)
      }
      if unsafe layout.hasHotFields && part == nil { throw RecordError(.missingHotPart) }
      let record = unsafe try RecordView(
        cold: cold,
        hot: layout.hasHotFields ? part : nil,
        objectID: id,
        layout: layout
      )
      return try conversion.convert(record, id)
    } catch let error as RecordError {
      throw StoreError(error, model: unsafe tables.name, objectID: id)
    }
  }

  private func hotRecord(_ id: UInt64) throws -> RecordView? {
    guard let part = unsafe try hotPart(of: id) else { return nil }
    do throws(RecordError) {
      return unsafe try RecordView(hot: part, layout: tables.reference(part.layoutNumber))
    } catch {
      throw StoreError(error, model: unsafe tables.name, objectID: id)
    }
  }

  /// Returns the hot part of an object; verifies its checksum only, not those of its chunk.
  func hotPart(of id: UInt64) throws -> HotChunk.Part? {
    do {
      return unsafe try uncheckedChunk(HotChunk.number(of: id))?.checkedPart(of: id)
    } catch let error as RecordError {
      throw StoreError(error, model: unsafe tables.name, objectID: id)
    }
  }

  /// Returns the hot part of an object in the bytes of its chunk after verifying its checksum.
  func hotPart(of id: UInt64, in chunk: UnsafeRawBufferPointer) throws -> HotChunk.Part? {
    do {
      return unsafe try HotChunkView(measured: chunk).checkedPart(of: id)
    } catch {
      throw StoreError(error, model: unsafe tables.name, objectID: id)
    }
  }

  /// Returns a chunk of hot parts after verifying the checksum of the whole chunk.
  func chunk(_ number: UInt64) throws -> HotChunkView? {
    if let changed = unsafe changedChunks?.chunk(number) { return unsafe changed.view }
    return unsafe try value(of: number, in: tables.hot).map {
      unsafe try HotChunkView($0, number: number)
    }
  }

  /// Returns a chunk of hot parts after checking its size but not its checksum.
  package func uncheckedChunk(_ number: UInt64) throws -> HotChunkView? {
    if let changed = unsafe changedChunks?.chunk(number) { return unsafe changed.view }
    return unsafe try value(of: number, in: tables.hot).map {
      unsafe try HotChunkView(measured: $0)
    }
  }

  package func value(of id: UInt64, in database: Database) throws -> UnsafeRawBufferPointer? {
    unsafe try transaction.value(of: id, in: database)
  }

  // MARK: All records

  /// Returns the number of objects.
  ///
  /// Takes constant time.
  func count() throws -> Int { unsafe try transaction.count(of: tables.records) }

  /// Calls `body` with each record in the order of object IDs, until `body` returns `false`.
  ///
  /// The scan starts at the ID `start`. Only `parts` are read. With `.hot` alone, objects without a
  /// hot part are skipped, so the caller must know that every layout has one.
  package func forEachRecord(
    parts: RecordParts = .all,
    from start: UInt64 = 0,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    guard parts != .hot else { return unsafe try forEachHotRecord(from: start, body) }
    let cold = unsafe try transaction.cursor(on: tables.records)
    var hotParts = unsafe HotPartLookup(reader: self, readsWholeChunks: true)
    let readsHot = unsafe parts.contains(.hot) && tables.hasHotFields
    var entry = try unsafe withUnsafeBytes(of: start) { unsafe try cold.first(atOrAfter: $0) }
    while let found = unsafe entry {
      let id = unsafe try objectID(found.key)
      let hot = unsafe readsHot ? try hotParts.part(of: id) : nil
      let record = unsafe try record(id, cold: found.value, hot: hot, parts: parts)
      guard try body(id, record) else { return }
      unsafe entry = unsafe try cold.next()
    }
  }

  private func forEachHotRecord(
    from start: UInt64,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    let cursor = unsafe try transaction.cursor(on: tables.hot)
    var entry = try unsafe withUnsafeBytes(of: HotChunk.number(of: start)) {
      unsafe try cursor.first(atOrAfter: $0)
    }
    while let found = unsafe entry {
      let number = unsafe try objectID(found.key)
      var id = number << HotChunk.shift
      do {
        let chunk =
          unsafe try changedChunks?.chunk(number)?.view
          ?? HotChunkView(found.value, number: number)
        for slot in 0..<(1 << Int(HotChunk.shift)) {
          guard let part = unsafe try chunk.part(at: slot) else { continue }
          id = number << HotChunk.shift + UInt64(slot)
          guard id >= start else { continue }
          let record = unsafe try RecordView(
            hot: part,
            layout: tables.reference(part.layoutNumber)
          )
          guard try body(id, record) else { return }
        }
      } catch let error as RecordError {
        throw StoreError(error, model: unsafe tables.name, objectID: id)
      }
      unsafe entry = unsafe try cursor.next()
    }
  }

  /// Looks up hot parts by object ID; reads a chunk once for successive IDs in it.
  @unsafe
  struct HotPartLookup {
    private let reader: ModelReader
    /// Whether every object of a chunk is read: then the chunk's checksum is verified once,
    /// otherwise the checksum of each part.
    private let readsWholeChunks: Bool
    private var number = UInt64.max
    private var chunk: HotChunkView?

    init(reader: ModelReader, readsWholeChunks: Bool) {
      unsafe self.reader = unsafe reader
      unsafe self.readsWholeChunks = readsWholeChunks
    }

    mutating func part(of id: UInt64) throws -> HotChunk.Part? {
      let chunkNumber = HotChunk.number(of: id)
      do {
        if unsafe number != chunkNumber {
          unsafe number = chunkNumber
          unsafe chunk =
            unsafe try readsWholeChunks
            ? reader.chunk(chunkNumber) : reader.uncheckedChunk(chunkNumber)
        }
        return unsafe try readsWholeChunks
          ? chunk?.part(at: HotChunk.slot(of: id)) : chunk?.checkedPart(of: id)
      } catch let error as RecordError {
        throw StoreError(error, model: unsafe reader.tables.name, objectID: id)
      }
    }
  }

  private func objectID(_ key: UnsafeRawBufferPointer) throws -> UInt64 {
    guard key.count == 8 else {
      throw StoreError(
        .damaged,
        unsafe "a record of \(tables.name) has a key of \(key.count) bytes, not 8"
      )
    }
    return unsafe key.loadUnaligned(as: UInt64.self)
  }
}

extension ModelTables {
  /// Calls `body` with each record of the model in the order of object IDs, until it returns
  /// `false`.
  package func forEachRecord(
    in transaction: borrowing some Transaction & ~Copyable,
    as outdatedForm: OutdatedForm = .converted,
    parts: RecordParts = .all,
    from start: UInt64 = 0,
    _ body: (UInt64, borrowing RecordView) throws -> Bool
  ) throws {
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: self,
      outdatedForm: outdatedForm
    )
    unsafe try reader.forEachRecord(parts: parts, from: start, body)
  }

  /// Calls `body` with the record of an object; returns `nil` if there is none.
  package func withRecord<R>(
    _ id: UInt64,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (borrowing RecordView) throws -> R
  ) throws -> R? {
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: self
    )
    guard let record = unsafe try reader.record(id) else { return nil }
    return try body(record)
  }

  /// Calls `body` with the id and the record of the object that has a primary key, given in its stored
  /// form; returns `nil` if there is none.
  package func withRecord<R>(
    ofKey key: [UInt8],
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: (UInt64, borrowing RecordView) throws -> R
  ) throws -> R? {
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: self
    )
    return try unsafe key.withUnsafeBytes { key in
      guard let found = unsafe try reader.find(key) else { return nil }
      return try body(found.id, found.record)
    }
  }
}
