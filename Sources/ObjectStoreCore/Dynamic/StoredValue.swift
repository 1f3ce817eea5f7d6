internal import SystemInterface

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A field's value of any type, for code that does not have the model's Swift type.
///
/// Tools, migrations and exports use it. The width of an integer is not part of the value but of
/// the field's ``FieldType``.
///
/// ```swift
/// func text(of value: StoredValue) -> String? {
///   switch value {
///   case .string(let text): text
///   case .signed(let number): String(number)
///   default: nil
///   }
/// }
/// ```
public indirect enum StoredValue: Sendable, Hashable {
  /// One entry of a dictionary.
  public struct Entry: Sendable, Hashable {
    /// The key.
    public var key: StoredValue
    /// The value.
    public var value: StoredValue

    /// Creates an entry.
    package init(key: StoredValue, value: StoredValue) {
      self.key = key
      self.value = value
    }
  }

  /// The `nil` of an optional field.
  case null
  /// A Boolean value.
  case bool(Bool)
  /// A signed integer of 8 to 64 bits.
  case signed(Int64)
  /// An unsigned integer of 8 to 64 bits.
  case unsigned(UInt64)
  /// A floating-point number of 32 bits.
  case float(Float)
  /// A floating-point number of 64 bits.
  case double(Double)
  /// A point in time.
  case date(Date)
  /// A decimal number.
  case decimal(Decimal)
  /// A UUID.
  case uuid(UUID)
  /// A string.
  case string(String)
  /// Bytes.
  case data(Data)
  /// The elements of an array.
  case array([StoredValue])
  /// The elements of a set, in stored order.
  case set([StoredValue])
  /// The entries of a dictionary, in stored order.
  case dictionary([Entry])
  /// The bytes of a value with a custom encoding, which only its Swift type can decode.
  case embedded(Data)

  /// Whether this is ``null``.
  public var isNull: Bool { self == .null }
}

extension StoredValue: CustomStringConvertible {
  /// A readable form of the value.
  ///
  /// Bytes are hexadecimal digits; dates are seconds since 2001-01-01T00:00:00Z.
  public var description: String {
    switch self {
    case .null: "nil"
    case .bool(let value): "\(value)"
    case .signed(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .date(let value): "\(value.timeIntervalSinceReferenceDate) s"
    case .decimal(let value): "\(value)"
    case .uuid(let value): value.uuidString
    case .string(let value): value
    case .data(let value), .embedded(let value): Hexadecimal.encode(value)
    case .array(let elements), .set(let elements): "\(elements)"
    case .dictionary(let entries):
      "[\(entries.map { "\($0.key): \($0.value)" }.joined(separator: ", "))]"
    }
  }
}

// MARK: Reading

extension StoredValue {
  /// Decodes a value of `type` from all of the bytes.
  ///
  /// It checks everything that `docs/format.md` specifies, such as the order of the elements of a
  /// set, and so is stricter than the decoders of the Swift types.
  package init(_ bytes: RawSpan, type: FieldType) throws(RecordError) {
    if let width = type.width, width != bytes.byteCount { throw RecordError(.invalidValue) }
    self = try ByteReader.reading(bytes) { reader throws(RecordError) in
      try StoredValue(from: &reader, type)
    }
  }

