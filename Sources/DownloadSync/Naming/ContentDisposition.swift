internal import DownloadStore
internal import Foundation

extension ResponseHead {
  /// The file name in `Content-Disposition`, sanitized to a single safe path component; `nil` if
  /// the server sends no usable name.
  package var suggestedFilename: String? {
    guard let field = self["Content-Disposition"],
      let name = ContentDisposition.filename(in: field)
    else { return nil }
    let safe = SafeFilename.sanitized(name)
    // Nothing is left of a name such as `..`. The name that the URL suggests is better than the
    // fallback.
    return safe == SafeFilename.fallback && name != SafeFilename.fallback ? nil : safe
  }
}

/// A lenient parser for `Content-Disposition` (RFC 6266).
///
/// The result is the server's text and may be a path. Sanitize it before use.
enum ContentDisposition {
  /// Returns the file name in a field: `filename*` if it can be decoded (RFC 8187), otherwise
  /// `filename`.
  ///
  /// The value of `filename` may be a quoted string or a token, even one with blanks. Encoded words
  /// (RFC 2047) and percent-encoded UTF-8 in it are decoded, as browsers do. A name in any other
  /// encoding is no name.
  static func filename(in field: String) -> String? {
    var plain: String?
    for (name, value) in parameters(of: field) {
      switch name.lowercased() {
      case "filename*":
        if !hasReplacedBytes(value), let name = extended(value), !name.isEmpty { return name }
      case "filename":
        if plain == nil, !value.isEmpty { plain = value }
      default: break
      }
    }
    guard let plain else { return nil }
    if let name = encodedWords(in: plain) { return name }
    // In a charset that is not decoded, or in raw bytes of one, which transports have replaced with
    // U+FFFD. A browser would guess the charset; the URL has the name in one that is known.
    guard !hasUnknownCharset(plain), !hasReplacedBytes(plain) else { return nil }
    return percentDecoded(plain) ?? plain
  }

  /// Whether a value begins with an encoded word of a charset that is not decoded.
  private static func hasUnknownCharset(_ value: String) -> Bool {
    let parts = value.split(separator: " ").first?
      .split(separator: "?", omittingEmptySubsequences: false)
    guard let parts, parts.count == 5, parts[0] == "=", parts[4] == "=" else { return false }
    return encodedBytes(parts).map { text($0, charset: parts[1]) == nil } ?? false
  }

  /// Whether a value has contained bytes that are not UTF-8.
  private static func hasReplacedBytes(_ value: String) -> Bool {
    value.unicodeScalars.contains("\u{FFFD}")
  }

  // MARK: Parameters

  /// Returns the parameters in order, without other text such as the disposition type.
  private static func parameters(of field: String) -> [(name: String, value: String)] {
    var result: [(name: String, value: String)] = []
    // Parses scalars, not characters: a quotation mark and a following combining mark are one
    // character.
    var rest = field.unicodeScalars[...]
    while !rest.isEmpty {
      let name = rest.prefix { $0 != ";" && $0 != "=" }
      rest = rest.dropFirst(name.count)
      if rest.first == "=" {
        rest = rest.dropFirst().drop(while: isBlank)
        let value = rest.first == "\"" ? quoted(&rest) : token(&rest)
        result.append((trimmed(name), value))
      }
      rest = rest.drop { $0 != ";" }.dropFirst()
    }
    return result
  }

  /// Consumes a quoted string; without a closing quotation mark it extends to the end of the field.
  private static func quoted(_ rest: inout Substring.UnicodeScalarView) -> String {
    var value = String.UnicodeScalarView()
    rest.removeFirst()
    while let scalar = rest.popFirst(), scalar != "\"" {
      if scalar != "\\" {
        value.append(scalar)
      } else if let escaped = rest.popFirst() {
        value.append(escaped)
      }
    }
    return String(value)
  }

  private static func token(_ rest: inout Substring.UnicodeScalarView) -> String {
    let value = rest.prefix { $0 != ";" }
    rest = rest.dropFirst(value.count)
    return trimmed(value)
  }

  private static func trimmed(_ scalars: Substring.UnicodeScalarView) -> String {
    var scalars = scalars.drop(while: isBlank)
    while let last = scalars.last, isBlank(last) { scalars.removeLast() }
    return String(scalars)
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || scalar == "\t"
  }

  // MARK: Encodings

  /// Decodes an extended value such as `UTF-8'en'a%20b`; returns `nil` if it is invalid.
  private static func extended(_ value: String) -> String? {
    let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = percentDecodedBytes(parts[2]) else { return nil }
    return text(bytes, charset: parts[0])
  }

  /// Decodes encoded words such as `=?UTF-8?B?4oKs?= =?UTF-8?Q?=E2=82=AC?=`; returns `nil` if the
  /// value contains anything else.
  private static func encodedWords(in value: String) -> String? {
    guard value.hasPrefix("=?") else { return nil }
    var result = ""
    for word in value.split(separator: " ") {
      let parts = word.split(separator: "?", omittingEmptySubsequences: false)
      guard parts.count == 5, parts[0] == "=", parts[4] == "=" else { return nil }
      guard let bytes = encodedBytes(parts), let text = text(bytes, charset: parts[1]) else {
        return nil
      }
      result += text
    }
    return result
  }

  /// Returns the bytes of an encoded word, which is split at its question marks.
  private static func encodedBytes(_ parts: [Substring]) -> [UInt8]? {
    switch parts[2].lowercased() {
    case "b": Data(base64Encoded: String(parts[3])).map { [UInt8]($0) }
    case "q": decodedBytes(parts[3].replacing("_", with: " "), escape: UInt8(ascii: "="))
    default: nil
    }
  }

  private static func percentDecoded(_ value: String) -> String? {
    percentDecodedBytes(value[...]).flatMap { String(validating: $0, as: UTF8.self) }
  }

  private static func percentDecodedBytes(_ text: Substring) -> [UInt8]? {
    decodedBytes(text, escape: UInt8(ascii: "%"))
  }

  /// Returns the bytes of a text in which an escape byte and two hexadecimal digits encode one
  /// byte; `nil` if an escape is invalid.
  private static func decodedBytes(_ text: Substring, escape: UInt8) -> [UInt8]? {
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == escape else {
        result.append(byte)
        continue
      }
      guard let high = rest.popFirst().flatMap(hexadecimal),
        let low = rest.popFirst().flatMap(hexadecimal)
      else { return nil }
      result.append(high << 4 | low)
    }
    return result
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private static func text(_ bytes: [UInt8], charset: Substring) -> String? {
    switch charset.lowercased() {
    case "utf-8", "us-ascii": String(validating: bytes, as: UTF8.self)
    // Each byte is the scalar with the same value.
    case "iso-8859-1": String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    default: nil
    }
  }
}
