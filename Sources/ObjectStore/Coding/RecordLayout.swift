/// Where each field of one schema lies in a record.
///
/// A record names its layout by number; the store keeps a description of every layout that any of
/// its programs has written, so that each program can read the records of the others.
struct RecordLayout: Sendable, Hashable {
  struct Field: Sendable, Hashable {
    var id: UInt32
    var name: String
    var type: FieldType
    var isOptional: Bool
    var isHot: Bool
    var isPrimaryKey: Bool
  }

  /// Where a field lies inside its part of the record.
  enum Slot: Sendable, Hashable {
    /// `width` bytes at `offset` from the start of the part.
    case fixed(offset: Int, width: Int)
    /// The bytes between two ends in the table of ends.
    case variable(index: Int)
  }

  struct Place: Sendable, Hashable {
    var part: RecordPart
    /// The bit that says whether there is a value.
    var presenceBit: Int
    var slot: Slot
  }

  /// The sizes of one part of a record.
  struct PartShape: Sendable, Hashable {
    var fieldCount = 0
    var fixedSize = 0
    var variableCount = 0

    static let headerSize = 8
    var presenceSize: Int { (fieldCount + 7) / 8 }
    var fixedStart: Int { Self.headerSize + presenceSize }
    var endsStart: Int { fixedStart + fixedSize }
    var heapStart: Int { endsStart + variableCount * 4 }
  }

  let fields: [Field]
  let places: [Place]
  let cold: PartShape
  let hot: PartShape

  init(fields: [Field]) {
    self.fields = fields
    var cold = PartShape()
    var hot = PartShape()
    for field in fields {
      if field.isHot { hot.fieldCount += 1 } else { cold.fieldCount += 1 }
    }
    var bits: [RecordPart: Int] = [:]
    places = fields.map { field in
      let part: RecordPart = field.isHot ? .hot : .cold
      let bit = bits[part, default: 0]
      bits[part] = bit + 1
      let slot =
        field.isHot
        ? Self.place(field, in: &hot) : Self.place(field, in: &cold)
      return Place(part: part, presenceBit: bit, slot: slot)
    }
    self.cold = cold
    self.hot = hot
  }

  private static func place(_ field: Field, in shape: inout PartShape) -> Slot {
    if let width = field.type.width {
      defer { shape.fixedSize += width }
      return .fixed(offset: shape.fixedStart + shape.fixedSize, width: width)
    }
    defer { shape.variableCount += 1 }
    return .variable(index: shape.variableCount)
  }

  init(_ schema: ModelSchema) {
    self.init(
      fields: schema.fields.map { field in
        Field(
          id: field.id,
          name: field.name,
          type: field.type,
          isOptional: field.isOptional,
          isHot: field.isHot,
          isPrimaryKey: field.isPrimaryKey
        )
      }
    )
  }

  func shape(of part: RecordPart) -> PartShape {
    part == .hot ? hot : cold
  }

  func position(ofID id: UInt32) -> Int? {
    fields.firstIndex { $0.id == id }
  }
}

/// The two parts in which a record is stored.
enum RecordPart: UInt8, Sendable, Hashable, CaseIterable {
  /// What seldom changes.
  case cold
  /// What changes often: small, and close to its neighbours.
  case hot
}

// MARK: On disk

extension RecordLayout {
  private static let codingVersion: UInt8 = 1

  /// The description of the layout as the store keeps it.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(UInt16(fields.count))
    for field in fields {
      writer.write(field.id)
      var flags: UInt8 = 0
      if field.isOptional { flags |= 1 }
      if field.isHot { flags |= 2 }
      if field.isPrimaryKey { flags |= 4 }
      writer.write(flags)
      writer.writeSized(field.name)
      writer.writeSized(field.type.description)
    }
    return writer.bytes
  }

  /// Reads a description.
  init(encoded reader: inout ByteReader) throws(RecordError) {
    guard try reader.read(UInt8.self) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    let count = try reader.read(UInt16.self)
    var fields: [Field] = []
    for _ in 0..<count {
      let id = try reader.read(UInt32.self)
      let flags = try reader.read(UInt8.self)
      let name = try reader.readSized(String.self)
      let typeName = try reader.readSized(String.self)
      // Types nest, and reading their names does too: no store has one as long as this.
      guard typeName.utf8.count <= 1_000, let type = FieldType(typeName) else {
        throw RecordError(.unknownCoding, field: name)
      }
      fields.append(
        Field(
          id: id,
          name: name,
          type: type,
          isOptional: flags & 1 != 0,
          isHot: flags & 2 != 0,
          isPrimaryKey: flags & 4 != 0
        )
      )
    }
    self.init(fields: fields)
  }
}
