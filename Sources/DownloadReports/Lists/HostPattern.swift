internal import DownloadStore

/// A host, or a pattern for hosts, in any spelling, with a port or for any port.
package struct HostPattern: Sendable {
  private let glob: GlobPattern
  /// The port of a matching URL; `nil` for any.
  private let port: Int?

  /// Parses a host or a pattern, also one followed by `:PORT`, or a URL, whose host counts.
  package init(_ text: String) {
    var host = text[...]
    var port: Int?
    if let url = try? RequestURL(text) {
      host = url.host[...]
    } else if let colon = text.lastIndex(of: ":"),
      // The colons of an IPv6 address without brackets are not those of a port.
      !text[..<colon].contains(":") || text[..<colon].hasSuffix("]"),
      let number = UInt16(text[text.index(after: colon)...])
    {
      host = text[..<colon]
      port = Int(number)
    }
    glob = GlobPattern(RequestURL.comparableHost(host))
    self.port = port
  }

  /// Whether the URL has a matching host, and the port if one is given.
  package func matches(url: String) -> Bool {
    guard let url = try? RequestURL(url) else { return false }
    guard port == nil || (url.port ?? url.scheme.defaultPort) == port else { return false }
    return glob.matches(RequestURL.comparableHost(url.host))
  }
}
