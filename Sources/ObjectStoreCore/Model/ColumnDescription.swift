/// The stored description of a column, which determines all of its chunks.
///
/// The table `store` keeps it among the descriptions of the model's indexes, under an id that no
/// index has, and in a later encoding. A program that does not know columns refuses such a
/// description whenever it reads the schema, also if it had the store open when the column was
/// added. So it never writes a record without its column.
package struct ColumnDescription: Sendable, Hashable {
  package var fieldID: UInt32
  package var type: FieldType

  package init(fieldID: UInt32, type: FieldType) {
    self.fieldID = fieldID
    self.type = type
  }

  /// The id of the description: that of an index on the field twice, which cannot exist.
  package var id: UInt32 { IndexDescription.id(ofFields: [fieldID, fieldID]) }

  /// Whether fields of a type can have a column: those that are numbers.
  package static func supports(_ type: FieldType) -> Bool { NumberForm(type) != nil }
}

// MARK: On disk

extension ColumnDescription {
  /// The encoding of descriptions that are not indexes.
  static let codingVersion: UInt8 = 2
  private static let kind: UInt8 = 1

  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(Self.kind)
    writer.write(fieldID)
    writer.writeSized(type.description)
    return writer.bytes
  }

  /// Decodes a description.
  package init(encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion,
      try reader.read(UInt8.self) == Self.kind
    else { throw RecordError(.unknownCoding) }
    fieldID = try reader.read(UInt32.self)
    let name = try reader.readSized(String.self)
    guard name.utf8.count <= 1_000, let type = FieldType(name) else {
      throw RecordError(.unknownCoding)
    }
    guard Self.supports(type) else { throw RecordError(.invalidValue) }
    self.type = type
  }
}
