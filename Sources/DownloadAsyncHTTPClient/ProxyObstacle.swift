package import DownloadSync

/// What keeps AsyncHTTPClient from using a proxy.
package enum ProxyObstacle: Sendable, Hashable {
  /// The proxy speaks HTTP over TLS: the client would send it the password in clear text.
  case tls
  /// The proxy speaks SOCKS and needs credentials, which the client cannot send.
  case login

  /// The obstacle of a proxy; `nil` if the client can use it.
  package init?(_ proxy: ProxyServer) {
    switch proxy.kind {
    case .http: return nil
    case .https: self = .tls
    case .socks5, .socks5h:
      guard proxy.user != nil || proxy.password != nil else { return nil }
      self = .login
    }
  }

  /// What is not supported, such as `proxies over TLS, such as https://h:443`; without credentials.
  package func text(_ proxy: ProxyServer) -> String {
    switch self {
    case .tls: "proxies over TLS, such as \(proxy)"
    case .login: "credentials for the SOCKS proxy \(proxy)"
    }
  }
}
