internal import Foundation

/// Reduces any text to a name that is one harmless component of a path.
public enum SafeFilename {
  /// The longest name that common file systems take, in bytes.
  public static let longest = 255
  /// What a file is called when nothing of its name is left.
  public static let fallback = "download"

  /// The name that a URL suggests: the last part of its path, percent-decoded.
  public static func suggested(byURL url: String) -> String {
    let path = URL(string: url)?.path(percentEncoded: true) ?? ""
    let last = path.split(separator: "/").last.map(String.init) ?? ""
    return sanitized(last.removingPercentEncoding ?? last)
  }

  /// The last component of `name`, without control characters, never `.`, `..` or a name that is
  /// ours, and at most `limit` bytes long with its extension kept.
  public static func sanitized(_ name: String, limit: Int = longest) -> String {
    let last = name.split { $0 == "/" || $0 == "\\" }.last.map(String.init) ?? ""
    var scalars = String.UnicodeScalarView()
    for scalar in last.unicodeScalars
    where scalar.properties.generalCategory != .control
      && scalar.properties.generalCategory != .format
    {
      scalars.append(scalar)
    }
    var result = String(scalars)
    while let first = result.first, first == " " { result.removeFirst() }
    while let last = result.last, last == " " || last == "." { result.removeLast() }
    if result.hasSuffix(FileLayout.partialSuffix) {
      result.removeLast(FileLayout.partialSuffix.count)
    }
    // A name of dots alone would be a folder, one that begins with a dot would be hidden.
    while result.first == "." { result.removeFirst() }
    return result.isEmpty ? fallback : shortened(result, to: limit)
  }

  /// The name cut to `limit` bytes, on a character's boundary and before its extension.
  public static func shortened(_ name: String, to limit: Int) -> String {
    guard name.utf8.count > limit else { return name }
    let (stem, ext) = split(name)
    // An extension of more than 16 bytes is none.
    let kept = ext.utf8.count <= 16 ? ext : ""
    var short = kept.isEmpty ? name : stem
    while short.utf8.count + kept.utf8.count > limit, !short.isEmpty { short.removeLast() }
    return short + kept
  }

  /// The name with a number before its extension: `a (2).zip`.
  public static func numbered(_ name: String, _ number: Int) -> String {
    let (stem, ext) = split(name)
    let suffix = " (\(number))\(ext)"
    return shortened(stem, to: longest - suffix.utf8.count) + suffix
  }

  /// The name before its extension, and the extension with its dot.
  private static func split(_ name: String) -> (stem: String, ext: String) {
    guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return (name, "") }
    // `x.tar.gz` keeps both.
    let stem = name[..<dot]
    if stem.hasSuffix(".tar"), stem.count > 4 {
      return (String(stem.dropLast(4)), ".tar" + name[dot...])
    }
    return (String(stem), String(name[dot...]))
  }
}
