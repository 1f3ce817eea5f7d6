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

  /// Returns the URL to download, and says if it was completed.
  ///
  /// - Throws: ``CommandFailure`` with `usage` for the path of a file.
  static func typed(_ text: String) throws -> String {
    guard let url = completed(text) else { return text }
    guard !FileManager.default.fileExists(atPath: text) else {
      throw CommandFailure(
        .usage,
        "'\(text)' is a file: to download the URLs in it, use --input-file '\(text)'"
      )
    }
    if Worker.current?.isRestarted != true {
      Output.current.say("\(Redaction.argument(text)) is taken as \(Redaction.url(url))")
    }
    return url
  }
}
