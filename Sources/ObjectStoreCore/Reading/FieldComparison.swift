/// Finds the fields in which two objects differ, by comparing their stored encodings.
///
/// It is used where no history entry records the changed fields.
struct FieldComparison<Root: Model>: ~Copyable {
  private let binding: LayoutBinding
  private var first: RecordEncoder
  private var second: RecordEncoder

  init() {
    let layout = RecordLayout(Root.schema)
    self.init(LayoutBinding(reading: layout, number: 1, as: layout))
  }

  /// Creates a comparison in the layout of a binding, which must be the layout of the program's
  /// model.
  init(_ binding: LayoutBinding) {
    self.binding = binding
    first = RecordEncoder(binding)
    second = RecordEncoder(binding)
  }

  /// Returns the fields that differ, as a ``ChangeLog/Change/fields`` bit set; 0 if none does.
  mutating func differences(_ left: Root, _ right: Root) throws -> UInt64 {
    Self.encode(left, to: &first)
    Self.encode(right, to: &second)
    do throws(RecordError) {
      return unsafe try RecordView.changedFields(
        from: Self.view(first, binding),
        to: Self.view(second, binding),
        count: binding.places.count
      )
    } catch {
      throw StoreError(error, model: Root.schema.name, objectID: 0)
    }
  }

  /// Returns the positions of the fields whose value differs between a record and an object, in
  /// order.
  ///
  /// The record is decoded only if its bytes differ from the object's encoding. Fields that the
  /// record lacks then take their default value.
  mutating func positions(
    inWhich record: borrowing RecordView,
    differsFrom object: Root
  ) throws(RecordError) -> [Int] {
    Self.encode(object, to: &first)
    let own = unsafe Self.view(first, binding)
    let count = unsafe binding.places.count
    guard try !RecordView.changedPositions(from: own, to: record, count: count).isEmpty else {
      return []
    }
    Self.encode(try Root(from: record), to: &second)
    return unsafe try RecordView.changedPositions(
      from: own,
      to: Self.view(second, binding),
      count: count
    )
  }

  /// Returns the fields in which `right` differs from `left`, each with its stored value in
  /// `right`.
  ///
  /// A `nil` value has no bytes.
  mutating func changes(
    from left: Root,
    to right: Root
  ) throws(RecordError) -> [(position: Int, bytes: [UInt8]?)] {
    Self.encode(left, to: &first)
    Self.encode(right, to: &second)
    let new = unsafe Self.view(second, binding)
    let positions = unsafe try RecordView.changedPositions(
      from: Self.view(first, binding),
      to: new,
      count: binding.places.count
    )
    var changes: [(position: Int, bytes: [UInt8]?)] = []
    for position in positions {
      guard case .present(let bytes) = unsafe try new.content(at: position) else {
        changes.append((position, nil))
        continue
      }
      changes.append((position, unsafe Array(bytes)))
    }
    return changes
  }

  private static func encode(_ object: Root, to encoder: inout RecordEncoder) {
    encoder.start()
    object.encode(to: &encoder)
    encoder.finish()
  }

  @unsafe
  private static func view(
    _ encoder: borrowing RecordEncoder,
    _ binding: LayoutBinding
  ) -> RecordView {
    unsafe RecordView(
      checkedCold: encoder.cold.buffer,
      hot: encoder.hot.buffer,
      hasExtras: false,
      layout: binding.reference
    )
  }
}

extension RecordView {
  /// Returns the positions of the fields whose stored bytes differ, in order.
  fileprivate static func changedPositions(
    from old: borrowing RecordView,
    to new: borrowing RecordView,
    count: Int
  ) throws(RecordError) -> [Int] {
    var positions: [Int] = []
    for position in 0..<count
    where unsafe !(try old.content(at: position).isSame(as: try new.content(at: position))) {
      positions.append(position)
    }
    return positions
  }
}

extension ObjectReader where Self: ~Copyable {
  /// Returns the fields in which the stored object differs from a copy read earlier.
  ///
  /// Use it to decide by what has changed since. To write an edited copy, call
  /// ``StoreTransaction/update(_:to:)``, which makes this comparison itself.
  ///
  /// Values are compared, not versions: a field that was changed and changed back counts as
  /// unchanged. Fields that the program's model does not declare are ignored.
  ///
  /// - Returns: The changed fields, or `nil` when the object no longer exists.
  /// - Throws: ``StoreError`` with `damaged` or `unknownModel`.
  /// - Complexity: As ``find(_:key:)``, plus one encoding of the copy.
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
  /// Returns the positions of the fields whose value differs between a record and an object, in
  /// order.
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

extension RecordView {
  /// The fields whose bytes differ between two records, as in ``ChangeLog/Change/fields``.
  ///
  /// A field that a record lacks differs from one with its default: an index may not have it.
  static func changedFields(
    from old: borrowing RecordView,
    to new: borrowing RecordView,
    count: Int
  ) throws(RecordError) -> UInt64 {
    var fields: UInt64 = 0
    for position in 0..<count
    where
      unsafe !(try old.storedContent(at: position)
      .isSame(as: try new.storedContent(at: position)))
    {
      fields |= FieldBit.ofField(at: position)
    }
    return fields
  }
}

extension RecordView.Content {
  /// Whether both records store the same content for a field.
  ///
  /// A missing field differs from one that is `nil`: a missing field may have a default.
  func isSame(as other: RecordView.Content) -> Bool {
    switch unsafe (self, other) {
    case (.missing, .missing), (.null, .null): true
    case (.present(let one), .present(let two)): unsafe one.isSame(as: two)
    default: false
    }
  }
}
