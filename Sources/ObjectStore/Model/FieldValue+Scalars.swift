#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension FieldValue where Self: FixedWidthInteger {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType {
    isSigned ? .signed(bits: bitWidth) : .unsigned(bits: bitWidth)
  }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self = try reader.read(Self.self)
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(self)
  }
}

extension Int: FieldValue {}
extension Int8: FieldValue {}
extension Int16: FieldValue {}
extension Int32: FieldValue {}
extension Int64: FieldValue {}
extension UInt: FieldValue {}
extension UInt8: FieldValue {}
extension UInt16: FieldValue {}
extension UInt32: FieldValue {}
extension UInt64: FieldValue {}

extension Bool: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .bool }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    switch try reader.read(UInt8.self) {
    case 0: self = false
    case 1: self = true
    default: throw RecordError(.invalidValue)
    }
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(self ? 1 as UInt8 : 0)
  }
}

extension Float: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .float }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(bitPattern: try reader.read(UInt32.self))
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(bitPattern)
  }
}

extension Double: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .double }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(bitPattern: try reader.read(UInt64.self))
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(bitPattern)
  }
}

extension Date: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .date }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(timeIntervalSinceReferenceDate: try Double(from: &reader))
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    timeIntervalSinceReferenceDate.encode(to: &writer)
  }
}

extension UUID: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .uuid }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    var value = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).uuid
    let bytes = unsafe try reader.take(16)
    unsafe withUnsafeMutableBytes(of: &value) { unsafe $0.copyMemory(from: bytes) }
    self.init(uuid: value)
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    unsafe withUnsafeBytes(of: uuid) { unsafe writer.append($0) }
  }
}

extension String: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .string }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self = try reader.readString()
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(utf8)
  }
}

extension Data: FieldValue {
  /// How the value lies on disk.
  @inlinable
  public static var fieldType: FieldType { .data }

  /// Reads a value from all of the bytes that are lent.
  ///
  /// - Throws: ``RecordError`` when they are none.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    let bytes = unsafe try reader.take(reader.remaining)
    unsafe self.init(bytes)
  }

  /// Appends the value's bytes.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(self)
  }
}
