extension StoreTransaction {
  /// Changes single fields of the object of that primary key, without decoding the others.
  ///
  /// ```swift
  /// try tx.edit(Download.self, url) { $0.set(\.received, to: received) }
  /// ```
  ///
  /// Where ``update(_:_:_:)`` makes the whole object and writes what differs, this touches the fields
  /// that are set alone: when they are hot and of a fixed width, a change costs about a third. A
  /// value that is set to what it was is no change.
  ///
  /// - Returns: Whether there is such an object.
  /// - Throws: ``StoreError`` with `keyChanged` when `change` sets the primary key to another one, and
  ///   as ``upsert(_:)``; or what `change` throws, and then the object stays as it was.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  @inlinable
  public mutating func edit<M: Model>(
    _ model: M.Type,
    _ key: M.PrimaryKey,
    _ change: (inout ObjectEditor<M>) throws -> Void
  ) throws -> Bool {
    let writer = try writer(for: M.self)
    var isFound = false
    unsafe try key.withStoredBytes { bytes in
      guard let found = unsafe try findInCurrentLayout(model, bytes, writer) else { return }
      isFound = true
      writer.edits.removeAll()
      var editor = unsafe ObjectEditor<M>(ObjectView(reader(of: writer), lending: found), writer)
      try change(&editor)
      try applyEdits(to: found, writer)
    }
    return isFound
  }

  // MARK: Without the model's type

  /// The object of that key, without its hot part; one of another layout is rewritten first, so that
  /// it has all fields.
  @unsafe
  @inlinable
  mutating func findInCurrentLayout<M: Model>(
    _ model: M.Type,
    _ key: UnsafeRawBufferPointer,
    _ writer: ModelWriter
  ) throws -> ModelReader.Found? {
    if let found = unsafe try findCold(writer, key), writer.isInCurrentLayout(found) {
      return found
    }
    guard let found = unsafe try find(writer, key) else { return nil }
    let object = try found.decode(M.self)
    writer.encoder.start()
    object.encode(to: &writer.encoder)
    try replace(found, writer)
    return unsafe try findCold(writer, key)
  }

  @unsafe
  @usableFromInline
  func findCold(
    _ writer: ModelWriter,
    _ key: UnsafeRawBufferPointer
  ) throws -> ModelReader.Found? {
    unsafe try writer.find(key, parts: .cold, in: transaction)
  }

  @unsafe
  @usableFromInline
  func reader(of writer: ModelWriter) -> ModelReader { unsafe writer.reader(in: transaction) }

  @usableFromInline
  mutating func applyEdits(to found: borrowing ModelReader.Found, _ writer: ModelWriter) throws {
    try writer.applyEdits(to: found, in: &transaction)
  }
}
