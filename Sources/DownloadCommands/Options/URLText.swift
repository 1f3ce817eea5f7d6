internal import CommandLineSupport
internal import DownloadStore
internal import Foundation

/// URLs as users type them.
enum URLText {
  /// Returns the URL that a text without a scheme stands for, such as `example.com/x`; `nil` if the
  /// text has a scheme, or does not begin with a host.
  static func completed(_ text: String) -> String? {
    guard !text.contains("://") else { return nil }
    let authority = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
    let labels = (parts.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, parts.count < 2 || UInt16(parts[1]) != nil,
      labels.count > 1 || labels == ["localhost"],
      labels.allSatisfy({ label in
        !label.isEmpty && label.allSatisfy { $0.isLetter || $0.isNumber || $0 == "-" }
      })
    else { return nil }
    return "https://\(text)"
  }

  /// Returns the part of a URL that curl would expand to several URLs, such as `[1-3]` or `{a,b}`;
  /// `nil` if there is none.
  static func glob(in text: String) -> String? {
    let path = text.firstRange(of: "://").map { text[$0.upperBound...] } ?? text[...]
    // The brackets of an IPv6 address contain colons.
    let match = path.firstMatch(
      of: /\[[0-9A-Za-z]+-[0-9A-Za-z]+(:[0-9]+)?\]|\{[^{},]*(,[^{},]*)+\}/
    )
    return match.map { String($0.output.0) }
  }

  /// Returns the URL to download, and says if it was completed or has a part that curl would expand.
  ///
  /// - Throws: ``CommandFailure`` with `usage` for the path of a file.
  static func typed(_ text: String) throws -> String {
    if let part = glob(in: text), Worker.current?.isRestarted != true {
      Output.current.say(
        "\(TerminalText.safe(part)) is not expanded, but requested as it is written: outside quotes "
          + "the shell expands {1..3} and {a,b}"
      )
    }
    guard text.contains("://") || !FileManager.default.fileExists(atPath: text) else {
      throw CommandFailure(
        .usage,
        "'\(text)' is a file: to download the URLs in it, use --input-file '\(text)'"
      )
    }
    guard let url = completed(text) else { return text }
    if Worker.current?.isRestarted != true {
      Output.current.say("\(Redaction.argument(text)) is taken as \(Redaction.url(url))")
    }
    return url
  }
}
