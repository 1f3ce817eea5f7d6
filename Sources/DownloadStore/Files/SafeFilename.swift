internal import Foundation

/// Converts any text to a safe file name.
package enum SafeFilename {
  /// The maximum length of a name on common file systems, in bytes.
  package static let longest = 255
  /// The name used if nothing else is left.
  package static let fallback = "download"

  /// The file name from a URL: the last component of its path, percent-decoded.
  ///
  /// What ``Redaction`` hides in the URL does not become part of the name: a parameter such as
  /// `;jsessionid=…` is omitted.
  package static func suggested(byURL url: String) -> String {
    if let component = PlainURL(url)?.lastPathComponent {
      // A plain component is printable ASCII without separators.
      let name = String(decoding: component, as: UTF8.self)
      let shown = Redaction.fileName(ofComponent: name)
      return shown == name && isSafe(component) ? name : sanitized(shown)
    }
    let path = (try? RequestURL(url))?.path ?? ""
    let last = path.split(separator: "/").last.map(String.init) ?? ""
    return suggested(byComponent: last)
  }

  /// The name from a component of the path of a URL, percent-decoded, without what ``Redaction`` hides.
  static func suggested(byComponent component: String) -> String {
    let name = component.removingPercentEncoding ?? component
    return sanitized(Redaction.fileName(ofComponent: name))
  }

  /// Returns the last component of `name` without control characters, at most `limit` bytes long
  /// with its extension kept.
  ///
  /// The result is never `.`, `..`, hidden, or the name of a partial file.
  ///
  /// Idempotent. Names that are reserved only on Windows are allowed.
  package static func sanitized(_ name: String, limit: Int = longest) -> String {
    // Compares scalars: a slash with a combining mark is one Character, but a slash to the file
    // system.
    let last =
      name.unicodeScalars.split { $0 == "/" || $0 == "\\" }.last ?? Substring().unicodeScalars
    let visible = String(String.UnicodeScalarView(last.lazy.filter { !isInvisible($0) }))
    let cut = trimmed(shortened(trimmed(visible), to: limit))
    return cut.isEmpty ? fallback : cut
  }

  /// Whether a name of printable ASCII without separators is its own safe name.
  private static func isSafe(_ name: [UInt8]) -> Bool {
    guard let first = name.first, let last = name.last else { return false }
    let suffix = PartialName.suffix.utf8
    return first != UInt8(ascii: ".") && last != UInt8(ascii: ".") && name.count <= longest
      && !name.suffix(suffix.count).elementsEqual(suffix)
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Removes surrounding blanks and dots, and the suffix of partial files.
  ///
  /// A name of dots would be a folder, and a name that begins with a dot would be hidden.
  private static func trimmed(_ name: String) -> String {
    let suffix = PartialName.suffix.unicodeScalars
    var rest = name.unicodeScalars[...]
    while true {
      if let first = rest.first, first == " " || first == "." {
        rest.removeFirst()
      } else if let last = rest.last, last == " " || last == "." {
        rest.removeLast()
      } else if rest.suffix(suffix.count).elementsEqual(suffix) {
        rest.removeLast(suffix.count)
      } else {
        return String(rest)
      }
    }
  }

  /// Truncates the name to `limit` bytes at a character boundary, keeping its extension.
  package static func shortened(_ name: String, to limit: Int) -> String {
    guard name.utf8.count > limit else { return name }
    let (stem, ext) = split(name)
    guard ext.utf8.count < limit else { return prefix(of: name, bytes: limit) }
    return prefix(of: stem, bytes: limit - ext.utf8.count) + ext
  }

  /// Inserts or replaces a number before the extension: `a (2).zip`.
  package static func numbered(_ name: String, _ number: Int) -> String {
    let (stem, ext) = split(name)
    let suffix = " (\(number))\(ext)"
    return prefix(of: unnumbered(stem), bytes: longest - suffix.utf8.count) + suffix
  }

  /// Removes a number that ``numbered(_:_:)`` has inserted.
  static func withoutNumber(_ name: String) -> String {
    let (stem, ext) = split(name)
    return unnumbered(stem) + ext
  }

  /// The stem without a number in parentheses; four digits count as a year.
  private static func unnumbered(_ stem: String) -> String {
    guard stem.hasSuffix(")"), let open = stem.lastIndex(of: "(") else { return stem }
    let digits = stem[stem.index(after: open)...].dropLast()
    let before = stem[..<open]
    let isNumber =
      (1...3).contains(digits.utf8.count)
      && digits.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return isNumber && before.hasSuffix(" ") && before.count > 1 ? String(before.dropLast()) : stem
  }

  /// The longest prefix of at most `limit` bytes that ends at a character boundary, or at a scalar
  /// boundary if the first character is longer.
  static func prefix(of name: String, bytes limit: Int) -> String {
    var result = ""
    for character in name {
      guard result.utf8.count + character.utf8.count <= limit else { break }
      result.append(character)
    }
    guard result.isEmpty else { return result }
    for scalar in name.unicodeScalars {
      guard result.utf8.count + UTF8.width(scalar) <= limit else { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }

  /// Splits a name into its stem and its extension with the dot.
  ///
  /// An extension has at most 16 bytes and no blanks.
  static func split(_ name: String) -> (stem: String, ext: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex,
      name[dot...].utf8.count <= 16, !name[dot...].contains(" ")
    else { return (name, "") }
    // `x.tar.gz` keeps both extensions.
    let stem = name[..<dot]
    if stem.hasSuffix(".tar"), stem.count > 4 {
      return (String(stem.dropLast(4)), ".tar" + name[dot...])
    }
    return (String(stem), String(name[dot...]))
  }
}
