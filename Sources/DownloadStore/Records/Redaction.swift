internal import Foundation

/// Hides secrets in what people see.
public enum Redaction {
  /// What stands where a secret was.
  public static let mark = "•••"

  /// Words that a query parameter's name holds when its value lets its reader in.
  private static let secretWords = [
    "signature", "sig", "token", "secret", "password", "passwd", "credential", "apikey",
    "api_key", "api-key", "access_key", "accesskey", "auth", "session", "jwt", "policy", "hmac",
    "pwd", "hdnea", "hdnts", "hdntl",
  ]

  /// Header fields whose value is a secret.
  private static let secretFields = [
    "authorization", "cookie", "proxy-authorization", "set-cookie",
  ]

  /// The URL with user info and values that look like signatures or tokens hidden.
  public static func url(_ url: String) -> String {
    var text = url
    if let scheme = text.range(of: "://") {
      let rest = text.unicodeScalars[scheme.upperBound...]
      let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
      if let at = rest[..<authorityEnd].lastIndex(of: "@") {
        text.replaceSubrange(scheme.upperBound..<at, with: mark)
      }
    }
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

  /// A parameter with its value hidden from the first secret on.
  ///
  /// Some write `;` or a second `?` where `&` belongs; in a value both are no end.
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

  /// The field with a secret value hidden.
  public static func field(_ field: HeaderField) -> HeaderField {
    let isHidden = secretFields.contains(field.name.lowercased()) || isSecret(field.name)
    return isHidden ? HeaderField(name: field.name, value: mark) : field
  }

  private static func isSecret(_ name: String) -> Bool {
    let name = (name.removingPercentEncoding ?? name).lowercased()
    if name.drop(while: { $0 == "?" || $0 == ";" }) == "key" { return true }
    return secretWords.contains { word in
      // Short words must stand alone: `design` holds `sig`.
      word.count > 4 ? name.contains(word) : parts(of: name).contains(word)
    }
  }

  private static func parts(of name: String) -> [String] {
    name.split { !$0.isLetter }.map(String.init)
  }
}
