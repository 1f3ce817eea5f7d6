internal import LMDB

extension StoreTransaction {
  /// Inserts the objects, or replaces stored objects that have their primary keys.
  ///
  /// This has the same effect as calling ``upsert(_:)`` for each object, but looks up and writes
  /// the objects in storage order. The larger the batch, the more objects share a page access. If
  /// several objects have the same primary key, the last one is stored. In a model with a unique
  /// index, the objects are written in the given order.
  ///
  /// A sequence that is not an array is copied to one first.
  ///
  /// - Returns: The number of inserted objects.
  /// - Throws: ``StoreError`` as ``upsert(_:)``. Some of the objects may already be written then.
  /// - Complexity: O(m log(m + n)) for m objects, with n objects in the model.
  @discardableResult
  @inlinable
  public mutating func upsert<M: Model>(contentsOf objects: some Sequence<M>) throws -> Int {
    let objects = Array(objects)
    let writer = try writer(for: M.self)
    var batch = try batch(of: objects, writer)
    sort(&batch, writer)
    defer { writer.endBatch() }
    var added = 0
    for entry in batch.entries {
      writer.encoder.start()
      objects[entry.position].encode(to: &writer.encoder)
      if try upsert(writer, entry) { added += 1 }
    }
    return added
  }

  /// Inserts the objects in the given order, or in storage order if the model is stored by key and
  /// has no unique index.
  ///
  /// This has the same effect as calling ``insert(_:)`` for each object, but looks up their primary
  /// keys together.
  ///
  /// A sequence that is not an array is copied to one first.
  ///
  /// - Throws: ``StoreError`` with `duplicateKey` if an object's primary key is already in the
  ///   store or in the batch; otherwise as ``insert(_:)``. Some of the objects may already be
  ///   inserted then; in a model with sequential ids, those before it.
  /// - Complexity: O(m log(m + n)) for m objects, with n objects in the model.
  @inlinable
  public mutating func insert<M: Model>(contentsOf objects: some Sequence<M>) throws {
    let objects = Array(objects)
    let writer = try writer(for: M.self)
    var batch = try batch(of: objects, writer)
    sortForInserting(&batch, writer)
    defer { writer.endBatch() }
    for entry in batch.entries {
      writer.encoder.start()
      objects[entry.position].encode(to: &writer.encoder)
      guard try insert(writer, entry) else {
        throw Self.duplicate(objects[entry.position])
      }
    }
  }

  @inlinable
  func batch<M: Model>(of objects: [M], _ writer: ModelWriter) throws -> WriteBatch {
    var batch = WriteBatch(capacity: objects.count)
    for index in objects.indices {
      unsafe try objects[index].primaryKey.withStoredBytes { key in
        unsafe batch.append(writer.hash(of: key))
      }
    }
    try resolveIDs(&batch, writer)
    return batch
  }

  // MARK: Non-generic implementation

  @usableFromInline
  func resolveIDs(_ batch: inout WriteBatch, _ writer: ModelWriter) throws {
    switch writer.tables.storage {
    case .sequential:
      try batch.resolveIDs { try writer.firstID(withHash: $0, in: transaction) }
    case .byKey: batch.setHomeIDs()
    }
  }

  @usableFromInline
  func sort(_ batch: inout WriteBatch, _ writer: ModelWriter) {
    // Keep the given order so that an object can take a unique value that an earlier one releases.
    if writer.tables.indexes.contains(where: \.description.isUnique) {
      batch.sortByPosition()
    } else {
      batch.sortByID()
    }
  }

  @usableFromInline
  func sortForInserting(_ batch: inout WriteBatch, _ writer: ModelWriter) {
    switch writer.tables.storage {
    case .sequential: batch.sortByPosition()
    case .byKey: sort(&batch, writer)
    }
  }

  /// Inserts the record in the encoder, or replaces the stored record with its primary key.
  @usableFromInline
  mutating func upsert(_ writer: ModelWriter, _ entry: WriteBatch.Entry) throws -> Bool {
    guard writer.tables.storage == .sequential else {
      return try write(byKey: writer, entry, replacing: true)
    }
    guard !entry.isRepeated else { return try upsertOutsideBatch(writer) }
    guard entry.id > 0 else {
      try writer.append(unlistedHash: entry.hash, in: &transaction)
      return true
    }
    let reader = unsafe writer.reader(in: transaction, as: .convertedIfPossible)
    guard
      let found = unsafe try reader.found(entry.id, ifKeyIs: try writer.encodedKey, parts: .all)
    else {
      // Another primary key has the same hash.
      return try upsertOutsideBatch(writer)
    }
    writer.endBatch()
    try writer.replace(found, in: &transaction)
    return false
  }

