internal import LMDB

/// The chunks of one column that a write has changed, in a ``ChunkCache``.
final class ColumnCache {
  /// The maximum number of cached chunks, which take up to four megabytes.
  private static let limit = 2_048

  let column: ModelTables.Column
  private var cache: ChunkCache<ColumnChunkBuilder>

  init(_ column: ModelTables.Column) {
    self.column = column
    cache = ChunkCache(column.database) { number in column.seed(ofChunk: number) }
  }

  /// Returns the cached chunk with this number.
  func chunk(_ number: UInt64) -> ColumnChunkBuilder? { cache[number] }

  /// Sets the content of the field of an object.
  func set(
    _ content: RecordView.Content,
    of id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    let chunk = try load(ColumnChunk.number(of: id), in: &transaction)
    do throws(RecordError) {
      unsafe try chunk.set(content, at: ColumnChunk.slot(of: id))
    } catch {
      throw StoreError(error, model: column.model, objectID: id)
    }
  }

  /// Removes an object.
  func remove(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    try load(ColumnChunk.number(of: id), in: &transaction).remove(ColumnChunk.slot(of: id))
  }

  /// Stores every changed chunk and empties the cache.
  func flush(in transaction: WriteTransactionReference) throws {
    unsafe try cache.flush(in: transaction)
  }

  /// Stores the chunks that the table does not contain, before a scan of the table.
  func flushNew(in transaction: WriteTransactionReference) throws {
    unsafe try cache.flushNew(in: transaction)
  }

  /// Returns the chunk with this number for reading and changing.
  ///
  /// Loads it if necessary.
  private func load(
    _ number: UInt64,
    in transaction: inout WriteTransaction
  ) throws -> ColumnChunkBuilder {
    if let chunk = cache[number] { return chunk }
    if cache.count >= Self.limit {
      unsafe try flush(in: WriteTransactionReference(transaction))
    }
    let stored = try unsafe withUnsafeBytes(of: number) { key in
      unsafe try transaction.value(for: key, in: column.database)
    }
    let chunk: ColumnChunkBuilder
    if let stored = unsafe stored {
      chunk = unsafe ColumnChunkBuilder(try column.view(stored, number: number))
    } else {
      chunk = ColumnChunkBuilder(width: column.width)
    }
    cache.insert(chunk, number: number, isNew: unsafe stored == nil)
    return chunk
  }
}

/// The caches of all columns of a model, in the order of ``ModelTables/columns``.
package final class ColumnCaches {
  let caches: [ColumnCache]

  /// Creates the caches; `nil` for a model without columns.
  init?(_ tables: ModelTables) {
    guard !tables.columns.isEmpty else { return nil }
    caches = tables.columns.map { ColumnCache($0) }
  }

  /// Sets the values of an object in the columns of the given fields, a
  /// ``ChangeLog/Change/fields`` bit set, or in all columns.
  func set(
    _ record: borrowing RecordView,
    _ id: UInt64,
    fields: UInt64? = nil,
    in transaction: inout WriteTransaction
  ) throws {
    for cache in caches {
      if let fields, !cache.column.depends(on: fields) { continue }
      do {
        unsafe try cache.set(cache.column.content(in: record), of: id, in: &transaction)
      } catch let error as RecordError {
        throw StoreError(error, model: cache.column.model, objectID: id)
      }
    }
  }

  /// Sets the edited fields of an object in their columns.
  func set(
    _ edits: borrowing FieldEdits,
    _ id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    for cache in caches {
      guard let position = cache.column.position,
        let content = unsafe edits.content(at: position)
      else { continue }
      unsafe try cache.set(content, of: id, in: &transaction)
    }
  }

  /// Removes an object from all columns.
  func remove(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    for cache in caches { try cache.remove(id, in: &transaction) }
  }

  /// Stores every changed chunk and empties the caches.
  func flush(in transaction: WriteTransactionReference) throws {
    for cache in caches { unsafe try cache.flush(in: transaction) }
  }

  /// Stores the chunks that the tables do not contain, before a scan of a table.
  func flushNew(in transaction: WriteTransactionReference) throws {
    for cache in caches { unsafe try cache.flushNew(in: transaction) }
  }
}
