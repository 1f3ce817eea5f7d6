internal import LMDB

extension ModelWriter {
  /// Whether the record has the layout that this program writes, and therefore has all fields.
  @usableFromInline
  func isInCurrentLayout(_ found: borrowing ModelReader.Found) -> Bool {
    unsafe found.record.binding === current
  }

  /// Writes the fields in ``edits`` to the record, which must have the current layout.
  func applyEdits(
    to old: borrowing ModelReader.Found,
    in transaction: inout WriteTransaction
  ) throws {
    guard edits.count > 0 else { return }
    if canEditOnlyHotPart {
      try editHotPart(of: old, in: &transaction)
    } else {
      try editRecord(old, in: &transaction)
    }
  }

  /// Whether every edited field is hot and has a fixed width, and no index or reference depends on
  /// it.
  private var canEditOnlyHotPart: Bool {
    guard work.value.references.isEmpty else { return false }
    var fields: UInt64 = 0
    for number in 0..<edits.count {
      let position = edits.position(of: number)
      let place = unsafe current.places[position]
      guard place.isHot, place.isFixed else { return false }
      fields |= FieldBit.ofField(at: position)
    }
    return !tables.maintainedIndexes.contains { $0.depends(on: fields) }
  }

  /// Writes the fields to the object's hot part without reading the rest of the record.
  private func editHotPart(
    of old: borrowing ModelReader.Found,
    in transaction: inout WriteTransaction
  ) throws {
    let id = old.id
    let chunk = try hot.load(HotChunk.number(of: id), in: &transaction)
    let fields = try translating(id) { () throws(RecordError) in
      guard let part = unsafe try chunk.view.part(at: HotChunk.slot(of: id)) else {
        throw RecordError(.missingHotPart)
      }
      let record = unsafe try RecordView(hot: part, layout: current.reference)
      unsafe encoder.startHot(part.bytes)
      var fields: UInt64 = 0
      for number in 0..<edits.count {
        let position = edits.position(of: number)
        let content = unsafe edits.content(of: number)
        if unsafe try record.content(at: position).isSame(as: content) { continue }
        unsafe encoder.setHot(content.bytes, at: current.places[position])
        fields |= FieldBit.ofField(at: position)
      }
      guard fields != 0 else { return fields }
      unsafe try chunk.set(encoder.hot.buffer, layoutNumber: current.number, of: id)
      return fields
    }
    guard fields != 0 else { return }
    if let columns { try columns.set(edits, id, in: &transaction) }
    work.value.changes.append(id, .updated, fields: fields)
  }

  /// Rewrites the record from its stored fields and the edited ones.
  private func editRecord(
    _ old: borrowing ModelReader.Found,
    in transaction: inout WriteTransaction
  ) throws {
    let id = old.id
    guard let record = unsafe try reader(in: transaction).record(id) else {
      throw StoreError(.damaged, "object \(id) of \(tables.name) has no record")
    }
    let whole = ModelReader.Found(id: id, record: record)
    encoder.start()
    try translating(id) { () throws(RecordError) in
      for position in unsafe 0..<current.places.count {
        if let edited = unsafe edits.content(at: position) {
          unsafe encoder.encode(edited.bytes)
        } else {
          unsafe encoder.encode(try whole.record.content(at: position).bytes)
        }
      }
    }
    guard try keepsKeyAndItsFields(of: whole) else {
      throw StoreError(
        .keyChanged,
        "an edit may not change the primary key of \(tables.name)"
      )
    }
    try replace(whole, in: &transaction)
  }

  // MARK: The primary key

  /// Returns whether the record in the encoder has the primary key of a stored one.
  func keepsKey(of old: borrowing ModelReader.Found) throws -> Bool {
    // Compare bytes: canonically equivalent strings can be different keys.
    let key = unsafe try encodedKey
    return try translating(old.id) { () throws(RecordError) in
      guard case .present(let stored) = unsafe try old.record.content(at: tables.primaryKeyPosition)
      else { return false }
      return unsafe stored.isSame(as: key)
    }
  }

  /// Returns whether the record in the encoder has the primary key of a stored one, also in the
  /// fields that a compound key repeats.
  ///
  /// For records that were not encoded from a Swift object, whose key is that of its properties.
  func keepsKeyAndItsFields(of old: borrowing ModelReader.Found) throws -> Bool {
    guard try keepsKey(of: old) else { return false }
    guard let computedKey else { return true }
    let key = unsafe try encodedKey
    return try translating(old.id) { () throws(RecordError) in
      unsafe try key.isSame(as: computedKey(encodedRecord))
    }
  }
}

extension RecordView.Content {
  /// The bytes of the value; `nil` if there is no value.
  @unsafe
  fileprivate var bytes: UnsafeRawBufferPointer? {
    guard case .present(let bytes) = unsafe self else { return nil }
    return unsafe bytes
  }
}

/// The encoded new values of single fields of one object.
///
/// Its memory is reused for the next object of the transaction.
@usableFromInline
struct FieldEdits: ~Copyable {
  private struct Edit {
    var position: Int
    /// The range of the value in `bytes`; `nil` to set the field to `nil`.
    var range: Range<Int>?
  }

  @usableFromInline var bytes = ByteWriter(capacity: 256)
  private var edits: [Edit] = []

  var count: Int { edits.count }

  @usableFromInline
  mutating func removeAll() {
    bytes.removeAll()
    edits.removeAll(keepingCapacity: true)
  }

  /// Sets the field at `position`.
  ///
  /// A later value replaces an earlier one.
  @inlinable
  mutating func set<Value: FieldValue>(_ value: Value, at position: Int) {
    let start = bytes.count
    value.encode(to: &bytes)
    set(range: start..<bytes.count, at: position)
  }

  /// Sets the field at `position` to the bytes in `range`, or to `nil`.
  @usableFromInline
  mutating func set(range: Range<Int>?, at position: Int) {
    let edit = Edit(position: position, range: range)
    if let index = edits.firstIndex(where: { $0.position == position }) {
      edits[index] = edit
    } else {
      edits.append(edit)
    }
  }

  func position(of number: Int) -> Int { edits[number].position }

  /// The value of an edit, valid until the next mutation.
  @unsafe
  func content(of number: Int) -> RecordView.Content {
    guard let range = edits[number].range else { return unsafe .null }
    return unsafe .present(UnsafeRawBufferPointer(rebasing: bytes.buffer[range]))
  }

  /// The new value of the field at `position`, or `nil` if it is not edited.
  ///
  /// Valid until the next mutation.
  @unsafe
  @usableFromInline
  func content(at position: Int) -> RecordView.Content? {
    for number in edits.indices where edits[number].position == position {
      return unsafe content(of: number)
    }
    return nil
  }
}
