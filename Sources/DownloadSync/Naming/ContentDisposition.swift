extension ResponseHead {
  /// The file name in the `Content-Disposition` field, as the server wrote it (RFC 6266, 4.3); `nil`
  /// when there is none that can be read.
  ///
  /// The extended form goes before the plain one.
  var suggestedFilename: String? {
    guard let field = self["Content-Disposition"] else { return nil }
    var reader = ParameterReader(field)
    var plain: String?
    while let (name, value) = reader.next() {
      if name == "filename*", let value = Self.extendedValue(value), !value.isEmpty { return value }
      if name == "filename", plain == nil, !value.isEmpty { plain = value }
    }
    return plain
  }

  /// The text of `UTF-8'en'%e2%82%ac` (RFC 8187, 3.2).
  private static func extendedValue(_ value: String) -> String? {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = percentDecoded(parts[2]) else { return nil }
    switch parts[0].lowercased() {
    case "utf-8": return String(validating: bytes, as: UTF8.self)
    case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    default: return nil
    }
  }

  private static func percentDecoded(_ text: Substring) -> [UInt8]? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = Substring(rest.prefix(2))
      guard digits.utf8.count == 2, !digits.hasPrefix("+"), !digits.hasPrefix("-"),
        let decoded = UInt8(digits, radix: 16)
      else { return nil }
      bytes.append(decoded)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}

/// Reads the parameters behind the first part of a field: `attachment; name=value; name="value"`.
///
/// What cannot be read ends them.
private struct ParameterReader {
  private var rest: Substring.UnicodeScalarView

  init(_ field: String) {
    let scalars = field.unicodeScalars
    rest = Substring(scalars[(scalars.firstIndex(of: ";") ?? scalars.endIndex)...]).unicodeScalars
  }

  /// The next parameter, its name in lower case.
  mutating func next() -> (name: String, value: String)? {
    guard rest.popFirst() == ";" else { return nil }
    let name = take { $0 != "=" && $0 != ";" }
    // An empty parameter says nothing.
    guard rest.first == "=" else { return rest.isEmpty ? nil : (name, "") }
    rest.removeFirst()
    _ = take { $0 == " " || $0 == "\t" }
    let value = rest.first == "\"" ? quoted() : take { $0 != ";" }
    guard let value else { return nil }
    _ = take { $0 != ";" }
    return (name.lowercased(), value)
  }

  /// A quoted string without its quotes (RFC 9110, 5.6.4); `nil` when it has no end.
  private mutating func quoted() -> String? {
    rest.removeFirst()
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\"": return String(text)
      case "\\":
        guard let escaped = rest.popFirst() else { return nil }
        text.append(escaped)
      default: text.append(scalar)
      }
    }
    return nil
  }

  /// What comes as long as a condition holds, without blanks around it.
  private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> String {
    let taken = rest.prefix(while: condition)
    rest = rest[taken.endIndex...]
    let isBlank = { (scalar: Unicode.Scalar) in scalar == " " || scalar == "\t" }
    var text = taken.drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return String(text)
  }
}
