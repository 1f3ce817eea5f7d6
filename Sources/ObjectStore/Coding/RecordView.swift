/// A stored record, its fields read straight from the bytes in the map.
///
/// Every access is checked against the record's end: bytes that are damaged give an error, never a
/// trap. A view is lent and cannot be kept.
@safe  // Although it holds pointers: it is noncopyable, only ever lent, and checks each access.
public struct RecordView: ~Copyable {
  private let cold: UnsafeRawBufferPointer
  /// Empty when the layout has no hot fields.
  private let hot: UnsafeRawBufferPointer
  private let hasExtras: Bool
  let binding: LayoutBinding

  /// Checks both parts against their checksums and the layout.
  init(
    cold: UnsafeRawBufferPointer,
    hot: UnsafeRawBufferPointer,
    objectID: UInt64,
    binding: LayoutBinding
  ) throws(RecordError) {
    let header = unsafe try RecordHeader(cold)
    unsafe try Self.check(
      cold,
      header,
      shape: binding.layout.cold,
      number: binding.number,
      objectID: objectID
    )
    if binding.layout.hot.fieldCount > 0 {
      guard unsafe !hot.isEmpty else { throw RecordError(.missingHotPart) }
      unsafe try Self.check(
        hot,
        RecordHeader(hot),
        shape: binding.layout.hot,
        number: binding.number,
        objectID: objectID
      )
    }
    unsafe self.cold = unsafe cold
    unsafe self.hot = unsafe hot
    self.binding = binding
    hasExtras = header.hasExtras
  }

  private static func check(
    _ bytes: UnsafeRawBufferPointer,
    _ header: RecordHeader,
    shape: RecordLayout.PartShape,
    number: UInt16,
    objectID: UInt64
  ) throws(RecordError) {
    guard unsafe header.checksum == RecordHeader.checksum(of: bytes, objectID: objectID) else {
      throw RecordError(.checksumMismatch)
    }
    guard header.layoutNumber == number else { throw RecordError(.unknownLayout) }
    guard bytes.count >= shape.heapStart else { throw RecordError(.truncated) }
  }

  // MARK: Values

  /// The value of the field at `position` of the schema.
  ///
  /// - Throws: ``RecordError`` with `missingField` when the record was written before the field
  ///   existed, or holds `nil`; `invalidValue` or `truncated` when the bytes are damaged.
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
  public func value<Value: FieldValue>(
    at position: Int,
    default fallback: @autoclosure () -> Value
  ) throws(RecordError) -> Value {
    switch unsafe try content(at: position) {
    case .present(let bytes): return unsafe try decode(bytes, position)
    case .missing: return fallback()
    case .null: throw RecordError(.missingField, field: name(at: position))
    }
  }

  /// The value of the optional field at `position`, or `fallback` when the record was written
  /// before the field existed.
  ///
  /// - Throws: ``RecordError`` with `invalidValue` or `truncated` when the bytes are damaged.
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

  private func decode<Value: FieldValue>(
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
  func name(at position: Int) -> String? {
    binding.fields.indices.contains(position) ? binding.fields[position].name : nil
  }

  // MARK: Bytes

  var copyOfCold: [UInt8] { unsafe Array(cold) }

  var copyOfHot: [UInt8]? { unsafe hot.isEmpty ? nil : Array(hot) }

  /// What a record has for a field.
  @unsafe
  enum Content {
    /// The layout knows no such field.
    case missing
    case null
    case present(UnsafeRawBufferPointer)
  }

  /// The bytes of the field at `position` of the program's schema.
  func content(at position: Int) throws(RecordError) -> Content {
    guard binding.places.indices.contains(position) else { throw RecordError(.missingField) }
    if let place = binding.places[position] { return unsafe try content(at: place) }
    guard hasExtras else { return unsafe .missing }
    return unsafe try extra(withID: binding.fields[position].id)
  }

  /// The bytes of the field of that id, whether or not the program's schema has it.
  func content(ofID id: UInt32) throws(RecordError) -> Content {
    if let position = binding.layout.position(ofID: id) {
      return unsafe try content(at: binding.layout.places[position])
    }
    guard hasExtras else { return unsafe .missing }
    return unsafe try extra(withID: id)
  }

  private func content(at place: RecordLayout.Place) throws(RecordError) -> Content {
    let bytes = unsafe place.part == .hot ? hot : cold
    let shape = binding.layout.shape(of: place.part)
    let presence = unsafe bytes[
      RecordLayout.PartShape.headerSize + place.presenceBit / 8
    ]
    guard presence & (1 << UInt8(place.presenceBit % 8)) != 0 else { return unsafe .null }
    switch place.slot {
    case .fixed(let offset, let width):
      return unsafe .present(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + width]))
    case .variable(let index):
      let start =
        unsafe index == 0 ? 0 : try end(index - 1, in: bytes, shape)
      let end = unsafe try end(index, in: bytes, shape)
      guard start <= end else { throw RecordError(.truncated) }
      return unsafe .present(
        UnsafeRawBufferPointer(
          rebasing: bytes[shape.heapStart + start..<shape.heapStart + end]
        )
      )
    }
  }

  private func end(
    _ index: Int,
    in bytes: UnsafeRawBufferPointer,
    _ shape: RecordLayout.PartShape
  ) throws(RecordError) -> Int {
    let end = unsafe UInt32(
      littleEndian: bytes.loadUnaligned(
        fromByteOffset: shape.endsStart + index * 4,
        as: UInt32.self
      )
    )
    guard let end = Int(exactly: end), end <= bytes.count - shape.heapStart else {
      throw RecordError(.truncated)
    }
    return end
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

  private func extras() throws(RecordError) -> [Extra] {
    guard hasExtras else { return [] }
    let shape = binding.layout.cold
    let heapSize =
      unsafe shape.variableCount == 0 ? 0 : try end(shape.variableCount - 1, in: cold, shape)
    let start = shape.heapStart + heapSize
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
