/// A syntax error in JSON text.
package struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The offset of the error in bytes, from 0.
  package var offset: Int
  package var reason: String

  package var description: String { "byte \(offset): \(reason)" }
}

/// A strict parser of JSON text (RFC 8259), which also rejects objects with duplicate names.
package struct JSONParser {
  /// The parser is recursive: the limit bounds its use of the stack.
  private static let maximumDepth = 256

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  /// Parses bytes that contain one value, optionally surrounded by whitespace.
  package static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONValue {
    var parser = JSONParser(bytes: bytes)
    let value = try parser.value()
    parser.skipWhitespace()
    guard parser.offset == bytes.count else { throw parser.failure("data follows the value") }
    return value
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func failure(_ reason: String) -> JSONSyntaxError {
    JSONSyntaxError(offset: offset, reason: reason)
  }

  private mutating func skipWhitespace() {
    while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      offset += 1
    }
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard current == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  private mutating func value() throws(JSONSyntaxError) -> JSONValue {
    skipWhitespace()
    guard let first = current else { throw failure("expected a value") }
    switch first {
    case UInt8(ascii: "{"):
      return try nested { parser throws(JSONSyntaxError) in try parser.object() }
    case UInt8(ascii: "["):
      return try nested { parser throws(JSONSyntaxError) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try literal("true", .bool(true))
    case UInt8(ascii: "f"): return try literal("false", .bool(false))
    case UInt8(ascii: "n"): return try literal("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    default: throw failure("expected a value")
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(JSONSyntaxError) -> JSONValue
  ) throws(JSONSyntaxError) -> JSONValue {
    guard depth < Self.maximumDepth else { throw failure("nested too deeply") }
    depth += 1
    offset += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func literal(
    _ literal: StaticString,
    _ value: JSONValue
  ) throws(JSONSyntaxError) -> JSONValue {
    let expected = Array("\(literal)".utf8)
    guard bytes[offset...].starts(with: expected) else { throw failure("expected a value") }
    offset += expected.count
    return value
  }

  private mutating func object() throws(JSONSyntaxError) -> JSONValue {
    var members: [JSONValue.Member] = []
    var names: Set<[UInt8]> = []
    skipWhitespace()
    if skip("}") { return .object([]) }
    while true {
      skipWhitespace()
      guard current == UInt8(ascii: "\"") else {
        throw failure(
          current == UInt8(ascii: "}")
            ? "expected a member name: a comma precedes '}'" : "expected a member name"
        )
      }
      let name = try string()
      guard names.insert(Array(name.utf8)).inserted else { throw failure("duplicate member name") }
      skipWhitespace()
      guard skip(":") else { throw failure("expected ':'") }
      members.append(JSONValue.Member(name: name, value: try value()))
      skipWhitespace()
      if skip("}") { return .object(members) }
      guard skip(",") else { throw failure("expected ',' or '}'") }
    }
  }

  private mutating func array() throws(JSONSyntaxError) -> JSONValue {
    var elements: [JSONValue] = []
    skipWhitespace()
    if skip("]") { return .array([]) }
    while true {
      elements.append(try value())
      skipWhitespace()
      if skip("]") { return .array(elements) }
      guard skip(",") else { throw failure("expected ',' or ']'") }
    }
  }

  // MARK: Numbers

  private mutating func number() throws(JSONSyntaxError) -> String {
    let start = offset
    _ = skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      offset += 1
      if !skip("+") { _ = skip("-") }
      try digits()
    }
    return String(decoding: bytes[start..<offset], as: UTF8.self)
  }

  private mutating func digits() throws(JSONSyntaxError) {
    let start = offset
    while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { offset += 1 }
    guard offset > start else { throw failure("expected a digit") }
  }

  // MARK: Strings

  private mutating func string() throws(JSONSyntaxError) -> String {
    offset += 1
    var unescaped: [UInt8] = []
    while true {
      guard let byte = current else { throw failure("unterminated string") }
      switch byte {
      case UInt8(ascii: "\""):
        let string = try? ByteReader.reading(unescaped) { reader throws(RecordError) in
          try reader.readString()
        }
        guard let string else { throw failure("string is not valid UTF-8") }
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        offset += 1
        try escape(to: &unescaped)
      case 0..<0x20: throw failure("unescaped control character")
      default:
        unescaped.append(byte)
        offset += 1
      }
    }
  }

  private mutating func escape(to output: inout [UInt8]) throws(JSONSyntaxError) {
    guard let kind = current else { throw failure("unterminated string") }
    offset += 1
    switch kind {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return output.append(kind)
    case UInt8(ascii: "b"): return output.append(0x08)
    case UInt8(ascii: "f"): return output.append(0x0C)
    case UInt8(ascii: "n"): return output.append(0x0A)
    case UInt8(ascii: "r"): return output.append(0x0D)
    case UInt8(ascii: "t"): return output.append(0x09)
    case UInt8(ascii: "u"): break
    default: throw failure("invalid escape sequence")
    }
    var code = UInt32(try codeUnit())
    if (0xD800..<0xDC00).contains(code) {
      guard skip("\\"), skip("u") else { throw failure("unpaired surrogate") }
      let low = UInt32(try codeUnit())
      guard (0xDC00..<0xE000).contains(low) else { throw failure("unpaired surrogate") }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw failure("unpaired surrogate") }
    output.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
  }

  /// Parses the four digits of a `\u` escape.
  private mutating func codeUnit() throws(JSONSyntaxError) -> UInt16 {
    guard offset + 4 <= bytes.count,
      let pair = Hexadecimal.decode(String(decoding: bytes[offset..<offset + 4], as: UTF8.self))
    else { throw failure("expected four hexadecimal digits") }
    offset += 4
    return UInt16(pair[0]) << 8 | UInt16(pair[1])
  }
}
