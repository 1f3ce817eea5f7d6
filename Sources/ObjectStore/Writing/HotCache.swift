internal import LMDB

/// A write-back cache of the hot chunks that a write has changed.
///
/// Writes often change neighboring objects, so a chunk is checked, changed and stored once for all
/// of them. Chunks that the table does not contain yet are also stored before the table is scanned,
/// so that the scan finds them.
final class HotCache {
  /// The maximum number of cached chunks, which take some megabytes.
  private static let limit = 8_192

  private let tables: ModelTables
  private var chunks: [UInt64: HotChunkBuilder] = [:]
  /// The numbers of the chunks that the table does not contain.
  private var new: Set<UInt64> = []
  /// The last used chunk, which is usually the next one used.
  private var last: (number: UInt64, chunk: HotChunkBuilder)?

  init(_ tables: ModelTables) {
    self.tables = tables
  }

  /// Returns the cached chunk with this number.
  func chunk(_ number: UInt64) -> HotChunkBuilder? {
    if let last, last.number == number { return last.chunk }
    return chunks.isEmpty ? nil : chunks[number]
  }

  /// Sets the hot part of an object.
  func set(
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
  func flush(in transaction: inout WriteTransaction) throws {
    guard !chunks.isEmpty else { return }
    unsafe try store(chunks.keys, in: WriteTransactionReference(transaction))
    chunks.removeAll(keepingCapacity: true)
    new.removeAll(keepingCapacity: true)
    last = nil
  }

  /// Stores the chunks that the table does not contain, before a scan of the table.
  func flushNew(in transaction: WriteTransactionReference) throws {
    guard !new.isEmpty else { return }
    unsafe try store(new, in: transaction)
    new = new.filter { number in chunks[number].map { unsafe $0.view.presence == 0 } ?? false }
  }

  /// Stores the chunks with these numbers in key order.
  private func store(
    _ numbers: some Sequence<UInt64>,
    in transaction: WriteTransactionReference
  ) throws {
    var writer = unsafe try OrderedWriter(tables.hot, in: transaction)
    for number in numbers.sorted() {
      guard let chunk = chunks[number], chunk.isChanged else { continue }
      try unsafe withUnsafeBytes(of: number) { key in
        if unsafe chunk.view.presence > 0 {
          chunk.seal(number: number)
          unsafe try writer.put(chunk.view.bytes, for: key)
        } else if !new.contains(number) {
          unsafe try writer.delete(key)
        }
      }
    }
  }

  /// Returns the chunk with this number for reading and changing.
  ///
  /// Loads it if necessary.
  func load(
    _ number: UInt64,
    in transaction: inout WriteTransaction
  ) throws -> HotChunkBuilder {
    if let chunk = chunk(number) { return chunk }
    if chunks.count >= Self.limit { try flush(in: &transaction) }
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: tables
    )
    let chunk: HotChunkBuilder
    do {
      if let stored = unsafe try reader.chunk(number) {
        chunk = unsafe HotChunkBuilder(unsafe stored)
      } else {
        chunk = HotChunkBuilder()
        new.insert(number)
      }
    } catch let error as RecordError {
      throw StoreError(error, model: tables.name, objectID: number << HotChunk.shift)
    }
    chunks[number] = chunk
    last = (number, chunk)
    return chunk
  }
}
