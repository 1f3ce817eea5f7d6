/// What the rules of access look at in a request.
struct RequestFacts: Sendable, Hashable {
  /// The part of the server that a request is for.
  enum Area: Sendable, Hashable {
    /// The page, the API, the events and the metrics.
    case page
    /// aria2's JSON-RPC, whose own token stands in the body.
    case rpc
  }

  var area = Area.page
  /// The method, such as `GET`.
  var method = "GET"
  /// The target of the request line, with its query.
  var target = "/"
  /// The values of `Host`; a request has exactly one.
  var hosts: [String] = []
  /// The values of `Authorization`.
  var authorizations: [String] = []
  /// The values of the session cookie.
  var sessions: [String] = []
  /// The value of `Origin`; `nil` without one.
  var origin: String?
  /// The value of `Sec-Fetch-Site`; `nil` without one.
  var fetchSite: String?

  /// Whether the method changes nothing (RFC 9110, 9.2.1).
  var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }

  /// The path, without the query.
  var path: String { String(target.prefix { $0 != "?" }) }

  /// The values of the query's `token`.
  var tokens: [String] { Self.items(of: target).filter { $0.name == "token" }.map(\.value) }

  /// The target without the query's `token`.
  ///
  /// It always begins with a single slash, so that no browser takes it for another host.
  var targetWithoutToken: String {
    let items = Self.items(of: target).filter { $0.name != "token" }.map(\.text)
    // Compares bytes: a browser ignores a variation selector, which is one Character with a slash.
    let rest = path.utf8.drop { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
    let path = "/\(Substring(rest))"
    return items.isEmpty ? path : "\(path)?\(items.joined(separator: "&"))"
  }

  private static func items(of target: String) -> [(name: String, value: String, text: String)] {
    guard let mark = target.firstIndex(of: "?") else { return [] }
    return target[target.index(after: mark)...].split(separator: "&").map { item in
      let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "", String(item))
    }
  }
}
