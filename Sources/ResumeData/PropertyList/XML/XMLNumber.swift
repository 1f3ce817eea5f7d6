/// Numbers of XML property lists.
enum XMLNumber {
  /// The maximum length of a number's text; a real number has fewer than 800 digits.
  private static let longest = 1_024

  /// Parses a decimal integer, or a hexadecimal one after `0x`; `nil` if invalid or too large.
  static func integer(_ text: String) -> Int128? {
    let text = trimmed(text)
    let digits = text.drop { $0 == "+" || $0 == "-" }
    guard text.utf8.count <= longest, text.utf8.count - digits.utf8.count <= 1 else { return nil }
    let sign = text.hasPrefix("-") ? "-" : ""
    guard digits.hasPrefix("0x") || digits.hasPrefix("0X") else {
      return digits.isEmpty ? nil : Int128(sign + digits)
    }
    return Int128(sign + digits.dropFirst(2), radix: 16)
  }

  /// Parses a decimal real number, `nan` or `infinity`; `nil` if invalid.
  static func real(_ text: String) -> Double? {
    let text = trimmed(text)
    guard text.utf8.count <= longest else { return nil }
    switch text.lowercased() {
    case "nan": return .nan
    case "+infinity", "infinity", "+inf", "inf": return .infinity
    case "-infinity", "-inf": return -.infinity
    default:
      // `Double` accepts more than property lists do, such as hexadecimal digits.
      guard text.utf8.allSatisfy({ "0123456789+-.eE".utf8.contains($0) }) else { return nil }
      return Double(text)
    }
  }

  /// The shortest text that parses to the same number.
  static func text(_ value: Double) -> String {
    if value.isNaN { return "nan" }
    if value.isInfinite { return value < 0 ? "-infinity" : "+infinity" }
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  private static func trimmed(_ text: String) -> Substring {
    let isSpace = { (scalar: Unicode.Scalar) in scalar.isASCII && UInt8(scalar.value).isXMLSpace }
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isSpace($0) }),
      let last = scalars.lastIndex(where: { !isSpace($0) })
    else { return "" }
    return Substring(scalars[first...last])
  }
}
