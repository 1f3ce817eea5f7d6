/// The position of each field of a schema in an encoded record.
///
/// A record refers to its layout by number. The store keeps a description of every layout that was
/// ever written to it, so a program can read the records of earlier and later versions.
///
/// Each part of a record, cold and hot, consists of a header (cold only), presence bits, the slots
/// of the fixed-width fields, a `u32` end offset for each variable-width field, and the heap with
/// the bytes of the variable-width fields.
package struct RecordLayout: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package var id: UInt32
    package var name: String
    package var type: FieldType
    package var isOptional: Bool
    package var isHot: Bool
    package var isPrimaryKey: Bool

    package init(
      id: UInt32,
      name: String,
      type: FieldType,
      isOptional: Bool,
      isHot: Bool,
      isPrimaryKey: Bool
    ) {
      self.id = id
      self.name = name
      self.type = type
      self.isOptional = isOptional
      self.isHot = isHot
      self.isPrimaryKey = isPrimaryKey
    }
  }

  /// The sizes of the sections of one part of a record, in bytes.
  package struct PartShape: Sendable, Hashable {
    /// The number of bytes before the presence bits.
    package var headerSize: Int
    package var fieldCount = 0
    var fixedSize = 0
    var variableCount = 0

    package var presenceSize: Int { (fieldCount + 7) / 8 }
    var fixedStart: Int { headerSize + presenceSize }
    var endsStart: Int { fixedStart + fixedSize }
    package var heapStart: Int { endsStart + variableCount * 4 }
  }

  /// The maximum number of fields, which the description of a layout counts with two bytes.
  package static let maximumFieldCount = Int(UInt16.max)

  package let fields: [Field]
  /// The storage layout of the model.
  package let storage: StorageLayout
  package let places: [FieldPlace]
  package let cold: PartShape
  package let hot: PartShape
  /// The positions of the fields by id; empty for few fields, which are searched as fast.
  private let positions: [UInt32: Int]

  /// Creates a layout of the fields; hot fields of a model that is stored by key become cold.
  package init(fields: [Field], storage: StorageLayout = .sequential) {
    var fields = fields
    if storage == .byKey { for index in fields.indices { fields[index].isHot = false } }
    self.fields = fields
    self.storage = storage
    cold = Self.shape(of: fields.filter { !$0.isHot }, headerSize: RecordHeader.size)
    hot = Self.shape(of: fields.filter(\.isHot), headerSize: 0)
    var coldAllocator = PlaceAllocator(shape: cold, isHot: false)
    var hotAllocator = PlaceAllocator(shape: hot, isHot: true)
    places = fields.map { field in
      field.isHot ? hotAllocator.place(field) : coldAllocator.place(field)
    }
    let isSmall = fields.count <= 32
    positions = Dictionary(
      (isSmall ? [] : fields).enumerated().map { ($1.id, $0) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  // Everything else follows from these.
  package static func == (left: Self, right: Self) -> Bool {
    left.storage == right.storage && left.fields == right.fields
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(storage)
    hasher.combine(fields)
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

  /// Assigns each field of one part its place, in the order of the schema.
  private struct PlaceAllocator {
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

  /// Creates the layout in which a program with this schema writes; by default in the storage layout
  /// that the schema declares.
  package init(_ schema: ModelSchema, storage: StorageLayout? = nil) {
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
      },
      storage: storage ?? schema.layout
    )
  }

  package var hasHotFields: Bool { hot.fieldCount > 0 }

  func position(ofID id: UInt32) -> Int? {
    positions.isEmpty ? fields.firstIndex { $0.id == id } : positions[id]
  }
}

/// The location of a field in its part of a record; all offsets count from the start of the part.
@usableFromInline
package struct FieldPlace: Sendable, Hashable {
  @usableFromInline package var isHot: Bool
  /// Whether the field has a fixed-width slot; otherwise its bytes are in the heap.
  @usableFromInline package var isFixed: Bool
  /// Whether the field is the first in the heap, so that it starts at the start of the heap.
  @usableFromInline var isFirst = false
  /// Whether a stored `nil` is read as the field's default.
  @usableFromInline var replacesNil = false
  /// The bit that is set when the field has a value.
  @usableFromInline package var presenceMask: UInt8
  /// The offset of the byte with that bit; negative when the layout does not have the field.
  @usableFromInline package var presenceOffset: Int
  /// The offset of the slot, or of the `u32` that holds the field's end offset in the heap.
  @usableFromInline package var offset = 0
  @usableFromInline package var width = 0
  @usableFromInline var heapStart = 0

  static let none = FieldPlace(isHot: false, isFixed: true, presenceMask: 0, presenceOffset: -1)

  var exists: Bool { presenceOffset >= 0 }
}

/// The parts of a record that an operation reads or changes.
package struct RecordParts: OptionSet, Sendable, Hashable {
  package let rawValue: UInt8
  /// The fields that seldom change, in an entry of their own.
  package static let cold = Self(rawValue: 1)
  /// The fields that change often, in a ``HotChunk``.
  static let hot = Self(rawValue: 2)
  static let all: Self = [.cold, .hot]

  package init(rawValue: UInt8) { self.rawValue = rawValue }
}

// MARK: On disk

extension RecordLayout {
  /// The version of the encoding.
  ///
  /// Programs that know only sequential ids must not read a model that is stored by key. They refuse
  /// its layouts, because these have a later version.
  static func codingVersion(_ storage: StorageLayout) -> UInt8 {
    switch storage {
    case .sequential: 1
    case .byKey: 2
    }
  }

  /// The description of the layout that the store keeps.
  package var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion(storage))
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

  /// Decodes a description.
  package init(encoded reader: inout ByteReader) throws(RecordError) {
    let version = try reader.read(UInt8.self)
    let storage = StorageLayout.allCases.first { Self.codingVersion($0) == version }
    guard let storage else { throw RecordError(.unknownCoding) }
    let count = try reader.read(UInt16.self)
    var fields: [Field] = []
    for _ in 0..<count {
      let id = try reader.read(UInt32.self)
      let flags = try reader.read(UInt8.self)
      let name = try reader.readSized(String.self)
      let typeName = try reader.readSized(String.self)
      // `FieldType` parses nested types recursively: the limit bounds the recursion on damaged
      // bytes, and no real type name comes near it.
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
    self.init(fields: fields, storage: storage)
  }
}

/// A map from the fields of the program's schema to their places in one stored layout.
@safe  // It owns the memory and lends it no longer than it lives.
@usableFromInline
package final class LayoutBinding: Sendable {
  /// The layout of the records.
  package let layout: RecordLayout
  package let number: UInt16
  /// The place of each field of the program's schema, by position in the schema.
  var places: UnsafeBufferPointer<FieldPlace> { unsafe UnsafeBufferPointer(ownPlaces) }
  /// Returns the place of the field at a position in the program's schema.
  func place(at position: Int) -> FieldPlace {
    precondition(unsafe ownPlaces.indices.contains(position))
    return unsafe ownPlaces[position]
  }
  // Initialized in `init`, never changed after that, and freed in `deinit`.
  nonisolated(unsafe) private let ownPlaces: UnsafeMutableBufferPointer<FieldPlace>
  /// The fields of the program's schema, by the same positions.
  let fields: [RecordLayout.Field]
  /// The positions in the layout of fields that the program's schema does not have.
  let unknownPositions: [Int]
  /// The minimum size of each part, in bytes: all sections before the heap.
  package let coldSize: Int
  let hotSize: Int
  /// Whether the store has a hot part of each record.
  package let hasHotFields: Bool
  /// The conversion of the records when they are read; `nil` if they need none.
  package let conversion: RecordConversion?
  /// The defaults of fields that records in the layout may lack.
  package let defaults: FieldDefaults

  /// - Parameters:
  ///   - layout: The layout of the records.
  ///   - number: Its number in the store; 0 for the layout of converted records.
  ///   - own: The layout of the program.
  ///   - storesHotPart: Whether the store has a hot part of each record; by default, if the layout
  ///     has hot fields.
  ///   - conversion: The conversion of the records when they are read.
  ///   - defaults: The defaults of the fields of `own`.
  package init(
    reading layout: RecordLayout,
    number: UInt16,
    as own: RecordLayout,
    storesHotPart: Bool? = nil,
    conversion: RecordConversion? = nil,
    defaults: FieldDefaults = .none
  ) {
    self.layout = layout
    self.number = number
    self.conversion = conversion
    self.defaults = defaults
    fields = own.fields
    let places = own.fields.enumerated().map { position, field in
      guard let stored = layout.position(ofID: field.id) else { return FieldPlace.none }
      var place = layout.places[stored]
      place.replacesNil =
        layout.fields[stored].isOptional && defaults.replacesNil(at: position)
      return place
    }
    unsafe ownPlaces = .allocate(capacity: places.count)
    _ = unsafe ownPlaces.initialize(from: places)
    unknownPositions = layout.fields.indices.filter {
      own.position(ofID: layout.fields[$0].id) == nil
    }
    coldSize = layout.cold.heapStart
    hotSize = layout.hot.heapStart
    hasHotFields = storesHotPart ?? layout.hasHotFields
  }

  deinit {
    unsafe ownPlaces.deallocate()
  }

  /// The same data without reference counting, valid as long as the binding.
  @unsafe package var reference: LayoutReference {
    unsafe LayoutReference(
      number: number,
      hasHotFields: hasHotFields,
      isOutdated: conversion != nil,
      coldSize: coldSize,
      hotSize: hotSize,
      places: places,
      binding: self
    )
  }
}

/// The part of a ``LayoutBinding`` that reading a record needs, without reference counting.
///
/// Retaining the binding for every record would make all threads that read a model contend for one
/// reference count. The model's tables keep the binding alive, and record views are never lent
/// longer than the tables live.
@unsafe
package struct LayoutReference {
  let number: UInt16
  let hasHotFields: Bool
  /// Whether the records are converted when they are read.
  let isOutdated: Bool
  /// The minimum size of each part, in bytes.
  let coldSize: Int
  let hotSize: Int
  /// The place of each field of the program's schema, by position in the schema.
  let places: UnsafeBufferPointer<FieldPlace>
  unowned(unsafe) let binding: LayoutBinding
}

// The memory that it points to is immutable.
extension LayoutReference: @unchecked Sendable {}

/// The first eight bytes of the cold part of a record.
package struct RecordHeader {
  /// The low 32 bits of the XXH64 of all bytes after it, seeded with the object's id.
  ///
  /// The seed makes it also detect a record that is stored under another object's id.
  var checksum: UInt32
  /// The number of the record's layout.
  package var layoutNumber: UInt16
  /// Whether fields that the layout does not have follow the heap.
  var hasExtras: Bool

  static let size = 8
  static let codingVersion: UInt8 = 1

  package init(_ bytes: RawSpan) throws(RecordError) {
    self = try unsafe bytes.withUnsafeBytes { bytes throws(RecordError) in
      unsafe try Self(bytes)
    }
  }

  package init(_ bytes: UnsafeRawBufferPointer) throws(RecordError) {
    guard bytes.count >= Self.size else { throw RecordError(.truncated) }
    let word = unsafe UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
    guard UInt8(truncatingIfNeeded: word >> 48) == Self.codingVersion else {
      throw RecordError(.unknownCoding)
    }
    checksum = UInt32(truncatingIfNeeded: word)
    layoutNumber = UInt16(truncatingIfNeeded: word >> 32)
    hasExtras = word >> 56 & 1 != 0
  }

  static func checksum(of bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt32 {
    let covered = unsafe UnsafeRawBufferPointer(rebasing: bytes[4...])
    return unsafe UInt32(truncatingIfNeeded: XXHash64.hash(covered, seed: seed))
  }
}
