internal import LMDB

extension ObjectReader where Self: ~Copyable {
  /// Returns the objects with the given primary keys, in the order of the keys.
  ///
  /// This has the same result as calling ``find(_:key:)`` for each key, but reads the key table in
  /// the order of the hashes and the records in the order of their ids, so that keys share pages and
  /// the memory of several records is loaded at the same time. For a model that is stored by key
  /// (``StorageLayout/byKey``) it reads the records alone.
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

  /// The number of records whose memory is requested ahead of their use.
  private static let window = 32

  private let reader: ModelReader
  private var keys: [Key] = []
  private var candidates: [Candidate] = []
  /// The number of candidates that were returned.
  private var returnedCount = 0
  /// The cold parts of the candidates from `windowStart` on; `nil` for an id that no object has.
  private var window = unsafe [UnsafeRawBufferPointer?]()
  private var windowStart = 0
  private var records: Cursor?
  private var hotParts: ModelReader.HotPartLookup

  @usableFromInline
  init(_ reader: ModelReader, capacity: Int) {
    unsafe self.reader = unsafe reader
    unsafe hotParts = unsafe ModelReader.HotPartLookup(reader: reader, readsWholeChunks: false)
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
    if unsafe !candidates.isEmpty {
      unsafe records = unsafe try reader.transaction.cursor(on: reader.tables.records)
    }
  }

  /// Appends the objects that the key table lists under the hashes of the keys.
  private mutating func appendListedCandidates() throws {
    unsafe keys.sort { $0.hash < $1.hash }
    let count = unsafe keys.count
    var ids = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    for index in 0..<count {
      let key = unsafe keys[index]
      if unsafe index == 0 || keys[index - 1].hash != key.hash {
        unsafe ids =
          unsafe try reader.objectIDs(withHash: key.hash)
          ?? UnsafeRawBufferPointer(start: nil, count: 0)
      }
      for offset in stride(from: 0, to: ids.count, by: 8) {
        let id = unsafe ids.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        unsafe candidates.append(
          Candidate(id: UInt64(littleEndian: id), place: key.position, isListed: true)
        )
      }
    }
  }

  /// Returns the next candidate; `nil` at the end.
  @usableFromInline
  mutating func next() throws -> Candidate? {
    guard unsafe returnedCount < candidates.count else { return nil }
    if unsafe returnedCount == windowStart + window.count { unsafe try fillWindow() }
    defer { unsafe returnedCount += 1 }
    return unsafe candidates[returnedCount]
  }

  /// Finds the next records, and requests their memory.
  private mutating func fillWindow() throws {
    unsafe windowStart = unsafe returnedCount
    unsafe window.removeAll(keepingCapacity: true)
    for index in unsafe returnedCount..<min(returnedCount + Self.window, candidates.count) {
      unsafe window.append(try coldPart(of: candidates[index]))
    }
  }

  private func coldPart(of candidate: Candidate) throws -> UnsafeRawBufferPointer? {
    let id = candidate.id
    let entry = try unsafe withUnsafeBytes(of: id) { unsafe try records?.first(atOrAfter: $0) }
    guard let entry = unsafe entry, unsafe entry.key.count == 8,
      unsafe entry.key.loadUnaligned(as: UInt64.self) == id
    else {
      guard !candidate.isListed else { throw unsafe reader.missingRecord(id) }
      return nil
    }
    return unsafe entry.value
  }

  /// Returns the object of the candidate that ``next()`` returned last if it has this primary key.
  @usableFromInline
  mutating func found(
    _ candidate: Candidate,
    ifKeyIs key: UnsafeRawBufferPointer
  ) throws -> ModelReader.Found? {
    guard let cold = unsafe window[returnedCount - 1 - windowStart] else { return nil }
    let id = candidate.id
    guard unsafe !reader.tables.hasOutdatedLayouts else {
      return unsafe try reader.found(id, cold: cold, ifStoredKeyIs: key, parts: .all)
    }
    let record = unsafe try reader.record(id, cold: cold, hot: nil, parts: .cold)
    guard unsafe try reader.isKey(key, of: record, id) else { return nil }
    guard unsafe reader.tables.hasHotFields else {
      return ModelReader.Found(id: id, record: record)
    }
    let hot = unsafe try hotParts.part(of: id)
    return ModelReader.Found(
      id: id,
      record: unsafe try reader.record(id, cold: cold, hot: hot, parts: .all)
    )
  }
}
