internal import LMDB

extension StoreTransaction {
  /// Writes an edited copy over the object that it was made from, if that is still as it was read.
  ///
  /// For what is read in one transaction, edited without holding any, and saved in another: a form,
  /// a request, a command of a person.
  ///
  /// ```swift
  /// let original = try store.read { tx in try tx.find(Note.self, id) }
  /// var edited = original
  /// edited.text = field.text
  /// try store.write { [edited] tx in try tx.update(original, to: edited) }
  /// ```
  ///
  /// Values are compared, not versions: an object that was changed and changed back is the same.
  /// Fields that the program's model does not have are not looked at, and stay.
  ///
  /// - Parameters:
  ///   - original: The object as it was read.
  ///   - edited: What is to be stored.
  /// - Throws: ``StoreError`` with `conflict` when the object has changed or is gone: the cause is an
  ///   ``UpdateConflict`` with the fields, and nothing was written; with `keyChanged` when the two
  ///   have different primary keys; and as ``upsert(_:)``.
  /// - Complexity: O(log n) in the objects of the model; costs no more than ``update(_:_:_:)``, with
  ///   an encoding in place of the decoding.
  public mutating func update<M: Model>(_ original: M, to edited: M) throws {
    try update(original, to: edited) { _ in true }
  }

  /// Writes what was edited in a copy into the object that it was made from, if those columns are
  /// still as they were read.
  ///
  /// Of the object, only the fields are written in which the edited copy differs from the original:
  /// what others have written into further fields stays. A field that is edited and not in `columns`
  /// is written whatever it was meanwhile.
  ///
  /// ```swift
  /// try tx.update(original, to: edited, checking: [\.text])
  /// ```
  ///
  /// - Parameters:
  ///   - original: The object as it was read.
  ///   - edited: What is to be stored.
  ///   - columns: Those that must be as in the original; of none, the object must be there.
  /// - Throws: ``StoreError`` as ``update(_:to:)``; the conflict is about those columns.
  /// - Precondition: Each key path is that of a column.
  /// - Complexity: As ``update(_:to:)``; about three times that when other fields have changed, for
  ///   the object is put together from both.
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
  /// Replaces what differs between two objects in the record that has been encoded.
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
