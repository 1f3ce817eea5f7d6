/// A stored record, its fields read straight from the bytes in the map.
///
/// Every access is checked against the record's end: bytes that are damaged give an error, never a
/// trap. A view is lent and cannot be kept.
@safe  // Although it holds pointers: it is noncopyable, only ever lent, and checks each access.
public struct RecordView: ~Copyable {
  /// Empty when only hot fields are looked at.
  let cold: UnsafeRawBufferPointer
  /// Empty when the layout has no hot fields, or none is looked at.
  let hot: UnsafeRawBufferPointer
  let hasExtras: Bool
  // The tables of the model keep it, and a view is lent no longer than they are.
  unowned(unsafe) let binding: LayoutBinding
  let places: UnsafeBufferPointer<FieldPlace>

  /// Checks the cold part against its checksum and both against the layout.
  ///
  /// The hot part has been checked before, against its own checksum or that of its chunk.
  init(
    cold: UnsafeRawBufferPointer,
    hot: HotChunk.Part?,
    objectID: UInt64,
    layout: LayoutReference
  ) throws(RecordError) {
    let header = unsafe try RecordHeader(cold)
    guard unsafe header.checksum == RecordHeader.checksum(of: cold, seed: objectID) else {
      throw RecordError(.checksumMismatch)
    }
    guard unsafe header.layoutNumber == layout.number else { throw RecordError(.unknownLayout) }
    guard unsafe cold.count >= layout.coldSize else { throw RecordError(.truncated) }
    if let hot = unsafe hot { unsafe try Self.check(hot, layout) }
    unsafe self.init(
      checkedCold: cold,
      hot: unsafe hot?.bytes ?? UnsafeRawBufferPointer(start: nil, count: 0),
      hasExtras: header.hasExtras,
      layout: layout
    )
  }

  /// A view of hot fields alone.
  init(hot: HotChunk.Part, layout: LayoutReference) throws(RecordError) {
    unsafe try Self.check(hot, layout)
    unsafe self.init(
      checkedCold: UnsafeRawBufferPointer(start: nil, count: 0),
      hot: hot.bytes,
      hasExtras: false,
      layout: layout
    )
  }

  /// A view of bytes that were made or checked before.
  init(
    checkedCold cold: UnsafeRawBufferPointer,
    hot: UnsafeRawBufferPointer,
    hasExtras: Bool,
    layout: LayoutReference
  ) {
    unsafe self.cold = unsafe cold
    unsafe self.hot = unsafe hot
    unsafe binding = unsafe layout.binding
    unsafe places = unsafe layout.places
    self.hasExtras = hasExtras
  }

  /// The same record with its hot part.
  func adding(_ part: HotChunk.Part) throws(RecordError) -> RecordView {
    let layout = unsafe binding.reference
    unsafe try Self.check(part, layout)
    return unsafe RecordView(
      checkedCold: cold,
      hot: part.bytes,
      hasExtras: hasExtras,
      layout: layout
    )
  }

  /// The same view once more, for one who lends it no longer than this one is.
  @unsafe var copy: RecordView {
    unsafe RecordView(
      checkedCold: cold,
      hot: hot,
      hasExtras: hasExtras,
      layout: binding.reference
    )
  }

  private static func check(
    _ part: HotChunk.Part,
    _ layout: LayoutReference
  ) throws(RecordError) {
    guard unsafe part.layoutNumber == layout.number else { throw RecordError(.unknownLayout) }
    guard unsafe part.bytes.count >= layout.hotSize else { throw RecordError(.truncated) }
  }

  // MARK: Values

  /// The value of the field at `position` of the schema.
  ///
  /// - Throws: ``RecordError`` with `missingField` when the record was written before the field
  ///   existed, or holds `nil`; `invalidValue` or `truncated` when the bytes are damaged.
  @inlinable
  public func value<Value: FieldValue>(
    at position: Int,
    as type: Value.Type = Value.self
  ) throws(RecordError) -> Value {
    guard case .present(let bytes) = unsafe try content(at: position) else {
      throw RecordError(.missingField, field: name(at: position))
    }
    return unsafe try decode(bytes, position)
  }

  /// The value of the field at `position`, or `fallback` when the record was written before the
  /// field existed.
  ///
  /// - Throws: ``RecordError`` as ``value(at:as:)``.
  @inlinable
  public func value<Value: FieldValue>(
    at position: Int,
    default fallback: @autoclosure () -> Value
  ) throws(RecordError) -> Value {
    switch unsafe try content(at: position) {
    case .present(let bytes): return unsafe try decode(bytes, position)
    case .missing: return fallback()
    // Nil in a field that was optional when the record was written.
    case .null: return fallback()
    }
  }

  /// The value of the optional field at `position`, or `fallback` when the record was written
  /// before the field existed.
  ///
  /// - Throws: ``RecordError`` with `invalidValue` or `truncated` when the bytes are damaged.
  @inlinable
  public func optional<Value: FieldValue>(
    at position: Int,
    default fallback: @autoclosure () -> Value? = nil
  ) throws(RecordError) -> Value? {
    switch unsafe try content(at: position) {
    case .present(let bytes): return unsafe try decode(bytes, position)
    case .missing: return fallback()
    case .null: return nil
    }
  }

  @inlinable
  func decode<Value: FieldValue>(
    _ bytes: UnsafeRawBufferPointer,
    _ position: Int
  ) throws(RecordError) -> Value {
    do {
      var reader = unsafe ByteReader(bytes)
      return try Value(from: &reader)
    } catch {
      throw RecordError(error.code, field: name(at: position))
    }
  }

