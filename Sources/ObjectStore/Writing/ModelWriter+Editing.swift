internal import LMDB

extension ModelWriter {
  /// Whether the record lies as this program writes it, and so has all fields.
  @usableFromInline
  func isInCurrentLayout(_ found: borrowing ModelReader.Found) -> Bool {
    unsafe found.record.binding === current
  }

  /// Sets the fields of ``edits`` in the record, which is in the current layout.
  func applyEdits(
    to old: borrowing ModelReader.Found,
    in transaction: inout WriteTransaction
  ) throws {
    guard edits.count > 0 else { return }
    if canEditHotPartAlone {
      try editHotPart(of: old, in: &transaction)
    } else {
      try editRecord(old, in: &transaction)
    }
  }

  /// Whether all edits are of hot fields that lie in slots, on which nothing else depends.
  private var canEditHotPartAlone: Bool {
    guard work.value.references.isEmpty else { return false }
    var fields: UInt64 = 0
    for number in 0..<edits.count {
      let position = edits.position(of: number)
      let place = unsafe current.places[position]
      guard place.isHot, place.isFixed else { return false }
      fields |= ChangeLog.bit(ofFieldAt: position)
    }
    return !tables.indexes.contains { $0.depends(on: fields) }
  }

  /// Writes the fields into the object's hot part; the rest of the record is not read.
  private func editHotPart(
    of old: borrowing ModelReader.Found,
    in transaction: inout WriteTransaction
  ) throws {
    let id = old.id
    let chunk = try hot.take(HotChunk.number(of: id), in: &transaction)
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
        fields |= ChangeLog.bit(ofFieldAt: position)
      }
      guard fields != 0 else { return fields }
      unsafe try chunk.set(encoder.hot.buffer, layoutNumber: current.number, of: id)
      return fields
    }
    guard fields != 0 else { return }
    work.value.changes.append(id, .updated, fields: fields)
  }

  /// Builds the record anew, of its own bytes and those of the edits.
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
    let position = tables.primaryKeyPosition
    if let key = unsafe edits.content(at: position),
      unsafe try !key.isSame(
        as: translating(id) { () throws(RecordError) in
          unsafe try whole.record.content(at: position)
        }
      )
    {
      throw StoreError(
        .keyChanged,
        "an edit may not change the primary key of \(tables.name)"
      )
    }
    try replace(whole, in: &transaction)
  }
}

extension RecordView.Content {
  /// The bytes of a value; `nil` when there is none.
  @unsafe
  fileprivate var bytes: UnsafeRawBufferPointer? {
    guard case .present(let bytes) = unsafe self else { return nil }
    return unsafe bytes
  }
}