  /// Inserts the record in the encoder into a model that is stored by key.
  ///
  /// - Returns: Whether the primary key was new. A record with the key is replaced if `replacing`.
  private mutating func write(
    byKey writer: ModelWriter,
    _ entry: WriteBatch.Entry,
    replacing: Bool
  ) throws -> Bool {
    try writer.beginBatch(in: transaction)
    let key = unsafe try writer.encodedKey
    let form: OutdatedForm = replacing ? .convertedIfPossible : .stored
    if let found = unsafe try writer.find(key, hash: entry.hash, as: form, in: transaction) {
      if replacing { try writer.replace(found, in: &transaction) }
      return false
    }
    try writer.add(keyHash: entry.hash, in: &transaction)
    return true
  }

  private mutating func upsertOutsideBatch(_ writer: ModelWriter) throws -> Bool {
    writer.endBatch()
    return try upsert(writer)
  }

  /// Inserts the record in the encoder, or returns false if its primary key is already in the
  /// store.
  @usableFromInline
  mutating func insert(_ writer: ModelWriter, _ entry: WriteBatch.Entry) throws -> Bool {
    guard writer.tables.storage == .sequential else {
      return try write(byKey: writer, entry, replacing: false)
    }
    guard entry.id == 0, !entry.isRepeated else {
      writer.endBatch()
      return try insert(writer)
    }
    try writer.append(unlistedHash: entry.hash, in: &transaction)
    return true
  }
}

/// The objects of a batch, with their object ids and the order in which they are written.
///
/// Looking up primary keys in the order of their hashes and writing objects in the order of their
/// ids accesses one page after another, instead of a random page for each object.
@usableFromInline
struct WriteBatch {
  /// An object of the batch.
  @usableFromInline
  struct Entry: Hashable {
    /// The hash of its primary key.
    let hash: UInt64
    /// Its position in the batch.
    @usableFromInline let position: Int
    /// The id of a stored object whose primary key has this hash; 0 if there is none.
    ///
    /// In a model that is stored by key, the id that follows from the hash.
    var id: UInt64 = 0
    /// Whether another object of the batch has the same hash.
    var isRepeated = false
  }

  @usableFromInline private(set) var entries: [Entry] = []

  @usableFromInline
  init(capacity: Int) {
    entries.reserveCapacity(capacity)
  }

  /// Adds the next object of the batch.
  @usableFromInline
  mutating func append(_ hash: UInt64) {
    entries.append(Entry(hash: hash, position: entries.count))
  }

  /// Looks up each distinct hash once, in ascending order.
  mutating func resolveIDs(_ id: (UInt64) throws -> UInt64) rethrows {
    entries.sort { ($0.hash, $0.position) < ($1.hash, $1.position) }
    for index in entries.indices {
      guard index > 0, entries[index - 1].hash == entries[index].hash else {
        entries[index].id = try id(entries[index].hash)
        continue
      }
      entries[index].id = entries[index - 1].id
      entries[index].isRepeated = true
      entries[index - 1].isRepeated = true
    }
  }

  /// Sets the ids that follow from the hashes, for a model that is stored by key.
  mutating func setHomeIDs() {
    for index in entries.indices {
      entries[index].id = StorageLayout.homeID(ofHash: entries[index].hash)
    }
  }

  /// Restores the given order.
  @usableFromInline
  mutating func sortByPosition() {
    var sorted = entries
    for entry in entries { sorted[entry.position] = entry }
    entries = sorted
  }

  /// Sorts stored objects by id, followed by new objects.
  ///
  /// Objects with the same id, and new objects, keep the given order.
  mutating func sortByID() {
    // Subtracting 1 maps 0 to the greatest number.
    entries.sort { ($0.id &- 1, $0.position) < ($1.id &- 1, $1.position) }
  }
}