  private init(from reader: inout ByteReader, _ type: FieldType) throws(RecordError) {
    switch type {
    case .bool: self = .bool(try Bool(from: &reader))
    case .signed(let bits): self = .signed(try Self.signed(bits, &reader))
    case .unsigned(let bits): self = .unsigned(try Self.unsigned(bits, &reader))
    case .float: self = .float(try Float(from: &reader))
    case .double: self = .double(try Double(from: &reader))
    case .date: self = .date(try Date(from: &reader))
    case .decimal: self = .decimal(try Decimal(from: &reader))
    case .uuid: self = .uuid(try UUID(from: &reader))
    case .string: self = .string(try String(from: &reader))
    case .data: self = .data(try Data(from: &reader))
    case .array(let element): self = .array(try Self.elements(element, &reader))
    case .set(let element):
      let elements = try Self.elements(element, &reader)
      let own = try elements.map { value throws(RecordError) in
        try value.sizedBytes(as: element)
      }
      guard Self.isAscending(own, isStrict: !element.hasNaN) else {
        throw RecordError(.invalidValue)
      }
      self = .set(elements)
    case .dictionary(let key, let value):
      self = .dictionary(try Self.entries(key, value, &reader))
    case .embedded: self = .embedded(try Data(from: &reader))
    }
  }

  private static func signed(
    _ bits: Int,
    _ reader: inout ByteReader
  ) throws(RecordError) -> Int64 {
    switch bits {
    case 8: Int64(try reader.read(Int8.self))
    case 16: Int64(try reader.read(Int16.self))
    case 32: Int64(try reader.read(Int32.self))
    default: try reader.read(Int64.self)
    }
  }

  private static func unsigned(
    _ bits: Int,
    _ reader: inout ByteReader
  ) throws(RecordError) -> UInt64 {
    switch bits {
    case 8: UInt64(try reader.read(UInt8.self))
    case 16: UInt64(try reader.read(UInt16.self))
    case 32: UInt64(try reader.read(UInt32.self))
    default: try reader.read(UInt64.self)
    }
  }

  private static func elements(
    _ type: FieldType,
    _ reader: inout ByteReader
  ) throws(RecordError) -> [StoredValue] {
    let count = try reader.readCount()
    var elements: [StoredValue] = []
    // An element has at least one byte: a damaged count must not reserve more memory than that.
    elements.reserveCapacity(min(count, reader.remaining))
    for _ in 0..<count {
      let element = try reader.withSized(type) { bytes throws(RecordError) in
        try StoredValue(bytes, type: type)
      }
      elements.append(element)
    }
    return elements
  }

  private static func entries(
    _ keyType: FieldType,
    _ valueType: FieldType,
    _ reader: inout ByteReader
  ) throws(RecordError) -> [Entry] {
    let count = try reader.readCount()
    var entries: [Entry] = []
    entries.reserveCapacity(min(count, reader.remaining))
    var stored: [[UInt8]] = []
    var keys: Set<[UInt8]> = []
    for _ in 0..<count {
      let key = try reader.withSized(keyType) { bytes throws(RecordError) in
        if !keyType.hasNaN, !keys.insert([UInt8](copying: bytes)).inserted {
          throw RecordError(.invalidValue)
        }
        return try StoredValue(bytes, type: keyType)
      }
      let value = try reader.withSized(valueType) { bytes throws(RecordError) in
        try StoredValue(bytes, type: valueType)
      }
      let entry = Entry(key: key, value: value)
      stored.append(
        try entry.key.sizedBytes(as: keyType) + entry.value.sizedBytes(as: valueType)
      )
      entries.append(entry)
    }
    guard isAscending(stored, isStrict: false) else { throw RecordError(.invalidValue) }
    return entries
  }

  private static func isAscending(_ values: [[UInt8]], isStrict: Bool) -> Bool {
    zip(values, values.dropFirst()).allSatisfy { one, next in
      one.precedes(next) || (!isStrict && one == next)
    }
  }
}

// MARK: Writing

extension StoredValue {
  /// Encodes the value for a field of `type`; returns `nil` for ``null``.
  ///
  /// - Throws: ``RecordError`` with `invalidValue` when the value is not of that type, or exceeds
  ///   its range.
  package func bytes(as type: FieldType) throws(RecordError) -> [UInt8]? {
    if case .null = self { return nil }
    var writer = ByteWriter()
    try write(as: type, to: &writer)
    return writer.bytes
  }

