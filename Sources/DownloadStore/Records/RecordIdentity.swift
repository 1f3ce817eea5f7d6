internal import Crypto

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What identifies a download, and which URLs can be one.
public enum RecordIdentity {
  /// The id of the record for a URL: the first 16 hexadecimal digits of the SHA-256 of its text.
  public static func id(forURL url: String) -> String {
    SHA256.hash(data: Data(url.utf8)).prefix(8).map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }
    .joined()
  }

  /// The id for a URL whose own one, and those of the rounds before, are taken.
  ///
  /// No URL has a line end in it, so that this is the id of no other one.
  static func id(forURL url: String, round: Int) -> String {
    id(forURL: "\(url)\n\(round)")
  }

  /// The id of the store with that seed: the first 16 hexadecimal digits of the SHA-256 of `store`,
  /// a space and the seed in decimal digits.
  static func id(ofStoreWithSeed seed: UInt64) -> String {
    id(forURL: "store \(seed)")
  }

  /// Refuses what is not an absolute `http` or `https` URL with a host.
  ///
  /// - Throws: ``DownloadStoreError`` with `invalidURL`.
  public static func validate(_ url: String) throws(DownloadStoreError) {
    func refuse(_ why: String) -> DownloadStoreError {
      DownloadStoreError(.invalidURL, "'\(Redaction.url(url))' cannot be downloaded: \(why)")
    }
    guard url.utf8.count <= longestURL else {
      throw DownloadStoreError(.invalidURL, "a URL is longer than \(longestURL) bytes")
    }
    let isPlain = !url.unicodeScalars.contains {
      $0 == " " || $0.properties.generalCategory == .control
    }
    guard isPlain, let parsed = URL(string: url), let scheme = parsed.scheme?.lowercased() else {
      throw refuse("it is not a URL")
    }
    guard scheme == "http" || scheme == "https" else {
      throw refuse("only http and https are")
    }
    guard let host = parsed.host(), !host.isEmpty else { throw refuse("it names no host") }
    guard hasPort(url) else { throw refuse("there is no such port") }
  }

  /// Whether the port is one, if there is any.
  ///
  /// A number that is too large for an integer is none at all to those who parse URLs.
  private static func hasPort(_ url: String) -> Bool {
    guard let scheme = url.firstRange(of: "://") else { return true }
    let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    guard let end = host.lastIndex(where: { $0 == ":" || $0 == "]" }), host[end] == ":" else {
      return true
    }
    let port = host[host.index(after: end)...]
    return port.isEmpty || UInt16(port) != nil
  }

  /// Longer than any server takes, and short enough for every table.
  private static let longestURL = 65_536

  /// The part of a URL that requests to one server have in common: scheme, host and port.
  public static func origin(of url: String) -> String {
    guard let parsed = URL(string: url) else { return url }
    let scheme = parsed.scheme?.lowercased() ?? ""
    let port = parsed.port ?? (scheme == "https" ? 443 : 80)
    return "\(scheme)://\((parsed.host() ?? "").lowercased()):\(port)"
  }
}
