internal import LMDB

extension ObjectReader where Self: ~Copyable {
  /// Returns the objects with the given primary keys, in the order of the keys.
  ///
  /// This has the same result as calling ``find(_:key:)`` for each key, but in a large store it takes
  /// about six tenths of the time: several keys are looked up at the same time, so that their waits for
  /// memory overlap. In a write it is as fast as single lookups.
  ///
  /// ```swift
  /// let notes = try store.read { tx in try tx.find(Note.self, keys: [3, 1, 2]) }
  /// ```
  ///
  /// - Parameters:
  ///   - model: The model.
  ///   - keys: The primary keys, in any order; a key may be repeated.
  /// - Returns: The object of each key; `nil` for a key without an object.
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: O(k log(k + n)) for k keys, with n objects in the model. Uses 32 bytes of memory a
  ///   key beside the objects.
  @inlinable
  public func find<M: Model>(_ model: M.Type, keys: [M.PrimaryKey]) throws -> [M?] {
    var objects = [M?](repeating: nil, count: keys.count)
    guard let reader = unsafe try source.reader(of: model) else { return objects }
    var lookup = unsafe KeyLookup(reader, capacity: keys.count)
    for key in keys { unsafe try key.withStoredBytes { bytes in unsafe lookup.append(bytes) } }
    unsafe try lookup.resolve()
    while let candidate = unsafe try lookup.next() {
      unsafe try keys[candidate.position].withStoredBytes { bytes in
        guard let found = unsafe try lookup.found(candidate, ifKeyIs: bytes) else { return }
        objects[candidate.position] = try found.decode(model)
      }
    }
    return objects
  }
}

/// Looks up the records of many primary keys.
///
/// Append the keys, resolve them, and pass each candidate to ``found(_:ifKeyIs:)``.
@unsafe
@usableFromInline
struct KeyLookup: ~Copyable {
  /// A key that was appended.
  private struct Key {
    let hash: UInt64
    let position: UInt32
  }

  /// The id of an object whose primary key has the hash of an appended key, and nearly always is
  /// that key.
  @safe
  @usableFromInline
  struct Candidate {
    let id: UInt64
    private let place: UInt32
    /// Whether the key table lists the id, so that there is an object; otherwise it follows from the
    /// hash.
    let isListed: Bool

    init(id: UInt64, place: UInt32, isListed: Bool) {
      self.id = id
      self.place = place
      self.isListed = isListed
    }

    /// The number of keys that were appended before this one.
    @usableFromInline var position: Int { Int(place) }
  }

  private let reader: ModelReader
  /// The parts of the records to read.
  private let parts: RecordParts
  private var keys: [Key] = []
  private var candidates: [Candidate] = []
  /// The number of candidates that were returned.
  private var returnedCount = 0
  /// The records of the candidates from `batchStart` on.
  private var batch: RecordBatch?
  private var batchStart = 0

  @usableFromInline
  init(_ reader: ModelReader, capacity: Int) {
    unsafe self.init(reader, capacity: capacity, parts: .all)
  }

  init(_ reader: ModelReader, capacity: Int, parts: RecordParts) {
    unsafe self.reader = unsafe reader
    unsafe self.parts = parts
    unsafe keys.reserveCapacity(capacity)
  }

  /// Appends a key in its stored encoding.
  @usableFromInline
  mutating func append(_ key: UnsafeRawBufferPointer) {
    let hash = unsafe XXHash64.hash(key, seed: reader.tables.hashSeed)
    unsafe keys.append(Key(hash: hash, position: UInt32(keys.count)))
  }

  /// Finds the candidates, in the order of their ids.
  @usableFromInline
  mutating func resolve() throws {
    if unsafe reader.tables.storage == .byKey {
      for key in unsafe keys {
        let id = StorageLayout.homeID(ofHash: key.hash)
        unsafe candidates.append(Candidate(id: id, place: key.position, isListed: false))
      }
    }
    // The key table of a model that is stored by key is empty unless two hashes have collided.
    if unsafe try reader.transaction.count(of: reader.tables.keys) > 0 {
      unsafe try appendListedCandidates()
    }
    unsafe keys = []
    unsafe candidates.sort { $0.id < $1.id }
    unsafe batch = unsafe try RecordBatch(reader)
  }

