/// The declaration of an index on one or more fields of a model.
///
/// ```swift
/// let byRank = IndexSchema(on: "rank", "title", isUnique: true)
/// let schema = ModelSchema(name: "Note", fields: fields, indexes: [byRank])
/// ```
public struct IndexSchema: Sendable, Hashable {
  /// The names of the fields, most significant first.
  public let fields: [String]
  /// Whether the store rejects two objects with the same values in all fields.
  ///
  /// Objects with `nil` in any of the fields do not conflict.
  public let isUnique: Bool

  /// Declares an index on the named fields, most significant first.
  ///
  /// The index serves conditions on the first field, on the first two fields, and so on. It also
  /// serves sorting by the fields that follow those with an equality condition.
  public init(on fields: String..., isUnique: Bool = false) {
    self.fields = fields
    self.isUnique = isUnique
  }
}

/// The stored description of an index, which determines all of its entries.
package struct IndexDescription: Sendable, Hashable {
  /// One field of the index.
  package struct Part: Sendable, Hashable {
    package var fieldID: UInt32
    package var type: FieldType

    package init(fieldID: UInt32, type: FieldType) {
      self.fieldID = fieldID
      self.type = type
    }
  }

  package var id: UInt32
  package var parts: [Part]
  package var isUnique: Bool

  /// The maximum number of fields.
  package static let maximumPartCount = 8

  /// Creates a description with the field's id, or for several fields with a hash of their ids.
  package init(parts: [Part], isUnique: Bool) {
    self.parts = parts
    self.isUnique = isUnique
    id = parts.count == 1 ? parts[0].fieldID : Self.id(ofFields: parts.map(\.fieldID))
  }

  /// The FNV-1a hash of the little-endian ids of the fields, with the highest bit set.
  static func id(ofFields ids: [UInt32]) -> UInt32 {
    var hasher = FNV1a()
    for id in ids { hasher.combine(id) }
    return hasher.hash | 0x8000_0000
  }

  /// Whether an existing index serves the purpose of this one.
  ///
  /// A unique index also serves as one that is not unique, until a newer schema version changes it:
  /// otherwise two programs that disagree would each rebuild the other's index.
  package func isCovered(by indexes: [IndexDescription]) -> Bool {
    indexes.contains { $0.id == id && $0.parts == parts && ($0.isUnique || !isUnique) }
  }

  /// The maximum size of a value of variable width in a key of this index, in bytes.
  ///
  /// A key has at most 511 bytes, 8 of which are the object's id. A value of variable width needs
  /// 11 more bytes: a tag, a terminator of two bytes and a hash.
  var maximumContentSize: Int {
    let fixedSize = parts.reduce(0) { $0 + ($1.elementType.width.map { $0 + 1 } ?? 0) }
    let variableCount = parts.count { $0.elementType.width == nil }
    guard variableCount > 0 else { return 0 }
    return min(KeyEncoding.maximumContentSize, (503 - fixedSize) / variableCount - 11)
  }
}

extension IndexDescription.Part {
  /// The type of the values in the keys: the field's type, or the element type of a collection.
  var elementType: FieldType { type.indexedElement ?? type }
}

// MARK: On disk

extension IndexDescription {
  private static let codingVersion: UInt8 = 1

  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(isUnique ? 1 as UInt8 : 0)
    writer.write(UInt16(parts.count))
    for part in parts {
      writer.write(part.fieldID)
      writer.writeSized(part.type.description)
    }
    return writer.bytes
  }

  package init(id: UInt32, encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    isUnique = try reader.read(UInt8.self) & 1 != 0
    let count = try reader.read(UInt16.self)
    guard (1...Self.maximumPartCount).contains(Int(count)) else { throw RecordError(.invalidValue) }
    parts = []
    for _ in 0..<count {
      let fieldID = try reader.read(UInt32.self)
      let name = try reader.readSized(String.self)
      guard name.utf8.count <= 1_000, let type = FieldType(name) else {
        throw RecordError(.unknownCoding)
      }
      parts.append(Part(fieldID: fieldID, type: type))
    }
    self.id = id
  }
}
