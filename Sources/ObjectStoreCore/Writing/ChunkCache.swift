internal import LMDB

/// A write-back cache of the chunks of one table that a write has changed.
///
/// Writes often change neighboring objects, so a chunk is checked, changed and stored once for all
/// of them. Chunks that the table does not contain yet are also stored before the table is scanned,
/// so that the scan finds them.
struct ChunkCache<Chunk: ChunkBuilder> {
  private let database: Database
  /// Returns the seed of the checksum of the chunk with a number.
  private let seed: (UInt64) -> UInt64
  private var chunks: [UInt64: Chunk] = [:]
  /// The numbers of the chunks that the table does not contain.
  private var new: Set<UInt64> = []
  /// The last used chunk, which is usually the next one used.
  private var last: (number: UInt64, chunk: Chunk)?

  init(_ database: Database, seed: @escaping (UInt64) -> UInt64) {
    self.database = database
    self.seed = seed
  }

  var count: Int { chunks.count }

  /// The cached chunk with a number.
  subscript(number: UInt64) -> Chunk? {
    if let last, last.number == number { return last.chunk }
    return chunks.isEmpty ? nil : chunks[number]
  }

  /// Adds a chunk.
  ///
  /// - Parameters:
  ///   - chunk: A copy of a stored chunk, or an empty one.
  ///   - number: Its number.
  ///   - isNew: Whether the table does not contain it.
  mutating func insert(_ chunk: Chunk, number: UInt64, isNew: Bool) {
    if isNew { new.insert(number) }
    chunks[number] = chunk
    last = (number, chunk)
  }

  /// Stores every changed chunk and empties the cache.
  mutating func flush(in transaction: WriteTransactionReference) throws {
    guard !chunks.isEmpty else { return }
    unsafe try store(chunks.keys, in: transaction)
    chunks.removeAll(keepingCapacity: true)
    new.removeAll(keepingCapacity: true)
    last = nil
  }

  /// Stores the chunks that the table does not contain, before a scan of the table.
  mutating func flushNew(in transaction: WriteTransactionReference) throws {
    guard !new.isEmpty else { return }
    unsafe try store(new, in: transaction)
    new = new.filter { chunks[$0]?.isEmpty ?? false }
  }

  /// Stores the chunks with these numbers in key order.
  private func store(
    _ numbers: some Sequence<UInt64>,
    in transaction: WriteTransactionReference
  ) throws {
    var writer = unsafe try OrderedWriter(database, in: transaction)
    for number in numbers.sorted() {
      guard let chunk = chunks[number], chunk.isChanged else { continue }
      try unsafe withUnsafeBytes(of: number) { key in
        if !chunk.isEmpty {
          chunk.seal(seed: seed(number))
          unsafe try writer.put(chunk.bytes, for: key)
        } else if !new.contains(number) {
          unsafe try writer.delete(key)
        }
      }
    }
  }
}
