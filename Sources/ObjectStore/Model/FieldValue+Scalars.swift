#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension FieldValue where Self: FixedWidthInteger {
  public static var fieldType: FieldType {
    isSigned ? .signed(bits: bitWidth) : .unsigned(bits: bitWidth)
  }

  public init(from reader: inout ByteReader) throws(RecordError) {
    self = try reader.read(Self.self)
  }

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
  public static var fieldType: FieldType { .bool }

  public init(from reader: inout ByteReader) throws(RecordError) {
    switch try reader.read(UInt8.self) {
    case 0: self = false
    case 1: self = true
    default: throw RecordError(.invalidValue)
    }
  }

  public func encode(to writer: inout ByteWriter) {
    writer.write(self ? 1 as UInt8 : 0)
  }
}

extension Float: FieldValue {
  public static var fieldType: FieldType { .float }

  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(bitPattern: try reader.read(UInt32.self))
  }

  public func encode(to writer: inout ByteWriter) {
    writer.write(bitPattern)
  }
}

extension Double: FieldValue {
  public static var fieldType: FieldType { .double }

  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(bitPattern: try reader.read(UInt64.self))
  }

  public func encode(to writer: inout ByteWriter) {
    writer.write(bitPattern)
  }
}

extension Date: FieldValue {
  public static var fieldType: FieldType { .date }

  public init(from reader: inout ByteReader) throws(RecordError) {
    self.init(timeIntervalSinceReferenceDate: try Double(from: &reader))
  }

  public func encode(to writer: inout ByteWriter) {
    timeIntervalSinceReferenceDate.encode(to: &writer)
  }
}

extension UUID: FieldValue {
  public static var fieldType: FieldType { .uuid }

  public init(from reader: inout ByteReader) throws(RecordError) {
    var value = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).uuid
    let bytes = unsafe try reader.take(16)
    unsafe withUnsafeMutableBytes(of: &value) { unsafe $0.copyMemory(from: bytes) }
    self.init(uuid: value)
  }

  public func encode(to writer: inout ByteWriter) {
    unsafe withUnsafeBytes(of: uuid) { unsafe writer.append($0) }
  }
}

extension String: FieldValue {
  public static var fieldType: FieldType { .string }

  public init(from reader: inout ByteReader) throws(RecordError) {
    self = try reader.readString()
  }

  public func encode(to writer: inout ByteWriter) {
    writer.write(utf8)
  }
}

extension Data: FieldValue {
  public static var fieldType: FieldType { .data }

  public init(from reader: inout ByteReader) throws(RecordError) {
    let bytes = unsafe try reader.take(reader.remaining)
    unsafe self.init(bytes)
  }

  public func encode(to writer: inout ByteWriter) {
    writer.write(self)
  }
}
