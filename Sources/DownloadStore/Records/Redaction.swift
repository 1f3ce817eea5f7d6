/// Redacts secrets for display.
///
/// All functions take time proportional to the length of the text.
package enum Redaction {
  /// The replacement of a secret.
  package static let mark = "•••"

  private static let markBytes = Array(mark.utf8)

  /// The number of times that a URL in a parameter of a URL is decoded.
  private static let deepestNesting = 3

  /// Returns the URL with user info and values that look like signatures or tokens redacted.
  ///
  /// These are the values of parameters whose names stand for a secret, in the query, the fragment
  /// and the path (`;jsessionid=`), values that look random, and values and segments of the path
  /// that contain a token or the value of such a name (``SecretText``).
  package static func url(_ url: String) -> String {
    guard mayContainSecret(url) else { return url }
    return String(decoding: redacted(Array(url.utf8), nesting: 0), as: UTF8.self)
  }

  /// Returns the scheme and the host of the URL of a webhook, whose path is often its only credential.
  package static func webhook(_ url: String) -> String {
    let text = Array(argument(url).utf8)
    guard let host = endOfSeparator(in: text, from: 0) else { return mark }
    let marks: [UInt8] = [slash, UInt8(ascii: "\\"), question, hash]
    guard let end = text[host...].firstIndex(where: marks.contains) else {
      return String(decoding: text, as: UTF8.self)
    }
    return String(decoding: text[..<end], as: UTF8.self) + "/…"
  }

  /// Returns a name, such as a key of a download, with its secrets redacted if it is a URL, or has
  /// a login or parameters as a URL has them, as in `user:password@host/path?token=…`.
  package static func name(_ name: String) -> String {
    guard !beginsAsURL(name) else { return url(name) }
    let bytes = Array(name.utf8)
    let text = hidingLogin(bytes)
    guard hasParameters(text) || text != bytes || name.hasPrefix("//") || name.contains("://")
    else {
      return name
    }
    return String(decoding: redacted(text, nesting: 0, isName: true), as: UTF8.self)
  }

  /// Whether a text has parameters as a URL has them.
  private static func hasParameters(_ text: [UInt8]) -> Bool {
    text.contains(equals)
      && text.contains { $0 == question || $0 == hash || $0 == ampersand || $0 == semicolon }
  }

  /// Returns a name without the login at its start.
  ///
  /// A digest or a version may also follow an `@`: `ubuntu:24.04@sha256:…`, `npm:chalk@5.3.0`.
  private static func hidingLogin(_ name: [UInt8]) -> [UInt8] {
    let authority = name.prefix { $0 != slash && $0 != question && $0 != hash }
    guard let mark = authority.lastIndex(of: at),
      let end = authority[..<mark].firstIndex(of: colon), end + 1 < mark
    else { return name }
    let rest = name[(mark + 1)...]
    let isNumber = rest.allSatisfy { $0 == dot || (0x30...0x39).contains($0) }
    // With three dots it is an address.
    let isVersion = !rest.isEmpty && isNumber && rest.count(where: { $0 == dot }) < 3
    return isVersion || beginsAsDigest(rest) ? name : markBytes + name[mark...]
  }

  /// Whether a text begins as a digest, such as `sha256:…`, which is public.
  private static func beginsAsDigest(_ text: ArraySlice<UInt8>) -> Bool {
    guard let end = text.firstIndex(of: colon) else { return false }
    return Digest.Algorithm(named: String(decoding: text[..<end], as: UTF8.self)) != nil
  }

  /// Whether a text begins with a scheme and `://`.
  private static func beginsAsURL(_ text: String) -> Bool {
    let rest = text.unicodeScalars.drop(while: isOfScheme)
    return rest.startIndex > text.startIndex && rest.starts(with: "://".unicodeScalars)
  }

  /// Whether a URL has a byte that precedes a secret or may encode one, or a long segment.
  private static func mayContainSecret(_ url: String) -> Bool {
    let marks: [UInt8] = [at, question, hash, semicolon, equals, percent]
    var length = 0
    for byte in url.utf8 {
      length = byte == slash ? 0 : length + 1
      if length >= SecretText.shortestToken || marks.contains(byte) { return true }
    }
    return false
  }

  // Parses bytes: a mark and a following combining mark are one character.

  private static let at = UInt8(ascii: "@")
  private static let question = UInt8(ascii: "?")
  private static let hash = UInt8(ascii: "#")
  private static let semicolon = UInt8(ascii: ";")
  private static let slash = UInt8(ascii: "/")
  private static let ampersand = UInt8(ascii: "&")
  private static let equals = UInt8(ascii: "=")
  private static let percent = UInt8(ascii: "%")
  private static let colon = UInt8(ascii: ":")
  private static let dot = UInt8(ascii: ".")

  private static func redacted(_ url: [UInt8], nesting: Int, isName: Bool = false) -> [UInt8] {
    let text = hidingUserInfo(url)
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var start =
      text.firstIndex { $0 == question || $0 == hash || (isName && $0 == ampersand) }
      ?? text.endIndex
    if start < text.endIndex, text[start] == ampersand {
      // Without a question mark, the first parameter begins with the name or after a slash.
      start = text[..<start].lastIndex(of: slash).map { $0 + 1 } ?? text.startIndex
    }
    appendPath(text[..<start], to: &result)
    var isFragment = false
    while start < text.endIndex {
      let end =
        text[start...].firstIndex { $0 == ampersand || ($0 == hash && !isFragment) }
        ?? text.endIndex
      appendParameter(text[start..<end], to: &result, nesting: nesting)
      guard end < text.endIndex else { break }
      if text[end] == hash { isFragment = true }
      result.append(text[end])
      start = end + 1
    }
    return result
  }

  /// Redacts the user info of a URL and of URLs in its parameters.
  private static func hidingUserInfo(_ url: [UInt8]) -> [UInt8] {
    guard url.contains(at) else { return url }
    var result: [UInt8] = []
    result.reserveCapacity(url.count)
    /// The first byte that is not in the result yet.
    var start = 0
    // A Location may omit the scheme (RFC 3986, 4.2).
    var next = url.starts(with: [slash, slash]) ? 2 : endOfSeparator(in: url, from: 0)
    while let authority = next {
      let end =
        url[authority...].firstIndex { $0 == slash || $0 == question || $0 == hash }
        ?? url.endIndex
      if let mark = url[authority..<end].lastIndex(of: at) {
        result += url[start..<authority]
        result += markBytes
        start = mark
      }
      next = endOfSeparator(in: url, from: authority)
    }
    return result + url[start...]
  }

  /// Returns the index after the next `://`.
  private static func endOfSeparator(in url: [UInt8], from start: Int) -> Int? {
    var index = start
    while index + 2 < url.count {
      if url[index] == colon, url[index + 1] == slash, url[index + 2] == slash {
        return index + 3
      }
      index += 1
    }
    return nil
  }

  /// Appends a path with the secrets of its segments redacted.
  private static func appendPath(_ path: ArraySlice<UInt8>, to result: inout [UInt8]) {
    var rest = path
    if let first = rest.firstIndex(of: slash), rest[first...].starts(with: [slash, slash]),
      first == rest.startIndex || rest[first - 1] == colon
    {
      let end = rest[(first + 2)...].firstIndex(of: slash) ?? rest.endIndex
      result += rest[..<end]
      rest = rest[end...]
    }
    let lastName = rest.lastIndex { $0 != slash } ?? rest.endIndex
    while !rest.isEmpty {
      let end = rest.firstIndex(of: slash) ?? rest.endIndex
      appendSegment(rest[..<end], isFileName: rest[..<end].indices.contains(lastName), to: &result)
      guard end < rest.endIndex else { return }
      result.append(slash)
      rest = rest[(end + 1)...]
    }
  }

  private static func appendSegment(
    _ segment: ArraySlice<UInt8>,
    isFileName: Bool,
    to result: inout [UInt8]
  ) {
    for part in parts(ofSegment: segment) {
      if let start = secretStart(in: part, isFileName: isFileName) {
        result += part[..<start] + markBytes
      } else {
        result += part
      }
    }
  }

  /// The text before the first semicolon, and the parameters (RFC 3986, 3.3), each with its
  /// semicolon.
  private static func parts(ofSegment segment: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var parts: [ArraySlice<UInt8>] = []
    var rest = segment
    while !rest.isEmpty {
      let end = rest.dropFirst().firstIndex(of: semicolon) ?? rest.endIndex
      parts.append(rest[..<end])
      rest = rest[end...]
    }
    return parts
  }

  /// Returns where the secret in a part of a segment begins; `nil` if it contains none.
  private static func secretStart(in part: ArraySlice<UInt8>, isFileName: Bool) -> Int? {
    if part.first == semicolon, let mark = part.firstIndex(of: equals),
      SecretName.matches(part[..<mark])
    {
      return mark + 1
    }
    if let start = SecretText.start(in: part, isFileName: isFileName) { return start }
    let plain = decoded(part)
    guard plain.count < part.count else { return nil }
    let hasSecret =
      SecretText.start(in: plain[...], isFileName: isFileName) != nil
      || hidingUserInfo(plain) != plain
    return hasSecret ? part.startIndex : nil
  }

  /// Decodes percent-encoding, which may be nested: a redirect encodes a URL again.
  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var decoded = Array(text)
    for _ in 0..<deepestNesting where decoded.contains(percent) {
      decoded = SecretName.decoded(decoded[...])
    }
    return decoded
  }

  /// Returns a component of a path, without percent-encoding, without the parts that ``url(_:)``
  /// redacts; empty if these are all.
  static func fileName(ofComponent component: String) -> String {
    guard
      component.utf8.contains(where: { $0 == semicolon || $0 == equals })
        || component.utf8.count >= SecretText.shortestToken
    else { return component }
    let parts = parts(ofSegment: Array(component.utf8)[...])
    let kept = parts.filter { secretStart(in: $0, isFileName: true) == nil }
    guard kept.count < parts.count else { return component }
    // Without the name, its parameters name nothing.
    guard kept.first?.first != semicolon else { return "" }
    return String(decoding: kept.joined(), as: UTF8.self)
  }

  /// Appends a parameter, which is redacted from its first secret on.
  ///
  /// Some URLs use `;` or a second `?` instead of `&`; within a value neither ends it.
  private static func appendParameter(
    _ parameter: ArraySlice<UInt8>,
    to result: inout [UInt8],
    nesting: Int
  ) {
    var rest = parameter
    while !rest.isEmpty {
      let name = rest.firstIndex { $0 != semicolon && $0 != question } ?? rest.endIndex
      let end = rest[name...].firstIndex { $0 == semicolon || $0 == question } ?? rest.endIndex
      let mark = rest[name..<end].firstIndex(of: equals)
      let value = mark.map { $0 + 1 } ?? name
      let isSecret =
        mark.map { SecretName.matches(rest[name..<$0]) } ?? false
        || hidesValue(rest[value..<end], named: rest[name..<value].dropLast(), nesting)
      if isSecret {
        result += rest[..<value]
        result += markBytes
        return
      }
      result += rest[..<end]
      rest = rest[end...]
    }
  }

  /// Whether a value looks random, or contains a secret, as an encoded URL or JSON may.
  private static func hidesValue(
    _ value: ArraySlice<UInt8>,
    named name: ArraySlice<UInt8>,
    _ nesting: Int
  ) -> Bool {
    let decoded = decoded(value)
    let isDigest = SecretName.isOfDigest(name)
    if RandomText.matches(decoded), !isDigest { return true }
    if SecretText.start(in: decoded[...], allowsRandom: isDigest) != nil { return true }
    guard nesting < deepestNesting, decoded.count < value.count,
      decoded.contains(where: { $0 == question || $0 == at })
    else { return false }
    return redacted(decoded, nesting: nesting + 1) != decoded
  }

  // MARK: Texts

  /// Returns the text with the secrets of all URLs in it redacted.
  ///
  /// A URL is the text around `://`, up to white space, a quotation mark or an angle bracket.
  ///
  /// A text that begins as a URL and has no white space is also one URL as a whole, so that one with
  /// these characters shows no secrets.
  package static func text(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    let isURL =
      beginsAsURL(text) && !text.unicodeScalars.contains { $0.properties.isWhitespace }
    let whole = isURL ? url(text) : text
    var rest = whole.unicodeScalars[...]
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

  // MARK: Arguments

  /// Returns what a message may repeat of a text in the place of a URL, an id or an option's value,
  /// which may be anything that the user typed or a line contains.
  ///
  /// - A URL is redacted; one that is malformed up to its last `@`, and from its first blank on.
  /// - Of other texts, all before an `@` is redacted, parameters as those of a URL, the value of a header
  ///   field or of a name that stands for a secret, and a text that looks random.
  package static func argument(_ text: String) -> String {
    let bytes = Array(text.utf8)
    if let authority = endOfSeparator(in: bytes, from: 0) {
      let blank = bytes.firstIndex { $0 <= 0x20 || $0 == 0x7F }
      var shown = bytes[..<(blank ?? bytes.endIndex)]
      if authority <= shown.endIndex, blank != nil || !hasPlainPort(shown[authority...]),
        let mark = shown.lastIndex(of: at), mark > authority
      {
        // A password with a slash ends the authority for a parser.
        shown = shown[..<authority] + markBytes + shown[mark...]
      } else if let blank, blank >= authority, bytes[blank...].contains(at) {
        // The blank may be in the password.
        shown = bytes[..<authority]
      }
      return shortened(redacted(Array(shown), nesting: 0) + (blank == nil ? [] : markBytes))
    }
    if beginsAsDigest(bytes[...]) { return shortened(bytes[...]) }
    let name = bytes.firstIndex { $0 == equals || $0 == colon || $0 <= 0x20 }
    if let mark = bytes.lastIndex(of: at) {
      return shortened(redacted(markBytes + bytes[mark...], nesting: 0, isName: true))
    }
    if let name {
      let value = bytes[(name + 1)...]
      // `Authorization: x`, or `Bearer x`.
      let isField = bytes[name] == colon && value.first.map { $0 <= 0x20 } ?? false
      let isScheme = bytes[name] <= 0x20 && schemes.contains(bytes[..<name].map { $0 | 0x20 })
      let isRandom = RandomText.matches(value) && !SecretName.isOfDigest(bytes[..<name])
      if isField || isScheme || isRandom || SecretName.matches(bytes[..<name]) {
        return shortened(bytes[...name] + markBytes)
      }
    }
    // A URL without a scheme, or with a misspelt one.
    if hasParameters(bytes) { return shortened(redacted(bytes, nesting: 0, isName: true)) }
    return RandomText.matches(bytes) ? mark : shortened(bytes[...])
  }

  /// Returns what a message may repeat of a reference of a server that is not a valid URL.
  ///
  /// Without a regular authority, the user info may be anywhere before the last `@`.
  package static func reference(_ text: String) -> String {
    let bytes = Array(text.utf8)
    let authority = endOfSeparator(in: bytes, from: 0)
    if let authority, authority < bytes.count, bytes[authority] != slash { return argument(text) }
    let start = authority ?? 0
    let mark = bytes[start...].lastIndex(of: at)
    let shown = mark.map { bytes[..<start] + markBytes + bytes[$0...] } ?? bytes
    return shortened(redacted(Array(shown), nesting: 0))
  }

  /// Returns what a message may repeat of the value of a response field, in which a server can send
  /// anything.
  package static func fieldValue(_ value: String) -> String {
    let shown = value.contains("@") ? reference(value) : argument(value)
    return shown.utf8.count <= longestFieldValue ? shown : "\(shown.prefix(longestFieldValue))…"
  }

  /// The number of characters of a response field that a message repeats.
  private static let longestFieldValue = 100

  /// Whether the value of an option or a parameter of this name is a secret.
  package static func isSecretName(_ name: String) -> Bool {
    SecretName.matches(Array(name.utf8)[...])
  }

  /// Whether the authority at the start of a text has a port of digits, or none.
  private static func hasPlainPort(_ text: ArraySlice<UInt8>) -> Bool {
    let authority = text.prefix { $0 != slash && $0 != question && $0 != hash }
    let host = authority[(authority.lastIndex(of: at) ?? authority.startIndex)...]
    guard let end = host.lastIndex(of: colon), !host[end...].contains(0x5D) else { return true }
    return host[(end + 1)...].allSatisfy { (0x30...0x39).contains($0) }
  }

  /// The authentication schemes that precede credentials in a header field, in lower case.
  private static let schemes = Set(
    ["basic", "bearer", "digest", "negotiate", "oauth", "token", "apikey"].map { Array($0.utf8) }
  )

  /// The number of bytes of an argument that a message repeats.
  private static let longestArgument = 500

  private static func shortened(_ bytes: some Collection<UInt8>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return text.utf8.count <= longestArgument ? text : "\(text.prefix(longestArgument))…"
  }

  // MARK: Header fields

  /// Returns the field with a secret value, or the secrets of a URL in its value, redacted.
  ///
  /// A value is shown only if ``HarmlessField`` lists the field's name.
  package static func field(_ field: HeaderField) -> HeaderField {
    let isHarmless = HarmlessField.contains(field.name)
    return HeaderField(name: field.name, value: isHarmless ? text(field.value) : mark)
  }

  /// Whether ``field(_:)`` redacts a part of the field.
  package static func hides(_ field: HeaderField) -> Bool {
    !HarmlessField.contains(field.name) || text(field.value) != field.value
  }
}
