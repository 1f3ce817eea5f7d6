extension StoreTransaction {
  /// Changes single fields of the object with this primary key, without decoding the others.
  ///
  /// ```swift
  /// try tx.edit(Download.self, key: url) { $0.set(\.received, to: received) }
  /// ```
  ///
  /// ``update(_:key:_:)`` decodes the whole object and writes the differences; this method only
  /// accesses the fields that are set. It costs about a third if all of them are hot and have a
  /// fixed width. Setting a field to its current value is not a change.
  ///
  /// - Returns: Whether the object exists.
  /// - Throws: ``StoreError`` with `keyChanged` if `change` sets another primary key, or a
  ///   property of a compound key to another value, and as ``upsert(_:)``; any error that `change`
  ///   throws, which leaves the object unchanged.
  /// - Complexity: O(log n) in the objects of the model.
  @discardableResult
  @inlinable
  public mutating func edit<M: Model>(
    _ model: M.Type,
    key: M.PrimaryKey,
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

  // MARK: Implementation

  /// Returns the object with this key, without its hot part.
  ///
  /// A record with another layout is first rewritten in the current layout, so that it has all
  /// fields.
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

/// Reads and sets single fields of a stored object without decoding the others.
///
/// ```swift
/// try tx.edit(Download.self, key: url) { download in
///   download.set(\.received, to: try download.received + count)
/// }
/// ```
///
/// An editor is only valid inside the closure that receives it. The changes are written when the
/// closure returns.
@safe  // It contains pointers into the map, but is noncopyable and only passed to closures.
@dynamicMemberLookup
public struct ObjectEditor<Root: Model>: ~Copyable {
  @usableFromInline var view: ObjectView<Root>
  @usableFromInline let writer: ModelWriter

  @usableFromInline
  init(_ view: consuming ObjectView<Root>, _ writer: ModelWriter) {
    self.view = view
    self.writer = writer
  }

  // MARK: Reading

  /// The value of the field: the value that was set, or else the stored value.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  @inlinable
  public subscript<Value: FieldValue>(
    dynamicMember column: KeyPath<Root.Columns, Column<Root, Value>>
  ) -> Value {
    mutating get throws {
      let position = Root.columns[keyPath: column].position
      guard case .present(let bytes)? = unsafe writer.edits.content(at: position) else {
        return try view[dynamicMember: column]
      }
      return unsafe try view.decode(bytes, position)
    }
  }

  /// The value of the optional field: the value that was set, or else the stored value.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  @inlinable
  public subscript<Value: FieldValue>(
    dynamicMember column: KeyPath<Root.Columns, Column<Root, Value?>>
  ) -> Value? {
    mutating get throws {
      let position = Root.columns[keyPath: column].position
      switch unsafe writer.edits.content(at: position) {
      case nil: return try view[dynamicMember: column]
      case .present(let bytes)?: return unsafe try view.decode(bytes, position)
      case .null?, .missing?: return nil
      }
    }
  }

  // MARK: Setting

  /// Sets the field.
  ///
  /// A later value replaces an earlier one.
  @inlinable
  public mutating func set<Value: FieldValue>(
    _ column: KeyPath<Root.Columns, Column<Root, Value>>,
    to value: Value
  ) {
    writer.edits.set(value, at: Root.columns[keyPath: column].position)
  }

  /// Sets the optional field.
  ///
  /// A later value replaces an earlier one.
  @inlinable
  public mutating func set<Value: FieldValue>(
    _ column: KeyPath<Root.Columns, Column<Root, Value?>>,
    to value: Value?
  ) {
    let position = Root.columns[keyPath: column].position
    guard let value else { return writer.edits.set(range: nil, at: position) }
    writer.edits.set(value, at: position)
  }
}
