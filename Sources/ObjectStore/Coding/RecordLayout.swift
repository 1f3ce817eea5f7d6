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

  /// The sizes of one part of a record.
  struct PartShape: Sendable, Hashable {
    /// What comes before the presence bits.
    var headerSize: Int
    var fieldCount = 0
    var fixedSize = 0
    var variableCount = 0

    var presenceSize: Int { (fieldCount + 7) / 8 }
    var fixedStart: Int { headerSize + presenceSize }
    var endsStart: Int { fixedStart + fixedSize }
    var heapStart: Int { endsStart + variableCount * 4 }
  }

  let fields: [Field]
  let places: [FieldPlace]
  let cold: PartShape
  let hot: PartShape

  init(fields: [Field]) {
    self.fields = fields
    cold = Self.shape(of: fields.filter { !$0.isHot }, headerSize: RecordHeader.size)
    hot = Self.shape(of: fields.filter(\.isHot), headerSize: 0)
    var coldFiller = Filler(shape: cold, isHot: false)
    var hotFiller = Filler(shape: hot, isHot: true)
    places = fields.map { field in
      field.isHot ? hotFiller.place(field) : coldFiller.place(field)
    }
  }

  private static func shape(of fields: [Field], headerSize: Int) -> PartShape {
    var shape = PartShape(headerSize: headerSize, fieldCount: fields.count)
    for field in fields {
      if let width = field.type.width {
        shape.fixedSize += width
      } else {
        shape.variableCount += 1
      }
    }
    return shape
  }

  /// Gives each field of one part its place, in order.
  private struct Filler {
    let shape: PartShape
    let isHot: Bool
    var bit = 0
    var fixed = 0
    var variable = 0

    mutating func place(_ field: Field) -> FieldPlace {
      defer { bit += 1 }
      var place = FieldPlace(
        isHot: isHot,
        isFixed: field.type.width != nil,
        presenceMask: 1 << UInt8(bit % 8),
        presenceOffset: shape.headerSize + bit / 8
      )
      if let width = field.type.width {
        place.offset = shape.fixedStart + fixed
        place.width = width
        fixed += width
      } else {
        place.offset = shape.endsStart + variable * 4
        place.heapStart = shape.heapStart
        place.isFirst = variable == 0
        variable += 1
      }
      return place
    }
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

  var hasHotFields: Bool { hot.fieldCount > 0 }

  func position(ofID id: UInt32) -> Int? {
    fields.firstIndex { $0.id == id }
  }
}

/// Where a field lies inside its part of a record, from the start of the part.
@usableFromInline
struct FieldPlace: Sendable, Hashable {
  @usableFromInline var isHot: Bool
  /// Whether the field has a slot of its own; otherwise its bytes lie in the heap.
  @usableFromInline var isFixed: Bool
  /// Whether the field is the first of its part in the heap.
  @usableFromInline var isFirst = false
  /// The bit that says whether there is a value.
  @usableFromInline var presenceMask: UInt8
  /// The byte with that bit; negative when the layout has no such field.
  @usableFromInline var presenceOffset: Int
  /// Of the slot, or of the number that says where the field ends in the heap.
  @usableFromInline var offset = 0
  @usableFromInline var width = 0
  @usableFromInline var heapStart = 0

  static let none = FieldPlace(isHot: false, isFixed: true, presenceMask: 0, presenceOffset: -1)

  var exists: Bool { presenceOffset >= 0 }
}

/// Parts of records.
struct RecordParts: OptionSet, Sendable, Hashable {
  let rawValue: UInt8
  /// What seldom changes.
  static let cold = Self(rawValue: 1)
  /// What changes often: small, and close to its neighbours.
  static let hot = Self(rawValue: 2)
  static let all: Self = [.cold, .hot]
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