  /// The name of the field at `position` of the schema.
  @usableFromInline
  func name(at position: Int) -> String? {
    unsafe binding.fields.indices.contains(position) ? binding.fields[position].name : nil
  }

  // MARK: Bytes

  /// What a record has for a field.
  @unsafe
  @usableFromInline
  enum Content {
    /// The layout knows no such field.
    case missing
    case null
    case present(UnsafeRawBufferPointer)
  }

  /// The bytes of the field at `position` of the program's schema.
  @usableFromInline
  func content(at position: Int) throws(RecordError) -> Content {
    guard position >= 0, unsafe position < places.count else { throw RecordError(.missingField) }
    let place = unsafe places[position]
    if place.exists { return unsafe try content(at: place) }
    guard hasExtras else { return unsafe .missing }
    return unsafe try extra(withID: binding.fields[position].id)
  }

  /// The bytes of the field of that id, whether or not the program's schema has it.
  func content(ofID id: UInt32) throws(RecordError) -> Content {
    let binding = unsafe binding
    if let position = binding.layout.position(ofID: id) {
      return unsafe try content(at: binding.layout.places[position])
    }
    guard hasExtras else { return unsafe .missing }
    return unsafe try extra(withID: id)
  }

  /// The bytes of the field at a place of the record's layout.
  @inline(__always)
  func content(at place: FieldPlace) throws(RecordError) -> Content {
    let bytes = unsafe place.isHot ? hot : cold
    // Parts are as long as their layouts say, or empty.
    guard let base = bytes.baseAddress else {
      throw RecordError(place.isHot ? .missingHotPart : .truncated)
    }
    let presence = unsafe base.load(fromByteOffset: place.presenceOffset, as: UInt8.self)
    guard presence & place.presenceMask != 0 else { return unsafe .null }
    if place.isFixed {
      return unsafe .present(
        UnsafeRawBufferPointer(start: base + place.offset, count: place.width)
      )
    }
    let start = unsafe place.isFirst ? 0 : Self.end(base, place.offset - 4)
    let end = unsafe Self.end(base, place.offset)
    guard start <= end, end <= bytes.count - place.heapStart else {
      throw RecordError(.truncated)
    }
    return unsafe .present(
      UnsafeRawBufferPointer(start: base + place.heapStart + start, count: end - start)
    )
  }

  @inline(__always)
  private static func end(_ base: UnsafeRawPointer, _ offset: Int) -> Int {
    unsafe Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }

  // MARK: Extras

  private func extra(withID id: UInt32) throws(RecordError) -> Content {
    for extra in try extras() where extra.id == id {
      guard let range = extra.range else { return unsafe .null }
      return unsafe .present(UnsafeRawBufferPointer(rebasing: cold[range]))
    }
    return unsafe .missing
  }

  /// A field that the schema of the record's writer did not have.
  struct Extra {
    var id: UInt32
    var type: String
    /// Where its bytes lie in the cold part; `nil` when it holds `nil`.
    var range: Range<Int>?
  }

  /// The fields that the record's layout does not have.
  func extras() throws(RecordError) -> [Extra] {
    guard hasExtras else { return [] }
    let shape = unsafe binding.layout.cold
    var start = shape.heapStart
    if shape.variableCount > 0, let base = unsafe cold.baseAddress {
      unsafe start += Self.end(base, shape.heapStart - 4)
    }
    guard unsafe start <= cold.count else { throw RecordError(.truncated) }
    var reader = unsafe ByteReader(UnsafeRawBufferPointer(rebasing: cold[start...]))
    var extras: [Extra] = []
    while reader.remaining > 0 {
      let id = try reader.read(UInt32.self)
      let isPresent = try reader.read(UInt8.self) == 1
      let type = try reader.readSized(String.self)
      let size = try reader.readCount()
      let offset = unsafe cold.count - reader.remaining
      _ = unsafe try reader.take(size)
      extras.append(Extra(id: id, type: type, range: isPresent ? offset..<offset + size : nil))
    }
    return extras
  }

  /// The fields that the program's schema does not have, as a record of this program carries them.
  func encodedUnknownFields() throws(RecordError) -> [UInt8] {
    let binding = unsafe binding
    guard hasExtras || !binding.unknownPositions.isEmpty else { return [] }
    var writer = ByteWriter()
    for position in binding.unknownPositions {
      let field = binding.layout.fields[position]
      let content = unsafe try content(at: binding.layout.places[position])
      unsafe Self.write(field.id, field.type.description, content, to: &writer)
    }
    let known = Set(binding.fields.map(\.id))
    for extra in try extras() where !known.contains(extra.id) {
      let content = unsafe extra.range.map {
        unsafe Content.present(UnsafeRawBufferPointer(rebasing: cold[$0]))
      }
      unsafe Self.write(extra.id, extra.type, content ?? .null, to: &writer)
    }
    return writer.bytes
  }

  private static func write(
    _ id: UInt32,
    _ type: String,
    _ content: Content,
    to writer: inout ByteWriter
  ) {
    writer.write(id)
    switch unsafe content {
    case .present(let bytes):
      writer.write(1 as UInt8)
      writer.writeSized(type)
      writer.write(UInt32(bytes.count))
      unsafe writer.append(bytes)
    case .null, .missing:
      writer.write(0 as UInt8)
      writer.writeSized(type)
      writer.write(0 as UInt32)
    }
  }
}
