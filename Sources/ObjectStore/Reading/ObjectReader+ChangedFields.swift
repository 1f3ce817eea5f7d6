extension ObjectReader where Self: ~Copyable {
  /// In which fields the stored object of that primary key differs from a copy that was read
  /// before; `nil` when the object is gone.
  ///
  /// For a decision by what has changed; to write a copy that was edited,
  /// ``StoreTransaction/update(_:to:)`` looks by itself.
  ///
  /// Values are compared, not versions: a field that was changed and changed back is the same.
  /// Fields that the program's model does not have are not looked at.
  ///
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: As ``get(_:_:)``; what is decoded there is encoded here.
  public func changedFields<M: Model>(since copy: M) throws -> ChangedFields<M>? {
    guard let reader = unsafe try source.reader(of: M.self) else { return nil }
    var changed: ChangedFields<M>?
    unsafe try copy.primaryKey.withStoredBytes { bytes in
      guard let found = unsafe try reader.find(bytes) else { return }
      var comparison =
        unsafe reader.tables.current.map { FieldComparison<M>($0) } ?? FieldComparison()
      let positions = try comparison.positions(inWhich: found, differsFrom: copy)
      changed = ChangedFields(positions: positions)
    }
    return changed
  }
}

extension FieldComparison {
  /// The positions of the fields that are not in the store as in the object, in order.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func positions(
    inWhich found: borrowing ModelReader.Found,
    differsFrom object: Root
  ) throws -> [Int] {
    do throws(RecordError) {
      return try positions(inWhich: found.record, differsFrom: object)
    } catch {
      throw StoreError(error, model: Root.schema.name, objectID: found.id)
    }
  }
}
