/// Proxies and certificates of a transport.
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

  /// Creates settings for direct connections that trust the system's certificates.
  public init() {}
}
