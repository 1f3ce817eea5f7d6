internal import ObjectStoreCore

/// Checks a record strictly against `docs/format.md`.
enum RecordAudit {
  /// Checks both parts of a record.
  ///
  /// - Throws: ``RecordError`` for the first violation.
  static func check(
    _ record: borrowing RecordView,
    names: [UInt32: String]
  ) throws(RecordError) {
    // Decodes every field and reads the extra fields to the end.
    _ = try StoredObject(record, id: 0, model: "", names: names)
    let layout = unsafe record.binding.layout
    unsafe try check(record.cold, layout, layout.cold, isHot: false, hasExtras: record.hasExtras)
    if layout.hasHotFields {
      unsafe try check(record.hot, layout, layout.hot, isHot: true, hasExtras: false)
    }
  }

  /// Checks only the cold part.
  static func checkColdPart(_ record: borrowing RecordView) throws(RecordError) {
    let layout = unsafe record.binding.layout
    unsafe try check(record.cold, layout, layout.cold, isHot: false, hasExtras: record.hasExtras)
    try checkValues(record, isHot: false)
    _ = try record.extras()
  }

  /// Checks only the hot part.
  static func checkHotPart(_ record: borrowing RecordView) throws(RecordError) {
    let layout = unsafe record.binding.layout
    unsafe try check(record.hot, layout, layout.hot, isHot: true, hasExtras: false)
    try checkValues(record, isHot: true)
  }

  private static func checkValues(
    _ record: borrowing RecordView,
    isHot: Bool
  ) throws(RecordError) {
    let layout = unsafe record.binding.layout
    for position in layout.fields.indices where layout.places[position].isHot == isHot {
      let field = layout.fields[position]
      switch unsafe try record.storedContent(at: layout.places[position]) {
      case .present(let bytes): _ = try StoredValue(unsafe bytes.bytes, type: field.type)
      case .null, .missing:
        guard field.isOptional else { throw RecordError(.missingField, field: field.name) }
      }
    }
  }

  private static func check(
    _ part: UnsafeRawBufferPointer,
    _ layout: RecordLayout,
    _ shape: RecordLayout.PartShape,
    isHot: Bool,
    hasExtras: Bool
  ) throws(RecordError) {
    var heapEnd = 0
    for position in layout.fields.indices {
      let place = layout.places[position]
      guard place.isHot == isHot else { continue }
      let isPresent = unsafe part[place.presenceOffset] & place.presenceMask != 0
      if place.isFixed {
        for offset in place.offset..<place.offset + place.width
        where unsafe !isPresent && part[offset] != 0 {
          throw RecordError(.invalidValue, field: layout.fields[position].name)
        }
      } else {
        let end = unsafe Int(
          UInt32(littleEndian: part.loadUnaligned(fromByteOffset: place.offset, as: UInt32.self))
        )
        guard end >= heapEnd, isPresent || end == heapEnd else {
          throw RecordError(.invalidValue, field: layout.fields[position].name)
        }
        heapEnd = end
      }
    }
    let end = shape.heapStart + heapEnd
    guard hasExtras ? end < part.count : end == part.count else { throw RecordError(.truncated) }
    let used = shape.fieldCount % 8
    if used > 0, unsafe part[shape.headerSize + shape.presenceSize - 1] >> UInt8(used) != 0 {
      throw RecordError(.invalidValue)
    }
  }
}

extension HotChunkView {
  /// Whether the chunk has at least one part, ends where its last part ends, and has a layout
  /// number in its header only if its parts have a fixed stride.
  var isWellFormed: Bool {
    let count = unsafe presence.nonzeroBitCount
    guard count > 0 else { return false }
    if unsafe stride > 0 {
      return unsafe layoutNumber > 0 && bytes.count == HotChunk.headerSize + count * stride
    }
    let last = HotChunk.headerSize + (count - 1) * 4
    let end = unsafe UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: last, as: UInt32.self)
    )
    return unsafe layoutNumber == 0
      && bytes.count == HotChunk.headerSize + count * 4 + Int(end)
  }
}
