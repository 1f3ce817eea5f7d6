#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A type that a stored property of a model can have.
///
/// Integers, floating-point numbers, `Bool`, `String`, `Data`, `Date`, `UUID`, `URL`, `Decimal`,
/// and arrays, sets and dictionaries of these conform. An enumeration with a raw value of such a
/// type only needs to declare the conformance:
///
/// ```swift
/// enum Priority: Int, FieldValue {
///   case low, high
/// }
/// ```
///
/// Other types implement a custom encoding of type ``FieldType/embedded(_:)``, or conform to
/// ``JSONFieldValue``.
///
/// ```swift
/// extension Point: FieldValue {
///   static var fieldType: FieldType { .embedded("Point") }
///   init(from reader: inout ByteReader) throws(RecordError) {
///     self.init(x: try reader.readField(), y: try reader.readField())
///   }
///   func encode(to writer: inout ByteWriter) {
///     writer.writeField(x)
///     writer.writeField(y)
///   }
/// }
/// ```
public protocol FieldValue: Sendable {
  /// The type of the encoded value.
  static var fieldType: FieldType { get }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  init(from reader: inout ByteReader) throws(RecordError)

  /// Appends the encoded value: exactly ``FieldType/width`` bytes if the type has a fixed width.
  func encode(to writer: inout ByteWriter)
}

extension FieldValue {
  /// The encoded value.
  @usableFromInline
  package var storedBytes: [UInt8] {
    var writer = ByteWriter()
    encode(to: &writer)
    return writer.bytes
  }
}

extension FieldValue where Self: RawRepresentable, RawValue: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { RawValue.fieldType }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    guard let value = Self(rawValue: try RawValue(from: &reader)) else {
      throw RecordError(.invalidValue)
    }
    self = value
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    rawValue.encode(to: &writer)
  }
}

extension FieldValue where Self: FixedWidthInteger {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType {
    isSigned ? .signed(bits: bitWidth) : .unsigned(bits: bitWidth)
  }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self = try reader.read(Self.self)
  }

  /// Appends the encoded value.
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
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .bool }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    switch try reader.read(UInt8.self) {
    case 0: self = false
    case 1: self = true
    default: throw RecordError(.invalidValue)
    }
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(self ? 1 as UInt8 : 0)
  }
}

extension Float: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .float }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(bitPattern: try reader.read(UInt32.self))
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(bitPattern)
  }
}

extension Double: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .double }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(bitPattern: try reader.read(UInt64.self))
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(bitPattern)
  }
}

extension Date: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .date }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(timeIntervalSinceReferenceDate: try Double(from: &reader))
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    timeIntervalSinceReferenceDate.encode(to: &writer)
  }
}

extension UUID: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .uuid }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    var value = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).uuid
    let bytes = unsafe try reader.take(16)
    unsafe withUnsafeMutableBytes(of: &value) { unsafe $0.copyMemory(from: bytes) }
    self.init(uuid: value)
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    unsafe withUnsafeBytes(of: uuid) { unsafe writer.append($0) }
  }
}

extension String: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .string }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    self = try reader.readString()
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(utf8)
  }
}

extension Data: FieldValue {
  /// The type of the encoded value.
  @inlinable
  public static var fieldType: FieldType { .data }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  @inlinable
  public init(from reader: inout ByteReader) throws(RecordError) {
    let bytes = unsafe try reader.take(reader.remaining)
    unsafe self.init(bytes)
  }

  /// Appends the encoded value.
  @inlinable
  public func encode(to writer: inout ByteWriter) {
    writer.write(self)
  }
}

extension URL: FieldValue {
  /// The type of the encoded value.
  ///
  /// It is a string, so a field can change between `String` and `URL` without a migration.
  public static var fieldType: FieldType { .string }

  /// Decodes a value from all remaining bytes of the reader.
  ///
  /// - Throws: ``RecordError`` with `truncated` or `invalidValue` when the bytes are damaged.
  public init(from reader: inout ByteReader) throws(RecordError) {
    guard let url = URL(string: try reader.readString()) else {
      throw RecordError(.invalidValue)
    }
    self = url
  }

  /// Appends the absolute string of the URL; a relative URL is stored resolved against its base.
  public func encode(to writer: inout ByteWriter) {
    writer.write(absoluteString.utf8)
  }
}
