internal import LMDB

extension StoreTransaction {
  /// Replaces an object with an edited copy if it has not changed since it was read (optimistic
  /// concurrency control).
  ///
  /// Use it for objects that are read in one transaction, edited outside of any transaction, and
  /// saved in another one, for example in a form.
  ///
  /// ```swift
  /// guard let original = try store.read({ tx in try tx.find(Note.self, key: id) }) else { return }
  /// var edited = original
  /// edited.text = field.text
  /// try store.write { [edited] tx in try tx.update(original, to: edited) }
  /// ```
  ///
  /// The comparison uses values, not versions: an object that was changed and changed back is
  /// unchanged. Stored fields that the program's model does not declare are ignored and kept.
  ///
  /// - Parameters:
  ///   - original: The object as it was read.
  ///   - edited: The object to store.
  /// - Throws: ``StoreError`` with `conflict` if the object was changed or deleted (the cause is an
  ///   ``UpdateConflict`` with the changed fields, and nothing was written), with `keyChanged` if
  ///   the two objects have different primary keys, and as ``upsert(_:)``.
  /// - Complexity: O(log n) in the objects of the model. Costs no more than ``update(_:key:_:)``:
  ///   it encodes the original instead of decoding the stored object.
  public mutating func update<M: Model>(_ original: M, to edited: M) throws {
    try update(original, to: edited) { _ in true }
  }

  /// Writes the edited fields of a copy to the stored object if the checked columns have not
  /// changed since the object was read.
  ///
  /// Only fields in which `edited` differs from `original` are written. Changes of other fields by
  /// other writers are kept. An edited field that is not in `columns` is overwritten even if it has
  /// changed.
  ///
  /// ```swift
  /// try tx.update(original, to: edited, checking: [\.text])
  /// ```
  ///
  /// - Parameters:
  ///   - original: The object as it was read.
  ///   - edited: The object with the edits.
  ///   - columns: The columns that must still have the values of the original. If empty, only the
  ///     existence of the object is checked.
  /// - Throws: ``StoreError`` as ``update(_:to:)``. A conflict lists only checked columns.
  /// - Precondition: Each key path identifies a column.
  /// - Complexity: As ``update(_:to:)``. About three times the cost if other fields have changed,
  ///   because the object is then merged from both.
  public mutating func update<M: Model>(
    _ original: M,
    to edited: M,
    checking columns: [PartialKeyPath<M.Columns>]
  ) throws {
    let positions = Set(columns.map(M.position))
    try update(original, to: edited, checking: positions.contains)
  }

  private mutating func update<M: Model>(
    _ original: M,
    to edited: M,
    checking isChecked: (Int) -> Bool
  ) throws {
    let writer = try writer(for: M.self)
    var comparison = FieldComparison<M>(writer.encoder.binding)
    unsafe try original.primaryKey.withStoredBytes { bytes in
      guard let found = unsafe try find(writer, bytes) else {
        throw UpdateConflict(of: original, fields: [], isDeleted: true).error
      }
      let changed = try comparison.positions(inWhich: found, differsFrom: original)
      let conflicting = changed.filter(isChecked)
      guard conflicting.isEmpty else {
        let names = conflicting.map { M.schema.fields[$0].name }
        throw UpdateConflict(of: original, fields: names, isDeleted: false).error
      }
      writer.encoder.start()
      if changed.isEmpty {
        edited.encode(to: &writer.encoder)
      } else {
        try found.decode(M.self).encode(to: &writer.encoder)
        try comparison.apply(from: original, to: edited, writer)
      }
      try replace(found, writer)
    }
  }
}

extension FieldComparison {
  /// Replaces the fields that differ between two objects in the encoded record.
  fileprivate mutating func apply(from left: Root, to right: Root, _ writer: ModelWriter) throws {
    do throws(RecordError) {
      for change in try changes(from: left, to: right) {
        writer.encoder.replaceField(at: change.position, with: change.bytes)
      }
    } catch {
      throw StoreError(error, model: Root.schema.name, objectID: 0)
    }
  }
}

/// A conflict that prevented a checked update: the object was changed or deleted after it was read.
///
/// It is the cause of a ``StoreError`` with `conflict`.
public struct UpdateConflict: Error, Sendable, Hashable {
  /// The object's model.
  public var model: String
  /// The object's primary key.
  public var key: String
  /// The checked fields whose values have changed, in the order of the schema.
  public var fields: [String]
  /// Whether the object was deleted.
  public var isDeleted: Bool

  /// Creates a conflict.
  package init(model: String, key: String, fields: [String], isDeleted: Bool) {
    self.model = model
    self.key = key
    self.fields = fields
    self.isDeleted = isDeleted
  }

  init<M: Model>(of object: M, fields: [String], isDeleted: Bool) {
    self.init(
      model: M.schema.name,
      key: "\(object.primaryKey)",
      fields: fields,
      isDeleted: isDeleted
    )
  }

  var error: StoreError {
    StoreError(
      .conflict,
      """
      \(description) since it was read; nothing was written: read it again and repeat the edit
      """,
      cause: self
    )
  }
}

extension UpdateConflict: CustomStringConvertible {
  /// The object, and the fields that were changed.
  public var description: String {
    isDeleted
      ? "\(model) \(key) was deleted"
      : "\(model) \(key) was changed in \(fields.joined(separator: ", "))"
  }
}
