/// URLs whose beginning is mistyped, such as `htp://h/x`, `http:/h/x` or `https//h/x`.
package enum MisspeltURL {
  /// Returns the URL that was probably meant; `nil` if the text is none, or is far from each.
  package static func corrected(_ text: String) -> String? {
    let word = text.prefix { $0.isASCII && $0.isLetter }
    let separator = text[word.endIndex...].prefix { ":;/\\".contains($0) }
    guard separator.contains(where: { $0 == ":" || $0 == ";" }) || separator.count > 1 else {
      return nil
    }
    let typed = Array(word.lowercased().utf8)
    let schemes = typed.contains(UInt8(ascii: "s")) ? ["https", "http"] : ["http", "https"]
    guard
      let scheme = schemes.first(where: { Array($0.utf8) == typed })
        ?? schemes.first(where: { isNear(typed, Array($0.utf8)) })
    else { return nil }
    let url = "\(scheme)://\(text[separator.endIndex...])"
    guard url != text, (try? RequestURL(url)) != nil else { return nil }
    return url
  }

  /// Whether one letter more, one less, another one, or two in another order make the words equal.
  private static func isNear(_ word: [UInt8], _ other: [UInt8]) -> Bool {
    let common = zip(word, other).prefix { $0 == $1 }.count
    let (left, right) = (word[common...], other[common...])
    let isSwapped =
      left.count > 1 && right.count > 1 && left.prefix(2).elementsEqual(right.prefix(2).reversed())
      && left.dropFirst(2).elementsEqual(right.dropFirst(2))
    return isSwapped || left.dropFirst().elementsEqual(right.dropFirst())
      || left.dropFirst().elementsEqual(right) || left.elementsEqual(right.dropFirst())
  }
}
