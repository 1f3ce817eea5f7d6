/// How a transport reaches servers: proxies, certificates, versions of TLS and addresses.
///
/// `AsyncHTTPClientTransport` takes them. `URLSessionTransport` has no such settings.
///
/// ```swift
/// var connection = ConnectionSettings()
/// connection.proxies = try ProxySettings(environment: ProcessInfo.processInfo.environment)
/// connection.certificateAuthorities = "/etc/ssl/company.pem"
/// ```
public struct ConnectionSettings: Sendable, Hashable {
  /// The proxies; none by default.
  public var proxies = ProxySettings()
  /// A file of PEM certificates that TLS trusts instead of the system's; `nil` for the system's.
  public var certificateAuthorities: String?
  /// A file of PEM certificates with which this client identifies itself, its own first.
  public var clientCertificate: String?
  /// The PEM file of the client certificate's private key; by default ``clientCertificate``.
  public var clientKey: String?

  /// A version of TLS.
  public enum TLSVersion: String, Sendable, Hashable, CaseIterable {
    /// TLS 1.2 (RFC 5246).
    case tls12 = "1.2"
    /// TLS 1.3 (RFC 8446).
    case tls13 = "1.3"
  }

  /// The lowest version of TLS that is spoken.
  public var minimumTLSVersion = TLSVersion.tls12
  /// The keys of which the certificate of each server must have one, also those of mirrors and after
  /// redirects; empty for any key.
  ///
  /// In addition to the usual checks. They apply to TLS: a connection to an `http` URL has no key.
  public var pinnedKeys: Set<PinnedKey> = []
  /// The only family of addresses to which connections are made; `nil` for both.
  public var addressFamily: AddressFamily?
  /// The address of this machine from which connections are made; `nil` for that which the system
  /// chooses.
  ///
  /// It has a family, so connections are made to addresses of that family only.
  public var localAddress: String?
  /// Addresses that replace those of DNS.
  ///
  /// They apply to direct connections: a proxy looks names up itself. The name of the host remains
  /// that of the request and of the certificate.
  public var hostAddresses: [HostAddress] = []

  /// Creates settings for direct connections that trust the system's certificates.
  public init() {}
}
