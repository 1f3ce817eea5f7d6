internal import DownloadStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A cookie file in the Netscape format, as curl, wget and browser extensions write it.
///
/// A line has seven fields, separated by tabs: the domain, whether subdomains are included, the
/// path, whether the cookie is for https only, the time of expiry in seconds since 1970 (0 for the
/// end of the session), the name and the value. The domain of an HttpOnly cookie is preceded by
/// `#HttpOnly_`; other lines that begin with `#` are comments.
///
/// As in the files of other programs, the time may have a fraction (Firefox 142 and later) or be
/// empty (Python), and the path may be missing, which means `/` (curl).
struct CookieFile: Sendable, Equatable {
  /// One cookie.
  struct Cookie: Sendable, Equatable {
    /// The domain in lower case and in ASCII, without a leading and a final dot.
    var domain: String
    var includesSubdomains: Bool
    var path: String
    var isSecure: Bool
    /// The time of expiry in seconds since 1970; `nil` for the end of the session.
    var expiry: Int64?
    var name: String
    var value: String
  }

  /// The cookies, in the order of the file.
  ///
  /// A later cookie replaces an earlier one with the same name, domain and path.
  private(set) var cookies: [Cookie] = []
  /// The lines that are neither cookies nor comments, from 1.
  private(set) var invalidLines: [Int] = []

  /// Parses a file.
  init(_ text: String) {
    let text = text.hasPrefix("\u{FEFF}") ? text.dropFirst() : text[...]
    var positions: [[String]: Int] = [:]
    let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
    for (index, line) in lines.enumerated() {
      let isHTTPOnly = line.hasPrefix(Self.httpOnly)
      guard !line.trimmingBlanks.isEmpty, isHTTPOnly || !line.hasPrefix("#") else { continue }
      guard let cookie = Cookie(isHTTPOnly ? line.dropFirst(Self.httpOnly.count) : line) else {
        invalidLines.append(index + 1)
        continue
      }
      let key = [cookie.name, cookie.domain, cookie.path]
      if let position = positions[key] {
        cookies[position] = cookie
      } else {
        positions[key] = cookies.count
        cookies.append(cookie)
      }
    }
  }

  private static let httpOnly = "#HttpOnly_"

  /// Returns the value of the field `Cookie` for a request, with the cookies of longer paths first
  /// (RFC 6265, 5.4); `nil` if no cookie matches.
  ///
  /// Cookies match the request as it is sent: its host is in ASCII, and its path has no dot segments.
  func header(for url: String, at time: Date) -> String? {
    guard let request = try? RequestURL(url) else { return nil }
    let host = RequestURL.comparableHost(request.host)
    let isSecure = request.scheme == .https
    let now = Int64(time.timeIntervalSince1970)
    let matching = cookies.filter { cookie in
      cookie.matches(host: host) && cookie.matches(path: request.path)
        && (isSecure || !cookie.isSecure) && (cookie.expiry.map { $0 > now } ?? true)
    }
    guard !matching.isEmpty else { return nil }
    return matching.enumerated()
      .sorted { left, right in
        let (one, other) = (left.element.path.utf8.count, right.element.path.utf8.count)
        return one == other ? left.offset < right.offset : one > other
      }
      .map { "\($0.element.name)=\($0.element.value)" }
      .joined(separator: "; ")
  }
}

extension CookieFile.Cookie {
  /// Parses a line; `nil` if it is not a cookie.
  fileprivate init?(_ line: Substring) {
    var fields = line.split(separator: "\t", omittingEmptySubsequences: false)
    // A line without its last tab has an empty value.
    if fields.count > 2, Self.flag(fields[2]) != nil { fields.insert("/", at: 2) }
    if fields.count == 6 { fields.append("") }
    guard fields.count == 7, let subdomains = Self.flag(fields[1]),
      let secure = Self.flag(fields[3]), let expiry = Self.seconds(fields[4]),
      fields[2].hasPrefix("/"), !fields[5].isEmpty,
      fields[5].utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x3B && $0 != 0x3D }),
      fields[6].utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != 0x3B }),
      // Bytes that are not UTF-8 were replaced when the file was read.
      !fields[5...6].joined().unicodeScalars.contains("\u{FFFD}")
    else { return nil }
    let domain = fields[0].hasPrefix(".") ? fields[0].dropFirst() : fields[0]
    guard !domain.isEmpty, !domain.hasPrefix("."),
      domain.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != 0x2F })
    else { return nil }
    self.init(
      domain: RequestURL.comparableHost(domain),
      includesSubdomains: subdomains,
      path: String(fields[2]),
      isSecure: secure,
      expiry: expiry == 0 ? nil : expiry,
      name: String(fields[5]),
      value: String(fields[6])
    )
  }

  /// Parses a time of expiry; `nil` if it is not a number.
  ///
  /// A fraction is dropped, and a time beyond the largest number is that number.
  private static func seconds(_ text: Substring) -> Int64? {
    if text.isEmpty { return 0 }
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ part in part.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      !parts[0].isEmpty
    else { return nil }
    return Int64(parts[0]) ?? .max
  }

  private static func flag(_ text: Substring) -> Bool? {
    switch text.uppercased() {
    case "TRUE": true
    case "FALSE": false
    default: nil
    }
  }

  fileprivate func matches(host: String) -> Bool {
    host == domain || (includesSubdomains && CookieDomain.covers(domain, host))
  }

  /// Whether a request path is the cookie's path or below it (RFC 6265, 5.1.4).
  fileprivate func matches(path request: String) -> Bool {
    guard request.hasPrefix(path) else { return false }
    return request.utf8.count == path.utf8.count || path.hasSuffix("/")
      || request.dropFirst(path.count).hasPrefix("/")
  }
}
