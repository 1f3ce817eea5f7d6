internal import Crypto
internal import SystemInterface

/// The ids of records and stores, and the validation of URLs.
package enum RecordIdentity {
  private static let digits = Array("0123456789abcdef".utf8)

  /// The id of the record for a URL: the first 16 hexadecimal digits of the SHA-256 of its text.
  package static func id(forURL url: String) -> String {
    var hasher = SHA256()
    url.withUTF8Span { hasher.update($0) }
    var text: [UInt8] = []
    text.reserveCapacity(16)
    for byte in hasher.finalize().prefix(8) {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Whether a text has the form of an id: 16 hexadecimal digits in lower case.
  package static func isID(_ text: some StringProtocol) -> Bool {
    text.utf8.count == 16
      && text.utf8.allSatisfy { byte in
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
          || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
      }
  }

  /// The id for a URL whose own id and those of earlier rounds are taken.
  ///
  /// A URL never contains a line end, so this is not the id of another URL.
  static func id(forURL url: String, round: Int) -> String {
    id(forURL: "\(url)\n\(round)")
  }

  /// The id of the store with a seed: the first 16 hexadecimal digits of the SHA-256 of `store`, a
  /// space and the seed in decimal.
  static func id(ofStoreWithSeed seed: UInt64) -> String {
    id(forURL: "store \(seed)")
  }

  /// Throws unless the URL is an absolute `http` or `https` URL with a host.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidURL`.
  package static func validate(_ url: String) throws(RecordStoreError) {
    func refuse(_ why: String) -> RecordStoreError {
      RecordStoreError(.invalidURL, "'\(Redaction.argument(url))' cannot be downloaded: \(why)")
    }
    guard url.utf8.count <= longestURL else {
      throw RecordStoreError(.invalidURL, "a URL is longer than \(longestURL) bytes")
    }
    if PlainURL(url) != nil { return }
    let isPlain = !url.unicodeScalars.contains {
      $0 == " " || $0.properties.generalCategory == .control
    }
    guard isPlain else {
      throw refuse("a URL contains no blanks or control characters; write %20 for a blank")
    }
    do throws(RequestURL.Problem) {
      _ = try RequestURL(url)
    } catch {
      let why =
        switch error {
        case .noURL: "it does not begin with https:// or http://"
        case .otherScheme: "only http and https are"
        case .noHost where hasZone(url):
          "zones of IPv6 addresses, such as %eth0, are not supported"
        case .noHost: "it names no host"
        case .invalidPort: "a port is a number from 1 to 65535"
        }
      let meant = MisspeltURL.corrected(url).map { "; did you mean '\(Redaction.url($0))'?" }
      throw refuse(why + (meant ?? ""))
    }
  }

  /// Whether a URL has an IPv6 address with a zone (RFC 6874).
  private static func hasZone(_ url: String) -> Bool {
    guard let start = url.firstIndex(of: "["), let end = url[start...].firstIndex(of: "]") else {
      return false
    }
    return url[start..<end].contains("%")
  }

  /// Throws unless a text can be the key of a download.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidKey`.
  package static func validate(key: String) throws(RecordStoreError) {
    guard !key.isEmpty, key.utf8.count <= RecordLimits.keyLength, !key.hasControlCharacters else {
      throw RecordStoreError(
        .invalidKey,
        "a key has 1 to \(RecordLimits.keyLength) bytes, and no control characters"
      )
    }
  }

  /// The maximum length of a URL: longer than servers accept.
  private static let longestURL = 65_536

  /// The origin of a URL: scheme, host and port; the text itself if it cannot be requested.
  ///
  /// The origin of each waiting download is compared at launch, so the usual form needs no parser.
  package static func origin(of url: String) -> String {
    PlainURL.origin(of: url) ?? (try? RequestURL(url))?.origin ?? url
  }
}
