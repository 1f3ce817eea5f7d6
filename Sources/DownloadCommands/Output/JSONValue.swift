/// A JSON value and its text.
///
/// Members are written in their given order. Control characters and characters that change the
/// direction of text are escaped; a parser reads the same string.
indirect enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  /// One member of an object.
  struct Member: Sendable, Equatable {
    var key: String
    var value: JSONValue
  }

  /// The value or null.
  init(_ text: String?) { self = text.map(JSONValue.string) ?? .null }

  /// The value or null.
  init(_ number: Int64?) { self = number.map(JSONValue.integer) ?? .null }

  /// The value or null.
  init(_ number: Double?) { self = number.map(JSONValue.number) ?? .null }

  /// The JSON text on one line.
  var text: String {
    var text = ""
    write(to: &text, indent: nil)
    return text
  }

  /// The JSON text with one member per line.
  var prettyText: String {
    var text = ""
    write(to: &text, indent: 0)
    return text
  }

  private func write(to text: inout String, indent: Int?) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let value): text += String(value)
    case .number(let value): text += value.isFinite ? String(value) : "null"
    case .string(let value): Self.write(value, to: &text)
    case .array(let values):
      Self.write(values, to: &text, indent: indent, brackets: ("[", "]")) { value, text, indent in
        value.write(to: &text, indent: indent)
      }
    case .object(let members):
      Self.write(members, to: &text, indent: indent, brackets: ("{", "}")) { member, text, indent in
        Self.write(member.key, to: &text)
        text += indent == nil ? ":" : ": "
        member.value.write(to: &text, indent: indent)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element],
    to text: inout String,
    indent: Int?,
    brackets: (String, String),
    _ element: (Element, inout String, Int?) -> Void
  ) {
    text += brackets.0
    let inner = indent.map { $0 + 2 }
    var isFirst = true
    for value in elements {
      if !isFirst { text += "," }
      isFirst = false
      if let inner { text += "\n" + String(repeating: " ", count: inner) }
      element(value, &text, inner)
    }
    if let indent, !elements.isEmpty { text += "\n" + String(repeating: " ", count: indent) }
    text += brackets.1
  }

  private static func write(_ string: String, to text: inout String) {
    text += "\""
    if string.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C && $0 < 0x7F }) {
      text += string
    } else {
      for scalar in string.unicodeScalars { write(scalar, to: &text) }
    }
    text += "\""
  }

  private static func write(_ scalar: Unicode.Scalar, to text: inout String) {
    switch scalar {
    case "\"": text += "\\\""
    case "\\": text += "\\\\"
    case "\n": text += "\\n"
    case "\r": text += "\\r"
    case "\t": text += "\\t"
    case _ where TerminalText.isHarmful(scalar):
      let digits = String(scalar.value, radix: 16)
      text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: text.unicodeScalars.append(scalar)
    }
  }
}

extension JSONValue: ExpressibleByDictionaryLiteral {
  /// An object.
  init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member(key: $0.0, value: $0.1) })
  }
}
