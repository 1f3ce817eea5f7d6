internal import Foundation

/// Redacts secrets for display.
package enum Redaction {
  /// The replacement of a secret.
  package static let mark = "•••"

  /// Words in the names of query parameters whose values grant access.
  private static let secretWords = [
    "signature", "sig", "token", "secret", "password", "passwd", "credential", "apikey",
    "api_key", "api-key", "access_key", "accesskey", "auth", "session", "jwt", "policy", "hmac",
    "pwd", "hdnea", "hdnts", "hdntl", "authorization", "authentication", "cookie", "access-key",
    "passphrase", "bearer",
  ]

  /// Returns the URL with user info and values that look like signatures or tokens redacted.
  package static func url(_ url: String) -> String {
    // Only these precede a secret.
    let marks: [UInt8] = [UInt8(ascii: "@"), UInt8(ascii: "?"), UInt8(ascii: "#")]
    guard url.utf8.contains(where: { marks.contains($0) }) else { return url }
    let text = hidingUserInfo(url)
    let scalars = text.unicodeScalars
    guard let start = scalars.firstIndex(where: { $0 == "?" || $0 == "#" }) else { return text }
    let parts = scalars[start...].split(
      separator: "#",
      maxSplits: 1,
      omittingEmptySubsequences: false
    )
    let hidden = parts.map { part in
      part.split(separator: "&", omittingEmptySubsequences: false)
        .map { redacted(Substring($0)) }
        .joined(separator: "&")
    }
    return text[..<start] + hidden.joined(separator: "#")
  }

  /// Redacts the user info of a URL and of URLs in its parameters.
  private static func hidingUserInfo(_ url: String) -> String {
    guard url.utf8.contains(0x40) else { return url }
    var result = String.UnicodeScalarView()
    var rest = url.unicodeScalars[...]
    // A Location may omit the scheme (RFC 3986, 4.2).
    var next =
      rest.starts(with: "//".unicodeScalars)
      ? rest.startIndex..<rest.index(rest.startIndex, offsetBy: 2)
      : rest.firstRange(of: "://".unicodeScalars)
    while let separator = next {
      result += rest[..<separator.upperBound]
      rest = rest[separator.upperBound...]
      let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
      if let at = authority.lastIndex(of: "@") {
        result += mark.unicodeScalars
        rest = rest[at...]
      }
      next = rest.firstRange(of: "://".unicodeScalars)
    }
    return String(result + rest)
  }

  /// Redacts a parameter from its first secret on.
  ///
  /// Some URLs use `;` or a second `?` instead of `&`; within a value neither ends it.
  private static func redacted(_ parameter: Substring) -> String {
    var result = ""
    var rest = parameter.unicodeScalars
    while !rest.isEmpty {
      let piece =
        rest.prefix { $0 == ";" || $0 == "?" }
        + rest.drop { $0 == ";" || $0 == "?" }.prefix { $0 != ";" && $0 != "?" }
      if let equals = piece.firstIndex(of: "="), isSecret(String(piece[..<equals])) {
        return result + String(piece[...equals]) + mark
      }
      result += String(piece)
      rest = rest.dropFirst(piece.count)
    }
    return result
  }

  /// Returns the text with the secrets of all URLs in it redacted.
  ///
  /// A URL is the text around `://`, up to white space, a quotation mark or an angle bracket.
  package static func text(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let separator = rest.firstRange(of: "://".unicodeScalars) {
      var start = separator.lowerBound
      while start > rest.startIndex, isOfScheme(rest[rest.index(before: start)]) {
        start = rest.index(before: start)
      }
      var end = rest[separator.upperBound...].firstIndex(where: endsURL) ?? rest.endIndex
      // Trailing punctuation belongs to the sentence.
      while end > separator.upperBound, isPunctuation(rest[rest.index(before: end)]) {
        end = rest.index(before: end)
      }
      result.append(contentsOf: rest[..<start])
      result.append(contentsOf: url(String(rest[start..<end])).unicodeScalars)
      rest = rest[end...]
    }
    result.append(contentsOf: rest)
    return String(result)
  }

  private static func isOfScheme(_ scalar: Unicode.Scalar) -> Bool {
    scalar.isASCII
      && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "+"
        || scalar == "-" || scalar == ".")
  }

  private static func endsURL(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || scalar.value < 0x20 || scalar == "\"" || scalar == "<"
      || scalar == ">"
  }

  private static func isPunctuation(_ scalar: Unicode.Scalar) -> Bool {
    "'.,;:!)]}".unicodeScalars.contains(scalar)
  }

  /// Returns the field with a secret value, or the secrets of a URL in its value, redacted.
  package static func field(_ field: HeaderField) -> HeaderField {
    HeaderField(name: field.name, value: isSecretField(field.name) ? mark : text(field.value))
  }

  /// Whether ``field(_:)`` redacts a part of the field.
  static func hides(_ field: HeaderField) -> Bool {
    isSecretField(field.name) || text(field.value) != field.value
  }

  private static func isSecretField(_ name: String) -> Bool {
    // `X-Functions-Key` is a secret; a parameter such as `sort_key` is not.
    isSecret(name) || parts(of: name.lowercased()).last == "key"
  }

  private static func isSecret(_ name: String) -> Bool {
    let name = (name.removingPercentEncoding ?? name).lowercased()
    if name.drop(while: { $0 == "?" || $0 == ";" }) == "key" { return true }
    return secretWords.contains { word in
      // Short words must match as a whole: `design` contains `sig`.
      word.count > 4 ? name.contains(word) : parts(of: name).contains(word)
    }
  }

  private static func parts(of name: String) -> [String] {
    name.split { !$0.isLetter }.map(String.init)
  }
}
