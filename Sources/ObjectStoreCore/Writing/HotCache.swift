package import LMDB

/// The hot chunks that a write has changed, in a ``ChunkCache``.
package final class HotCache {
  /// The maximum number of cached chunks, which take some megabytes.
  private static let limit = 8_192

  private let tables: ModelTables
  private var cache: ChunkCache<HotChunkBuilder>

  package init(_ tables: ModelTables) {
    self.tables = tables
    cache = ChunkCache(tables.hot) { number in number }
  }

  /// Returns the cached chunk with this number.
  func chunk(_ number: UInt64) -> HotChunkBuilder? { cache[number] }

  /// Sets the hot part of an object.
  package func set(
    _ part: UnsafeRawBufferPointer,
    layoutNumber: UInt16,
    of id: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    let chunk = try load(HotChunk.number(of: id), in: &transaction)
    do throws(RecordError) {
      unsafe try chunk.set(part, layoutNumber: layoutNumber, of: id)
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }

  /// Removes the hot part of an object if it exists.
  func remove(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    let chunk = try load(HotChunk.number(of: id), in: &transaction)
    do throws(RecordError) {
      try chunk.remove(HotChunk.slot(of: id))
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }

  /// Stores every changed chunk and empties the cache.
  package func flush(in transaction: inout WriteTransaction) throws {
    unsafe try cache.flush(in: WriteTransactionReference(transaction))
  }

  /// Stores the chunks that the table does not contain, before a scan of the table.
  func flushNew(in transaction: WriteTransactionReference) throws {
    unsafe try cache.flushNew(in: transaction)
  }

  /// Returns the chunk with this number for reading and changing.
  ///
  /// Loads it if necessary.
  func load(
    _ number: UInt64,
    in transaction: inout WriteTransaction
  ) throws -> HotChunkBuilder {
    if let chunk = cache[number] { return chunk }
    if cache.count >= Self.limit { try flush(in: &transaction) }
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: tables
    )
    do {
      let stored = unsafe try reader.chunk(number)
      let chunk = unsafe stored.map { unsafe HotChunkBuilder($0) } ?? HotChunkBuilder()
      cache.insert(chunk, number: number, isNew: unsafe stored == nil)
      return chunk
    } catch let error as RecordError {
      throw StoreError(error, model: tables.name, objectID: number << HotChunk.shift)
    }
  }
}
