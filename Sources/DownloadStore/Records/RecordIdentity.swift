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

  /// Refuses what is not an absolute `http` or `https` URL with a host.
  ///
  /// - Throws: ``DownloadStoreError`` with `invalidURL`.
  public static func validate(_ url: String) throws(DownloadStoreError) {
    func refuse(_ why: String) -> DownloadStoreError {
      DownloadStoreError(.invalidURL, "'\(Redaction.url(url))' cannot be downloaded: \(why)")
    }
    guard !url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }), let parsed = URL(string: url),
      let scheme = parsed.scheme?.lowercased()
    else { throw refuse("it is not a URL") }
    guard scheme == "http" || scheme == "https" else {
      throw refuse("only http and https are")
    }
    guard let host = parsed.host(), !host.isEmpty else { throw refuse("it names no host") }
    guard url.utf8.count <= longestURL else {
      throw refuse("it is longer than \(longestURL) bytes")
    }
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
