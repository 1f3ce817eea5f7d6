internal import DownloadStore
internal import Foundation

/// The cookies that the responses of one chain of redirects have set.
///
/// A login that redirects often sets a cookie which its target requires; without it the server
/// redirects back until the limit. The cookies last as long as the redirects of one request: no other
/// request sends them, and they are not stored. They are sent to the hosts, paths and schemes that
/// RFC 6265 names, and to no host that only shares a public suffix (``CookieDomain``).
package struct RedirectCookies: Sendable, Hashable {
  fileprivate struct Cookie: Sendable, Hashable {
    var name: String
    var value: String
    var domain: String
    var includesSubdomains = false
    var path: String
    var isSecure = false
  }

  /// The largest number of cookies, and of bytes of each (RFC 6265, 6.1).
  private static let limits = (count: 50, byteCount: 4_096)

  private var cookies: [Cookie] = []

  /// Stores the cookies of a response.
  ///
  /// - Parameters:
  ///   - fields: The values of `Set-Cookie`, one for each cookie.
  ///   - url: The URL of the response.
  ///   - now: The time with which an expiry is compared.
  mutating func store(_ fields: [String], from url: RequestURL, now: Date) {
    for field in fields {
      guard field.utf8.count <= Self.limits.byteCount,
        let (cookie, isExpired) = Self.cookie(field, from: url, now: now)
      else { continue }
      cookies.removeAll {
        $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
      }
      if !isExpired, cookies.count < Self.limits.count { cookies.append(cookie) }
    }
  }

  /// Returns the value of `Cookie` for a request, or `nil` for none.
  ///
  /// A cookie replaces one of the same name in the value that the user has given.
  func field(for url: RequestURL, given: String?) -> String? {
    let matching = cookies.filter { $0.matches(url) }
      .sorted { $0.path.utf8.count > $1.path.utf8.count }
    guard !matching.isEmpty else { return given }
    let names = Set(matching.map(\.name))
    let kept = (given ?? "").split(separator: ";").map { Self.trimmed($0) }.filter { pair in
      !pair.isEmpty && !names.contains(String(pair.prefix { $0 != "=" }))
    }
    return (kept.map(String.init) + matching.map { "\($0.name)=\($0.value)" })
      .joined(separator: "; ")
  }

  // MARK: Parsing

  /// Splits cookies that were joined by commas.
  ///
  /// Only for a client that has joined them, as URLSession does (RFC 9110, 5.3 names `Set-Cookie` as the
  /// exception): the value of a cookie may have commas, too. A comma separates two cookies if a name and
  /// `=` follow it; a date has neither.
  package static func separated(_ field: String) -> [String] {
    var cookies: [Substring] = []
    for part in field.split(separator: ",", omittingEmptySubsequences: false) {
      let name = trimmed(part).prefix { $0 != "=" && $0 != ";" }
      let isCookie =
        trimmed(part).dropFirst(name.count).first == "=" && !name.isEmpty
        && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      if !isCookie, let last = cookies.popLast() {
        cookies.append(field[last.startIndex..<part.endIndex])
      } else {
        cookies.append(part)
      }
    }
    return cookies.map(String.init)
  }

  private static func cookie(
    _ field: String,
    from url: RequestURL,
    now: Date
  ) -> (cookie: Cookie, isExpired: Bool)? {
    let parts = field.split(separator: ";", omittingEmptySubsequences: false).map(trimmed)
    guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
    let name = trimmed(pair[..<equals])
    let value = trimmed(pair[pair.index(after: equals)...])
    guard !name.isEmpty, (name + value).utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      return nil
    }
    let folder = url.path.prefix(through: url.path.lastIndex(of: "/") ?? url.path.startIndex)
    var cookie = Cookie(
      name: String(name),
      value: String(value),
      domain: url.host,
      path: folder.count > 1 ? String(folder.dropLast()) : "/"
    )
    var lifetime: Int64?
    var expiry: Date?
    for part in parts.dropFirst() {
      let attribute = part.prefix { $0 != "=" }
      let value = trimmed(part.dropFirst(attribute.count + 1))
      switch trimmed(attribute).lowercased() {
      case "domain":
        let domain = value.drop { $0 == "." }.lowercased()
        guard !domain.isEmpty else { continue }
        // Otherwise a server could set a cookie for one that it has nothing to do with.
        guard domain == url.host || CookieDomain.covers(domain, url.host) else { return nil }
        cookie.domain = domain
        cookie.includesSubdomains = true
      case "path": if value.hasPrefix("/") { cookie.path = String(value) }
      case "secure": cookie.isSecure = true
      case "max-age": lifetime = Int64(value)
      case "expires": expiry = HTTPDate.moment(String(value), now: now)
      default: continue
      }
    }
    // A server without encryption must not set what an encrypted one trusts.
    guard !cookie.isSecure || url.scheme == .https else { return nil }
    return (cookie, lifetime.map { $0 <= 0 } ?? (expiry.map { $0 <= now } ?? false))
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}

extension RedirectCookies.Cookie {
  fileprivate func matches(_ url: RequestURL) -> Bool {
    guard !isSecure || url.scheme == .https else { return false }
    guard url.host == domain || (includesSubdomains && CookieDomain.covers(domain, url.host)) else {
      return false
    }
    // RFC 6265, 5.1.4.
    guard url.path.hasPrefix(path) else { return false }
    return url.path == path || path.hasSuffix("/") || url.path.dropFirst(path.count).first == "/"
  }
}
