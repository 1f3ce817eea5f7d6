package import DownloadStore
internal import Foundation

/// The proxies through which requests are sent, by the scheme of the URL.
///
/// ```swift
/// let proxies = try ProxySettings(environment: ProcessInfo.processInfo.environment)
/// if let proxy = proxies.server(for: url) { print(url, "through", proxy) }
/// ```
public struct ProxySettings: Sendable, Hashable {
  /// The proxy of `http` URLs; `nil` for a direct connection.
  public var http: ProxyServer?
  /// The proxy of `https` URLs; `nil` for a direct connection.
  public var https: ProxyServer?
  /// The hosts that are reached directly: names, each with its subdomains, IP addresses, and networks such
  /// as `10.0.0.0/8` or `fd00::/8`.
  ///
  /// A network matches only URLs with an address: names are not resolved. `*` matches all hosts.
  public var exceptions: [String] = []

  /// Creates settings without a proxy.
  public init() {}

  /// Creates settings from environment variables.
  ///
  /// These are `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`; `no_proxy` is a list of
  /// ``exceptions`` with commas. The upper-case names are used if the lower-case ones are missing, except for
  /// `HTTP_PROXY`: in a CGI program, a client can set it with the header field `Proxy`. These are the
  /// rules of curl.
  ///
  /// - Throws: ``ProxyServer/ParseError`` with the name of the variable.
  public init(environment: [String: String]) throws(ProxyServer.ParseError) {
    func value(_ name: String) -> String? {
      let value =
        environment[name] ?? (name == "http_proxy" ? nil : environment[name.uppercased()])
      return value?.isEmpty == false ? value : nil
    }
    func server(_ name: String) throws(ProxyServer.ParseError) -> ProxyServer? {
      guard let text = value(name) else { return nil }
      do {
        return try ProxyServer(text)
      } catch {
        throw ProxyServer.ParseError(message: "\(name): \(error.message)")
      }
    }
    let other = try server("all_proxy")
    http = try server("http_proxy") ?? other
    https = try server("https_proxy") ?? other
    exceptions = Self.exceptions(value("no_proxy") ?? "")
  }

  /// Parses a list of hosts with commas or blanks between them.
  package static func exceptions(_ list: String) -> [String] {
    list.split { $0 == "," || $0 == " " || $0 == "\t" }.map { host in
      String(host.drop { $0 == "." }).lowercased()
    }
    .filter { !$0.isEmpty }
  }

  /// The proxy for an absolute `http` or `https` URL; `nil` for a direct connection.
  ///
  /// The URL is parsed as the transports parse it. No proxy is used for a text that cannot be
  /// requested.
  public func server(for url: String) -> ProxyServer? {
    (try? RequestURL(url)).flatMap { server(for: $0) }
  }

  /// The proxy for a request; `nil` for a direct connection.
  package func server(for url: RequestURL) -> ProxyServer? {
    guard !isException(url.host) else { return nil }
    return url.scheme == .https ? https : http
  }

  private func isException(_ host: String) -> Bool {
    let host = host.hasSuffix(".") ? String(host.dropLast()) : host
    if exceptions.contains("*") { return true }
    if let address = AddressRange(host) {
      return exceptions.contains { AddressRange($0)?.contains(address) == true }
    }
    return exceptions.contains { host == $0 || host.hasSuffix(".\($0)") }
  }
}

/// The address of a proxy, and the credentials for it.
///
/// Its description shows no credentials.
public struct ProxyServer: Sendable, Hashable {
  /// The protocol that a proxy speaks.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// HTTP, with CONNECT for `https` URLs.
    case http
    /// HTTP over TLS.
    case https
    /// SOCKS 5; host names are resolved by this machine or by the proxy, as the transport decides.
    case socks5
    /// SOCKS 5; host names are resolved by the proxy.
    case socks5h
  }

  /// A text that is not the URL of a proxy.
  public struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, without credentials.
    public var message: String
    /// The message.
    public var description: String { message }
  }

  /// The protocol.
  public var kind: Kind
  /// The host name or IP address; an IPv6 address without brackets.
  public var host: String
  /// The port.
  public var port: Int
  /// The user name; `nil` if the proxy needs none.
  public var user: String?
  /// The password; `nil` if the proxy needs none.
  public var password: String?

  /// Parses the URL of a proxy: `[SCHEME://][USER[:PASSWORD]@]HOST[:PORT]`.
  ///
  /// The scheme is `http` by default, and the port 1080 (443 for `https`), as in curl. User name and
  /// password may be percent-encoded.
  ///
  /// - Throws: ``ParseError``.
  public init(_ text: String) throws(ParseError) {
    let parts = text.contains("://") ? text : "http://\(text)"
    guard let components = URLComponents(string: parts), let host = components.host, !host.isEmpty,
      components.query == nil, ["", "/"].contains(components.path)
    else {
      throw ParseError(message: "a proxy must have the form [http://][USER:PASSWORD@]HOST:PORT")
    }
    guard let kind = Kind(rawValue: components.scheme?.lowercased() ?? "") else {
      throw ParseError(
        message: "'\(components.scheme ?? "")' is not a proxy protocol: use "
          + Kind.allCases.map(\.rawValue).joined(separator: ", ")
      )
    }
    let port = components.port ?? (kind == .https ? 443 : 1080)
    guard (1...65_535).contains(port) else {
      throw ParseError(message: "\(port) is not a port")
    }
    self.kind = kind
    self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    self.port = port
    user = components.user
    password = components.password
  }
}

extension ProxyServer: CustomStringConvertible {
  /// The URL without credentials.
  public var description: String {
    let shown = user == nil && password == nil ? "" : "\u{2022}\u{2022}\u{2022}@"
    return "\(kind.rawValue)://\(shown)\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }
}
