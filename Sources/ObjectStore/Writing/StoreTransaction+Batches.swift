internal import LMDB

extension StoreTransaction {
  /// Adds the objects, or replaces those of the same primary keys.
  ///
  /// As ``upsert(_:)`` of one after another, but looks up and writes those that are there in the
  /// order in which they lie: the more of them, the more share a page. Of several objects of one
  /// primary key the last stays. In a model with a unique index they are written in the order in
  /// which they come.
  ///
  /// A sequence other than an array is read into one first.
  ///
  /// - Returns: How many were added.
  /// - Throws: ``StoreError`` as ``upsert(_:)``; any of the objects may have been written then.
  /// - Complexity: O(m log(m + n)) for m objects, in the n objects of the model.
  @discardableResult
  @inlinable
  public mutating func upsert<M: Model>(contentsOf objects: some Sequence<M>) throws -> Int {
    let objects = Array(objects)
    let writer = try writer(for: M.self)
    var batch = try batch(of: objects, writer)
    order(&batch, writer)
    defer { writer.endAppending() }
    var added = 0
    for place in batch.places {
      writer.encoder.start()
      objects[place.position].encode(to: &writer.encoder)
      if try upsert(writer, at: place) { added += 1 }
    }
    return added
  }

  /// Adds the objects, in the order in which they come.
  ///
  /// As ``insert(_:)`` of one after another, but looks their primary keys up together.
  ///
  /// A sequence other than an array is read into one first.
  ///
  /// - Throws: ``StoreError`` with `duplicateKey` when there is one of the same primary key as an
  ///   object, of which those before it are added then; and as ``insert(_:)``.
  /// - Complexity: O(m log(m + n)) for m objects, in the n objects of the model.
  @inlinable
  public mutating func insert<M: Model>(contentsOf objects: some Sequence<M>) throws {
    let objects = Array(objects)
    let writer = try writer(for: M.self)
    var batch = try batch(of: objects, writer)
    batch.orderAsGiven()
    defer { writer.endAppending() }
    for place in batch.places {
      writer.encoder.start()
      objects[place.position].encode(to: &writer.encoder)
      guard try insert(writer, at: place) else {
        throw Self.duplicate(objects[place.position])
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
    try locate(&batch, writer)
    return batch
  }

  // MARK: Without the model's type

  @usableFromInline
  func locate(_ batch: inout WriteBatch, _ writer: ModelWriter) throws {
    try batch.locate { try writer.firstID(withHash: $0, in: transaction) }
  }

  @usableFromInline
  func order(_ batch: inout WriteBatch, _ writer: ModelWriter) {
    // One object may take over values that another gives up.
    if writer.tables.indexes.contains(where: \.description.isUnique) {
      batch.orderAsGiven()
    } else {
      batch.orderByID()
    }
  }

  /// Adds the record in the encoder, or writes it over the one of its primary key.
  @usableFromInline
  mutating func upsert(_ writer: ModelWriter, at place: WriteBatch.Place) throws -> Bool {
    guard !place.isRepeated else { return try upsertAlone(writer) }
    guard place.id > 0 else {
      try writer.append(unlistedHash: place.hash, in: &transaction)
      return true
    }
    let reader = unsafe writer.reader(in: transaction)
    guard
      let found = unsafe try reader.found(place.id, ifKeyIs: try writer.encodedKey, parts: .all)
    else {
      // Another primary key has the same hash.
      return try upsertAlone(writer)
    }
    writer.endAppending()
    try writer.replace(found, in: &transaction)
    return false
  }

  private mutating func upsertAlone(_ writer: ModelWriter) throws -> Bool {
    writer.endAppending()
    return try upsert(writer)
  }

  /// Adds the record in the encoder unless there is one of its primary key.
  @usableFromInline
  mutating func insert(_ writer: ModelWriter, at place: WriteBatch.Place) throws -> Bool {
    guard place.id == 0, !place.isRepeated else {
      writer.endAppending()
      return try insert(writer)
    }
    try writer.append(unlistedHash: place.hash, in: &transaction)
    return true
  }
}
