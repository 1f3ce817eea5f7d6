/// One stored object, of which single fields are read and set without decoding the others.
///
/// ```swift
/// try tx.edit(Download.self, url) { download in
///   download.set(\.received, to: try download.received + count)
/// }
/// ```
///
/// An editor is lent and cannot be kept. What it sets is written when the closure returns.
@safe  // Although it holds what points into the map: it is noncopyable and only ever lent.
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

  /// The value of the field: what was set, or else what is stored.
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

  /// The value of the optional field: what was set, or else what is stored.
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

  /// Sets the field; of several values for one field the last counts.
  @inlinable
  public mutating func set<Value: FieldValue>(
    _ column: KeyPath<Root.Columns, Column<Root, Value>>,
    to value: Value
  ) {
    writer.edits.set(value, at: Root.columns[keyPath: column].position)
  }

  /// Sets the optional field; of several values for one field the last counts.
  @inlinable
  public mutating func set<Value: FieldValue>(
    _ column: KeyPath<Root.Columns, Column<Root, Value?>>,
    to value: Value?
  ) {
    let position = Root.columns[keyPath: column].position
    guard let value else { return writer.edits.note(nil, at: position) }
    writer.edits.set(value, at: position)
  }
}
