/// Finds secrets in the segments of a path and in the values of parameters.
enum SecretText {
  /// Returns the index at which the first secret of a text begins; `nil` if the text has none.
  ///
  /// Secrets are the value after a name that stands for a secret, as in `token=…`, `"token":…` and
  /// `{token:…}`, and a word in the form of a token. Takes time proportional to the length.
  ///
  /// - Parameters:
  ///   - text: The text, without percent-encoding.
  ///   - isFileName: Whether the text names a file. Then a value with a dot is no secret, and a
  ///     word is not one only because it looks random.
  ///   - allowsRandom: Whether a word that looks random may be public, such as a version.
  /// - Returns: The index.
  static func start(
    in text: ArraySlice<UInt8>,
    isFileName: Bool = false,
    allowsRandom: Bool = false
  ) -> Int? {
    let lastDot = text.lastIndex(of: dot) ?? text.startIndex
    var word = text.startIndex
    /// The last word in quotation marks, until another byte than a blank follows.
    var quoted = text.startIndex..<text.startIndex
    for index in text.indices where !isOfWord(text[index]) {
      let range = word..<index
      if isToken(text[range], allowsRandom: isFileName || allowsRandom) { return word }
      let value = text[(index + 1)...]
      switch text[index] {
      case UInt8(ascii: "="):
        let isPublic = value.isEmpty || (isFileName && index < lastDot)
        if !range.isEmpty, !isPublic, SecretName.matches(text[range]) { return index + 1 }
        quoted = index..<index
      case UInt8(ascii: ":"):
        let isKey = word > text.startIndex && "{,".utf8.contains(text[word - 1])
        let name = !quoted.isEmpty ? quoted : isKey ? range : index..<index
        if !name.isEmpty, !value.isEmpty, SecretName.matches(text[name]) { return index + 1 }
        quoted = index..<index
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"):
        if !range.isEmpty { quoted = range }
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        if !range.isEmpty { quoted = index..<index }
      default: quoted = index..<index
      }
      word = index + 1
    }
    return isToken(text[word...], allowsRandom: isFileName || allowsRandom) ? word : nil
  }

  private static let dot = UInt8(ascii: ".")

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), dot:
      true
    default: false
    }
  }

  /// The length of the shortest word that may be a token.
  static let shortestToken = 24

  /// The length of a part of a random word that a compound of words rarely has.
  private static let longPart = 16

  private static let prefixes = [
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "sk_live_",
  ].map { Array($0.utf8) }

  /// Whether a word is a JSON Web Token, begins as the tokens of well-known services do, or, unless
  /// it `allowsRandom` words, looks random.
  ///
  /// Hexadecimal digits are those of a digest: paths contain these more often than tokens.
  private static func isToken(_ word: ArraySlice<UInt8>, allowsRandom: Bool) -> Bool {
    guard word.count >= shortestToken else { return false }
    if prefixes.contains(where: { word.starts(with: $0) }) { return true }
    if word.contains(dot) {
      return word.starts(with: "eyJ".utf8) && word.split(separator: dot).count > 2
    }
    guard !allowsRandom, RandomText.matches(word) else { return false }
    return word.split { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
      .contains { part in
        part.count >= longPart && part.contains { (0x30...0x39).contains($0) }
          && part.contains { (0x41...0x5A).contains($0) }
          && part.contains { (0x61...0x7A).contains($0) }
      }
  }
}
