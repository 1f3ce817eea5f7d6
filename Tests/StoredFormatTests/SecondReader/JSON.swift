import Foundation
import ObjectStore

/// A JSON value, whose strings are compared by their bytes.
///
/// It is decoded by Foundation and not by the store's own parser, because these tests check the
/// store with independent code.
enum JSON: Decodable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case large(UInt64)
  case number(Double)
  case text(Text)
  case list([JSON])
  case members([String: JSON])

  struct Text: Equatable, CustomStringConvertible {
    let bytes: [UInt8]

    var description: String { String(decoding: bytes, as: UTF8.self) }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .large(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = JSON(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .list(value)
    } else {
      self = .members(try container.decode([String: JSON].self))
    }
  }
}

extension JSON {
  init(_ value: Bool) { self = .bool(value) }

  init(_ value: some FixedWidthInteger) {
    self = Int64(exactly: value).map { .integer($0) } ?? .large(UInt64(value))
  }

  /// Creates an integer for an integral value, because decoding does not distinguish 7.0 from 7.
  init(_ value: Double) {
    self = Int64(exactly: value).map { .integer($0) } ?? .number(value)
  }

  init(_ value: Date) { self.init(value.timeIntervalSinceReferenceDate) }

  init(_ value: String) { self = .text(Text(bytes: Array(value.utf8))) }

  /// Creates a string of hexadecimal digits.
  init(_ value: Data) {
    self.init(value.map { String(UInt16($0) + 0x100, radix: 16).dropFirst() }.joined())
  }

  init(_ values: [String]) { self = .list(values.map { JSON($0) }) }

  /// Creates a list in stored order: by the little-endian length, then by the bytes.
  init(_ values: Set<String>) {
    let stored = values.map { text in
      var writer = ByteWriter()
      writer.writeSized(text)
      return writer.bytes
    }
    self = .list(
      stored.sorted { $0.lexicographicallyPrecedes($1) }
        .map { .text(Text(bytes: Array($0.dropFirst(4)))) }
    )
  }

  /// Returns the value, or null for `nil`.
  static func optional<Value>(_ value: Value?, _ make: (Value) -> JSON) -> JSON {
    value.map(make) ?? .null
  }
}
