/// A text of JSON (RFC 8259), as far as its grammar goes: numbers stay the digits that they are, so
/// that nothing is rounded before their type is known.
enum JSONText: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(String)
  case string(String)
  case array([JSONText])
  case object([Member])

  struct Member: Sendable, Hashable {
    var name: String
    var value: JSONText
  }

  /// The member of that name.
  subscript(name: String) -> JSONText? {
    guard case .object(let members) = self else { return nil }
    // By bytes: texts that look alike may be two.
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }
}

// MARK: Writing

extension JSONText {
  /// Appends the text, without spaces and line ends.
  func write(to output: inout [UInt8]) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let digits): output.append(contentsOf: digits.utf8)
    case .string(let text): Self.write(text, to: &output)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        element.write(to: &output)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        Self.write(member.name, to: &output)
        output.append(UInt8(ascii: ":"))
        member.value.write(to: &output)
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  private static func write(_ text: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        output.append(UInt8(ascii: "\\"))
        output.append(byte)
      case 0x0A: output.append(contentsOf: "\\n".utf8)
      case 0..<0x20, 0x7F:
        output.append(contentsOf: "\\u00".utf8)
        output.append(contentsOf: Hexadecimal.encode(CollectionOfOne(byte)).utf8)
      default: output.append(byte)
      }
    }
    output.append(UInt8(ascii: "\""))
  }
}