  private func sizedBytes(as type: FieldType) throws(RecordError) -> [UInt8] {
    guard let bytes = try bytes(as: type) else { throw RecordError(.invalidValue) }
    if type.width != nil { return bytes }
    var writer = ByteWriter()
    writer.write(UInt32(bytes.count))
    writer.write(bytes)
    return writer.bytes
  }

  private func write(as type: FieldType, to writer: inout ByteWriter) throws(RecordError) {
    switch (self, type) {
    case (.bool(let value), .bool): value.encode(to: &writer)
    case (.signed(let value), .signed(let bits)):
      try Self.write(value, bits, to: &writer)
    case (.unsigned(let value), .unsigned(let bits)):
      try Self.write(value, bits, to: &writer)
    case (.float(let value), .float): value.encode(to: &writer)
    case (.double(let value), .double): value.encode(to: &writer)
    case (.date(let value), .date): value.encode(to: &writer)
    case (.decimal(let value), .decimal): value.encode(to: &writer)
    case (.uuid(let value), .uuid): value.encode(to: &writer)
    case (.string(let value), .string): value.encode(to: &writer)
    case (.data(let value), .data), (.embedded(let value), .embedded): value.encode(to: &writer)
    case (.array(let elements), .array(let element)):
      writer.write(UInt32(elements.count))
      for value in elements { writer.write(try value.sizedBytes(as: element)) }
    case (.set(let elements), .set(let element)):
      try Self.write(elements, ofSet: element, to: &writer)
    case (.dictionary(let entries), .dictionary(let key, let value)):
      try Self.write(entries, key, value, to: &writer)
    default: throw RecordError(.invalidValue)
    }
  }

  private static func write(
    _ value: Int64,
    _ bits: Int,
    to writer: inout ByteWriter
  ) throws(RecordError) {
    guard value >> Int64(bits - 1) == value >> 63 else { throw RecordError(.invalidValue) }
    write(UInt64(bitPattern: value), bytes: bits / 8, to: &writer)
  }

  private static func write(
    _ value: UInt64,
    _ bits: Int,
    to writer: inout ByteWriter
  ) throws(RecordError) {
    guard value.leadingZeroBitCount >= 64 - bits else { throw RecordError(.invalidValue) }
    write(value, bytes: bits / 8, to: &writer)
  }

  private static func write(_ value: UInt64, bytes count: Int, to writer: inout ByteWriter) {
    for index in 0..<count { writer.write(UInt8(truncatingIfNeeded: value >> UInt64(8 * index))) }
  }

  private static func write(
    _ elements: [StoredValue],
    ofSet type: FieldType,
    to writer: inout ByteWriter
  ) throws(RecordError) {
    var stored: [[UInt8]] = []
    for value in elements { stored.append(try value.sizedBytes(as: type)) }
    stored.sort { $0.precedes($1) }
    guard isAscending(stored, isStrict: !type.hasNaN) else { throw RecordError(.invalidValue) }
    writer.write(UInt32(stored.count))
    for bytes in stored { writer.write(bytes) }
  }

  private static func write(
    _ entries: [Entry],
    _ keyType: FieldType,
    _ valueType: FieldType,
    to writer: inout ByteWriter
  ) throws(RecordError) {
    var stored: [[UInt8]] = []
    var keys: Set<[UInt8]> = []
    for entry in entries {
      let key = try entry.key.sizedBytes(as: keyType)
      guard keyType.hasNaN || keys.insert(key).inserted else { throw RecordError(.invalidValue) }
      stored.append(key + (try entry.value.sizedBytes(as: valueType)))
    }
    stored.sort { $0.precedes($1) }
    writer.write(UInt32(stored.count))
    for bytes in stored { writer.write(bytes) }
  }
}

extension FieldType {
  /// Whether the type has values that do not equal themselves, which a set can contain twice.
  fileprivate var hasNaN: Bool {
    switch self {
    case .float, .double, .date: true
    default: false
    }
  }
}
