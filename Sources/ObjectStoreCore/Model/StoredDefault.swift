/// The value that a field has in objects without one, as the store keeps it.
///
/// The first program that opens the store for writing with a default of the field adds it. From then
/// on it holds for all programs, so that an object has one value, whichever program reads it.
package struct StoredDefault: Sendable, Hashable {
  package var type: FieldType
  /// The encoded value.
  package var bytes: [UInt8]
  /// Whether indexes and columns contain this value for the objects without one.
  ///
  /// Set when a layout lacks the field. Until then no object is without a value.
  var isUsed = false
  /// Whether the value also replaces a stored `nil`, because the field was optional before.
  var replacesNil = false

  package init(type: FieldType, bytes: [UInt8], isUsed: Bool = false, replacesNil: Bool = false) {
    self.type = type
    self.bytes = bytes
    self.isUsed = isUsed
    self.replacesNil = replacesNil
  }
}

/// The defaults of a model's fields in the store, by field id.
package typealias StoredDefaults = [UInt32: StoredDefault]

// MARK: On disk

extension StoredDefault {
  private static let codingVersion: UInt8 = 1

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write((isUsed ? 1 : 0) | (replacesNil ? 2 : 0) as UInt8)
    writer.writeSized(type.description)
    writer.write(UInt32(bytes.count))
    writer.write(bytes)
    return writer.bytes
  }

  package init(encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    let flags = try reader.read(UInt8.self)
    isUsed = flags & 1 != 0
    replacesNil = flags & 2 != 0
    let name = try reader.readSized(String.self)
    guard name.utf8.count <= 1_000, let type = FieldType(name) else {
      throw RecordError(.unknownCoding)
    }
    self.type = type
    let size = try reader.readCount()
    guard type.width == nil || type.width == size else { throw RecordError(.invalidValue) }
    bytes = try reader.readBytes(size)
  }
}
