/// An index of a model over one field or several.
public struct IndexSchema: Sendable, Hashable {
  /// The names of the fields, the one that queries always give first.
  public let fields: [String]
  /// Whether no two objects may have the same values in the fields; `nil` is never the same.
  public let isUnique: Bool

  /// Describes an index over the named fields, in the order in which its keys compare.
  ///
  /// It serves conditions on the first field, on the first two, and so on, and the order of the
  /// fields after those that a query fixes.
  public init(on fields: String..., isUnique: Bool = false) {
    self.fields = fields
    self.isUnique = isUnique
  }
}

/// What the store keeps of an index: everything that its entries follow from.
struct IndexDescription: Sendable, Hashable {
  /// One field of the index.
  struct Part: Sendable, Hashable {
    var fieldID: UInt32
    var type: FieldType
  }

  var id: UInt32
  var parts: [Part]
  var isUnique: Bool

  static let longestParts = 8

  /// The index on one field has the field's id; one on several has a hash of theirs.
  init(parts: [Part], isUnique: Bool) {
    self.parts = parts
    self.isUnique = isUnique
    id = parts.count == 1 ? parts[0].fieldID : Self.id(ofFields: parts.map(\.fieldID))
  }

  /// FNV-1a over the ids of the fields, little-endian, with the highest bit set.
  static func id(ofFields ids: [UInt32]) -> UInt32 {
    var hasher = FNV1a()
    for id in ids { hasher.combine(id) }
    return hasher.hash | 0x8000_0000
  }

  /// Whether an index that is there does what this one is for.
  ///
  /// One that is unique stays so until a newer schema says otherwise: programs of one version that
  /// disagree must not build it anew in turn.
  func isServed(by indexes: [IndexDescription]) -> Bool {
    indexes.contains { $0.id == id && $0.parts == parts && ($0.isUnique || !isUnique) }
  }

  /// How many bytes of a text a key of this index takes in.
  ///
  /// A key has at most 511 bytes, 8 of which are the object's id; a text needs 11 beside its own.
  var longestContent: Int {
    let fixed = parts.reduce(0) { $0 + ($1.elementType.width.map { $0 + 1 } ?? 0) }
    let texts = parts.count { $0.elementType.width == nil }
    return texts == 0 ? 0 : min(KeyEncoding.longestContent, (503 - fixed) / texts - 11)
  }
}

extension IndexDescription.Part {
  /// The type of what a key has: of a collection, that of an element.
  var elementType: FieldType { type.indexedElement ?? type }
}

// MARK: On disk

extension IndexDescription {
  private static let codingVersion: UInt8 = 1

  var encoded: [UInt8] {
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

  init(id: UInt32, encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    isUnique = try reader.read(UInt8.self) & 1 != 0
    let count = try reader.read(UInt16.self)
    guard (1...Self.longestParts).contains(Int(count)) else { throw RecordError(.invalidValue) }
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