  /// Appends the objects that the key table lists under the hashes of the keys.
  private mutating func appendListedCandidates() throws {
    unsafe keys.sort { $0.hash < $1.hash }
    let table = unsafe reader.tables.keys
    let lookup = unsafe try BatchLookup(reader.transaction, table)
    var entries = unsafe [UnsafeRawBufferPointer]()
    for start in stride(from: 0, to: unsafe keys.count, by: unsafe RecordBatch.size) {
      let batch = unsafe keys[start..<min(start + RecordBatch.size, keys.count)]
      unsafe entries.removeAll(keepingCapacity: true)
      unsafe try reader.append(
        batch.map(\.hash)[...],
        in: table,
        by: lookup,
        requesting: 8,
        to: &entries
      )
      for (index, key) in batch.enumerated() {
        let ids = unsafe entries[index]
        unsafe try reader.checkObjectIDs(ids)
        for offset in stride(from: 0, to: ids.count, by: 8) {
          let id = unsafe ids.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
          unsafe candidates.append(
            Candidate(id: UInt64(littleEndian: id), place: key.position, isListed: true)
          )
        }
      }
    }
  }

  /// Returns the next candidate; `nil` at the end.
  @usableFromInline
  mutating func next() throws -> Candidate? {
    guard unsafe returnedCount < candidates.count else { return nil }
    if let count = unsafe batch?.ids.count, unsafe returnedCount == batchStart + count {
      unsafe try fillBatch()
    }
    defer { unsafe returnedCount += 1 }
    return unsafe candidates[returnedCount]
  }

  /// Reads the records of the next candidates.
  private mutating func fillBatch() throws {
    unsafe batchStart = unsafe returnedCount
    let end = unsafe min(returnedCount + RecordBatch.size, candidates.count)
    let ids = unsafe candidates[returnedCount..<end].map(\.id)
    unsafe try batch?.read(ids[...], parts: parts)
  }

  /// Returns the cold part of the last candidate; `nil` for an id that no object has.
  private func coldPart(of candidate: Candidate) throws -> UnsafeRawBufferPointer? {
    let part =
      unsafe batch == nil
      ? try reader.value(of: candidate.id, in: reader.tables.records)
      : batch?.coldPart(at: returnedCount - 1 - batchStart)
    if unsafe part == nil, candidate.isListed { throw unsafe reader.missingRecord(candidate.id) }
    return unsafe part
  }

  /// Returns the object of the candidate that ``next()`` returned last if it has this primary key.
  @usableFromInline
  mutating func found(
    _ candidate: Candidate,
    ifKeyIs key: UnsafeRawBufferPointer
  ) throws -> ModelReader.Found? {
    guard let cold = unsafe try coldPart(of: candidate) else { return nil }
    let id = candidate.id
    guard unsafe !reader.tables.hasOutdatedLayouts else {
      return unsafe try reader.found(id, cold: cold, ifStoredKeyIs: key, parts: parts)
    }
    let record = unsafe try reader.record(id, cold: cold, hot: nil, parts: .cold)
    guard unsafe try reader.isKey(key, of: record, id) else { return nil }
    guard unsafe parts.contains(.hot), unsafe reader.tables.hasHotFields else {
      return ModelReader.Found(id: id, record: record)
    }
    let hot =
      unsafe batch == nil
      ? try reader.hotPart(of: id)
      : try batch?.hotPart(at: returnedCount - 1 - batchStart)
    return ModelReader.Found(
      id: id,
      record: unsafe try reader.record(id, cold: cold, hot: hot, parts: .all)
    )
  }
}
