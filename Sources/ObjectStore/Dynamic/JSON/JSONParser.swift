/// Why bytes are no JSON.
struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Where, counted in bytes from 0.
  var offset: Int
  var reason: String

  var description: String { "byte \(offset): \(reason)" }
}

/// Reads a text of JSON, and accepts nothing that RFC 8259 does not.
struct JSONParser {
  /// Deeper ones would use up the stack.
  private static let deepest = 256

  private let bytes: [UInt8]
  private var offset = 0
  private var depth = 0

  /// The value that the bytes are, and nothing but spaces around it.
  static func parse(_ bytes: [UInt8]) throws(JSONSyntaxError) -> JSONText {
    var parser = JSONParser(bytes: bytes)
    let value = try parser.value()
    parser.skipSpaces()
    guard parser.offset == bytes.count else { throw parser.failure("more follows the value") }
    return value
  }

  private init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

  private func failure(_ reason: String) -> JSONSyntaxError {
    JSONSyntaxError(offset: offset, reason: reason)
  }

  private mutating func skipSpaces() {
    while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D {
      offset += 1
    }
  }

  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard current == UInt8(ascii: character) else { return false }
    offset += 1
    return true
  }

  private mutating func value() throws(JSONSyntaxError) -> JSONText {
    skipSpaces()
    guard let first = current else { throw failure("a value is missing") }
    switch first {
    case UInt8(ascii: "{"):
      return try nested { parser throws(JSONSyntaxError) in try parser.object() }
    case UInt8(ascii: "["):
      return try nested { parser throws(JSONSyntaxError) in try parser.array() }
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    default: throw failure("no value begins so")
    }
  }

  private mutating func nested(
    _ body: (inout JSONParser) throws(JSONSyntaxError) -> JSONText
  ) throws(JSONSyntaxError) -> JSONText {
    guard depth < Self.deepest else { throw failure("nested too deeply") }
    depth += 1
    offset += 1
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func word(
    _ word: StaticString,
    _ value: JSONText
  ) throws(JSONSyntaxError) -> JSONText {
    let wanted = Array("\(word)".utf8)
    guard bytes[offset...].starts(with: wanted) else { throw failure("no value begins so") }
    offset += wanted.count
    return value
  }

  private mutating func object() throws(JSONSyntaxError) -> JSONText {
    var members: [JSONText.Member] = []
    var names: Set<[UInt8]> = []
    skipSpaces()
    if skip("}") { return .object([]) }
    while true {
      skipSpaces()
      guard current == UInt8(ascii: "\"") else { throw failure("a name is missing") }
      let name = try string()
      guard names.insert(Array(name.utf8)).inserted else { throw failure("a name comes twice") }
      skipSpaces()
      guard skip(":") else { throw failure("a ':' is missing") }
      members.append(JSONText.Member(name: name, value: try value()))
      skipSpaces()
      if skip("}") { return .object(members) }
      guard skip(",") else { throw failure("a ',' or '}' is missing") }
    }
  }

  private mutating func array() throws(JSONSyntaxError) -> JSONText {
    var elements: [JSONText] = []
    skipSpaces()
    if skip("]") { return .array([]) }
    while true {
      elements.append(try value())
      skipSpaces()
      if skip("]") { return .array(elements) }
      guard skip(",") else { throw failure("a ',' or ']' is missing") }
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
    guard offset > start else { throw failure("a digit is missing") }
  }

  // MARK: Strings

  private mutating func string() throws(JSONSyntaxError) -> String {
    offset += 1
    var text: [UInt8] = []
    while true {
      guard let byte = current else { throw failure("a text does not end") }
      switch byte {
      case UInt8(ascii: "\""):
        let string = unsafe text.withUnsafeBytes { bytes in
          var reader = unsafe ByteReader(bytes)
          return try? reader.readString()
        }
        guard let string else { throw failure("a text is not UTF-8") }
        offset += 1
        return string
      case UInt8(ascii: "\\"):
        offset += 1
        try escape(to: &text)
      case 0..<0x20: throw failure("a control character is not escaped")
      default:
        text.append(byte)
        offset += 1
      }
    }
  }

  private mutating func escape(to text: inout [UInt8]) throws(JSONSyntaxError) {
    let simple: [UInt8: UInt8] = [
      UInt8(ascii: "\""): UInt8(ascii: "\""), UInt8(ascii: "\\"): UInt8(ascii: "\\"),
      UInt8(ascii: "/"): UInt8(ascii: "/"), UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C,
      UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
    ]
    guard let kind = current else { throw failure("a text does not end") }
    offset += 1
    if let byte = simple[kind] { return text.append(byte) }
    guard kind == UInt8(ascii: "u") else { throw failure("no escape is written so") }
    var code = UInt32(try unit())
    if (0xD800..<0xDC00).contains(code) {
      guard skip("\\"), skip("u") else { throw failure("half of a surrogate pair is missing") }
      let low = UInt32(try unit())
      guard (0xDC00..<0xE000).contains(low) else {
        throw failure("half of a surrogate pair is missing")
      }
      code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
    }
    guard let scalar = Unicode.Scalar(code) else {
      throw failure("half of a surrogate pair is missing")
    }
    text.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
  }

  private mutating func unit() throws(JSONSyntaxError) -> UInt16 {
    guard offset + 4 <= bytes.count,
      let pair = Hexadecimal.decode(String(decoding: bytes[offset..<offset + 4], as: UTF8.self))
    else { throw failure("four digits are missing") }
    offset += 4
    return UInt16(pair[0]) << 8 | UInt16(pair[1])
  }
}
