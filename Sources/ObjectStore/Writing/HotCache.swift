internal import LMDB

/// The chunks of hot parts that a write has changed and not yet stored.
///
/// Neighbours change together: a chunk is checked, changed and stored once for all of them. Each
/// chunk here has an entry in the table, so that a cursor over the table meets it.
final class HotCache {
  /// More are stored before others are taken in: some megabytes of them.
  private static let limit = 8_192

  private let tables: ModelTables
  private var chunks: [UInt64: HotChunkBuilder] = [:]
  /// The chunk used last, which is nearly always the one used next.
  private var last: (number: UInt64, chunk: HotChunkBuilder)?

  init(_ tables: ModelTables) {
    self.tables = tables
  }

  /// The changed chunk of that number, if it is here.
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
    let chunk = try take(HotChunk.number(of: id), in: &transaction)
    do throws(RecordError) {
      unsafe try chunk.set(part, layoutNumber: layoutNumber, of: id)
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }

  /// Removes the hot part of an object, if it has one.
  func remove(_ id: UInt64, in transaction: inout WriteTransaction) throws {
    let chunk = try take(HotChunk.number(of: id), in: &transaction)
    do throws(RecordError) {
      try chunk.remove(HotChunk.slot(of: id))
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }

  /// Stores every changed chunk.
  func flush(in transaction: inout WriteTransaction) throws {
    guard !chunks.isEmpty else { return }
    for (number, chunk) in chunks.sorted(by: { $0.key < $1.key }) where chunk.isChanged {
      if unsafe chunk.view.presence == 0 {
        _ = try unsafe withUnsafeBytes(of: number) {
          unsafe try transaction.delete($0, in: tables.hot)
        }
      } else {
        try store(chunk, number, in: &transaction)
      }
    }
    chunks.removeAll(keepingCapacity: true)
    last = nil
  }

  /// The chunk of that number, to be looked at and perhaps changed.
  func take(
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
        try store(chunk, number, in: &transaction)
      }
    } catch let error as RecordError {
      throw StoreError(error, model: tables.name, objectID: number << HotChunk.shift)
    }
    chunks[number] = chunk
    last = (number, chunk)
    return chunk
  }

  private func store(
    _ chunk: HotChunkBuilder,
    _ number: UInt64,
    in transaction: inout WriteTransaction
  ) throws {
    chunk.seal(number: number)
    try unsafe withUnsafeBytes(of: number) {
      unsafe try transaction.put(chunk.view.bytes, for: $0, in: tables.hot)
    }
  }
}
