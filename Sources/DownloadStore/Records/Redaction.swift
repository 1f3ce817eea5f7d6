internal import Foundation

/// Hides secrets in what people see.
public enum Redaction {
  /// What stands where a secret was.
  public static let mark = "•••"

  /// Words that a query parameter's name holds when its value lets its reader in.
  private static let secretWords = [
    "signature", "sig", "token", "secret", "password", "passwd", "credential", "apikey",
    "api_key", "api-key", "access_key", "accesskey", "auth", "session", "jwt", "policy", "hmac",
  ]

  /// Header fields whose value is a secret.
  private static let secretFields = [
    "authorization", "cookie", "proxy-authorization", "set-cookie",
  ]

  /// The URL with user info and values that look like signatures or tokens hidden.
  public static func url(_ url: String) -> String {
    var text = url
    if let scheme = text.range(of: "://") {
      let rest = text[scheme.upperBound...]
      let authorityEnd = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
      if let at = rest[..<authorityEnd].lastIndex(of: "@") {
        text.replaceSubrange(scheme.upperBound..<at, with: mark)
      }
    }
    guard let question = text.firstIndex(of: "?") else { return text }
    let query = text[text.index(after: question)...]
    let parameters = query.split(separator: "&", omittingEmptySubsequences: false).map(redacted)
    return text[...question] + parameters.joined(separator: "&")
  }

  private static func redacted(_ parameter: Substring) -> String {
    guard let equals = parameter.firstIndex(of: "="), isSecret(parameter[..<equals]) else {
      return String(parameter)
    }
    return parameter[...equals] + mark
  }

  /// The field with a secret value hidden.
  public static func field(_ field: HeaderField) -> HeaderField {
    let isHidden = secretFields.contains(field.name.lowercased()) || isSecret(field.name[...])
    return isHidden ? HeaderField(name: field.name, value: mark) : field
  }

  private static func isSecret(_ name: Substring) -> Bool {
    let name = name.lowercased()
    return secretWords.contains { word in
      // Short words must stand alone: `design` holds `sig`.
      word.count > 4 ? name.contains(word) : parts(of: name).contains(word)
    }
  }

  private static func parts(of name: String) -> [String] {
    name.split { !$0.isLetter }.map(String.init)
  }
}
