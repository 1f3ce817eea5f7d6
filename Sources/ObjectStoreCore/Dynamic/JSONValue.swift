/// A JSON value (RFC 8259) and its text.
///
/// JSON lines and the command-line tool use this type instead of `JSONSerialization` or
/// `JSONEncoder`, because they need what Foundation does not offer:
///
/// - A number keeps its digits. As an `NSNumber` or `Double`, a `UInt64`, a `Decimal` or a `Double`
///   could be rounded before the type of its field is known.
/// - The members of an object keep their order. A store is exported to the same bytes every time,
///   and the fields of a record appear in the documented order.
/// - The caller chooses which characters are escaped: text for a terminal must not contain control
///   characters, and exported text has one form only.
/// - ``JSONParser`` rejects duplicate names, bounds the depth, and reports the offset of an error.
package enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  /// A number, by its digits.
  case number(String)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// A member of an object.
  package struct Member: Sendable, Hashable {
    package var name: String
    package var value: JSONValue

    package init(name: String, value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// A whole number.
  package static func integer(_ value: Int64) -> JSONValue { .number(String(value)) }

  /// The shortest number that is read as the same value; null for infinities and NaN.
  package static func double(_ value: Double) -> JSONValue {
    value.isFinite ? .number("\(value)") : .null
  }

  /// The string or null.
  package init(_ value: String?) { self = value.map(JSONValue.string) ?? .null }

  /// The number or null.
  package init(_ value: Int64?) { self = value.map(JSONValue.integer) ?? .null }

  /// The number or null.
  package init(_ value: Double?) { self = value.map(JSONValue.double) ?? .null }

  /// The member with that name, or `nil`, also when this is not an object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    // Names are compared by bytes: canonically equivalent strings are different names.
    return members.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// Creates an object whose members have the order of the literal.
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member(name: $0.0, value: $0.1) })
  }
}

// MARK: Writing

extension JSONValue {
  /// Appends the JSON text.
  ///
  /// - Parameters:
  ///   - output: Receives the text in UTF-8.
  ///   - indent: The indentation of the value in columns: each element is on a line of its own.
  ///     `nil` writes the compact form, without whitespace or line breaks.
  ///   - escape: Returns the escape sequence of a character, or `nil` to write it unchanged. It
  ///     must leave printable ASCII characters other than `"` and `\` unchanged.
  package func write(
    to output: inout [UInt8],
    indent: Int? = nil,
    escape: (Unicode.Scalar) -> String? = Self.escape
  ) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .number(let digits): output.append(contentsOf: digits.utf8)
    case .string(let string): Self.write(string, to: &output, escape)
    case .array(let elements):
      output.append(UInt8(ascii: "["))
      Self.write(elements, to: &output, indent) { element, indent, output in
        element.write(to: &output, indent: indent, escape: escape)
      }
      output.append(UInt8(ascii: "]"))
    case .object(let members):
      output.append(UInt8(ascii: "{"))
      Self.write(members, to: &output, indent) { member, indent, output in
        Self.write(member.name, to: &output, escape)
        output.append(contentsOf: (indent == nil ? ":" : ": ").utf8)
        member.value.write(to: &output, indent: indent, escape: escape)
      }
      output.append(UInt8(ascii: "}"))
    }
  }

  /// Escapes the characters that JSON requires to be escaped, and DEL.
  package static func escape(_ scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "\"": "\\\""
    case "\\": "\\\\"
    case "\n": "\\n"
    case "\0"..<" ", "\u{7F}": escapeByCode(scalar)
    default: nil
    }
  }

  /// Escapes a character of the Basic Multilingual Plane by its code.
  package static func escapeByCode(_ scalar: Unicode.Scalar) -> String {
    let code = UInt16(scalar.value)
    return "\\u" + Hexadecimal.encode([UInt8(code >> 8), UInt8(code & 0xFF)])
  }

  private static func write<Element>(
    _ elements: [Element],
    to output: inout [UInt8],
    _ indent: Int?,
    _ write: (Element, Int?, inout [UInt8]) -> Void
  ) {
    let inner = indent.map { $0 + 2 }
    for (index, element) in elements.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      if let inner { breakLine(indent: inner, in: &output) }
      write(element, inner, &output)
    }
    if let indent, !elements.isEmpty { breakLine(indent: indent, in: &output) }
  }

  private static func breakLine(indent: Int, in output: inout [UInt8]) {
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indent))
  }

  private static func write(
    _ string: String,
    to output: inout [UInt8],
    _ escape: (Unicode.Scalar) -> String?
  ) {
    output.append(UInt8(ascii: "\""))
    defer { output.append(UInt8(ascii: "\"")) }
    let isPlain = string.utf8.allSatisfy { byte in
      (0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
    guard !isPlain else { return output.append(contentsOf: string.utf8) }
    for scalar in string.unicodeScalars {
      if let sequence = escape(scalar) {
        output.append(contentsOf: sequence.utf8)
      } else {
        output.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
      }
    }
  }
}
