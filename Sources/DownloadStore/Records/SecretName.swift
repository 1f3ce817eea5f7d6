/// The names of parameters whose values grant access.
enum SecretName {
  /// Words that occur in no other names.
  private static let anywhere = bytes([
    "signature", "token", "secret", "password", "passwd", "passphrase", "passcode", "credential",
    "apikey", "api_key", "api-key", "access_key", "accesskey", "access-key", "session", "sessid",
    "policy", "authorization", "authentication", "oauth", "cookie", "bearer", "ticket", "md5",
    "assertion", "hdnea", "hdnts", "hdntl",
  ])

  /// Words that must match as a whole: `design` contains `sig`.
  private static let whole = Set(
    bytes([
      "sig", "sign", "auth", "jwt", "hmac", "pwd", "pw", "pass", "psw", "sid", "sess", "otp",
      "totp", "pin", "pat", "tok", "hash", "nonce", "csrf", "xsrf", "saml", "sas", "cred", "creds",
      "verify", "dpop", "wsse", "gda", "sk", "ssid", "license", "licence", "serial",
    ])
  )

  /// Words that make a key or a code public: a sort key, a country code, a monkey.
  private static let harmless = Set(
    bytes([
      "sort", "order", "group", "partition", "primary", "foreign", "public", "cache", "search",
      "filter", "lookup", "index", "row", "column", "map", "country", "language", "lang", "zip",
      "postal", "area", "currency", "product", "error", "status", "region", "color", "colour",
      "source", "response", "exit", "hot", "mon", "tur", "don", "whis", "hoc", "joc",
    ])
  )

  /// Names of values that look random and identify a version of a file.
  private static let digests = Set(
    bytes(["commit", "sha", "ref", "rev", "revision", "digest", "checksum", "blob", "tree"])
  )

  private static func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }

  /// Whether the value of a parameter is a secret.
  ///
  /// Leading separators and percent-encoding in the name are ignored.
  static func matches(_ name: ArraySlice<UInt8>) -> Bool {
    let name = decoded(name)
    let lower = name.map(lowercased)
    if anywhere.contains(where: { contains(lower, $0) }) { return true }
    let parts = parts(of: name)
    if parts.contains(where: whole.contains) { return true }
    guard let last = parts.last else { return false }
    let key = Array("key".utf8)
    if last == key || last == Array("code".utf8) {
      return parts.dropLast().last.map { !harmless.contains($0) } ?? true
    }
    return last.count > key.count && last.suffix(key.count).elementsEqual(key)
      && !harmless.contains(Array(last.dropLast(key.count)))
  }

  /// Whether a name stands for a digest or a version.
  static func isOfDigest(_ name: ArraySlice<UInt8>) -> Bool {
    parts(of: decoded(name)).contains(where: digests.contains)
  }

  /// The words of a name in lower case, without other characters: `x`, `amz` and `date` for
  /// `X-Amz-Date`, `sort` and `key` for `sortKey`.
  private static func parts(of name: [UInt8]) -> [[UInt8]] {
    var parts: [[UInt8]] = []
    var part: [UInt8] = []
    var previous: UInt8 = 0
    for byte in name {
      let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
      let isBegin = isUpper && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(previous)
      if isBegin || !isLetter(byte), !part.isEmpty {
        parts.append(part)
        part = []
      }
      if isLetter(byte) { part.append(lowercased(byte)) }
      previous = byte
    }
    return part.isEmpty ? parts : parts + [part]
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func contains(_ text: [UInt8], _ word: [UInt8]) -> Bool {
    guard text.count >= word.count else { return false }
    return (0...(text.count - word.count)).contains { start in
      text[start] == word[0] && text[start...].starts(with: word)
    }
  }

  /// Returns the bytes with valid percent-encodings decoded.
  static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8] {
    guard text.contains(UInt8(ascii: "%")) else { return Array(text) }
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] == UInt8(ascii: "%"), text.endIndex - index > 2,
        let high = Self.digit(text[index + 1]), let low = Self.digit(text[index + 2])
      {
        result.append(high << 4 | low)
        index += 3
      } else {
        result.append(text[index])
        index += 1
      }
    }
    return result
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// Recognizes values that look random, such as tokens and signatures, whatever their names.
enum RandomText {
  /// Whether a text is 32 or more hexadecimal digits, a JSON Web Token, or 24 or more characters of
  /// Base64 with digits and letters in both cases.
  ///
  /// A text with a dot is a file name or a number, unless it is a JSON Web Token.
  static func matches(_ text: some Collection<UInt8>) -> Bool {
    guard text.count >= 24 else { return false }
    if text.starts(with: "eyJ".utf8) { return true }
    var (digits, upper, lower, hexadecimal) = (0, 0, 0, 0)
    for byte in text {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        digits += 1
        hexadecimal += 1
      case UInt8(ascii: "A")...UInt8(ascii: "Z"):
        upper += 1
        if byte <= UInt8(ascii: "F") { hexadecimal += 1 }
      case UInt8(ascii: "a")...UInt8(ascii: "z"):
        lower += 1
        if byte <= UInt8(ascii: "f") { hexadecimal += 1 }
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="), UInt8(ascii: "-"),
        UInt8(ascii: "_"), UInt8(ascii: "~"):
        break
      default: return false
      }
    }
    guard digits > 0, upper + lower > 0 else { return false }
    return (hexadecimal == text.count && hexadecimal >= 32) || (upper > 0 && lower > 0)
  }
}
