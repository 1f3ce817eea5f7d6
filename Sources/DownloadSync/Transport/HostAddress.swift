package import DownloadStore
internal import SystemInterface

/// The address to which connections to a host and a port go, instead of those that DNS has for its name.
///
/// ```swift
/// var connection = ConnectionSettings()
/// connection.hostAddresses = [try HostAddress("example.com:443:192.0.2.7")]
/// ```
public struct HostAddress: Sendable, Hashable {
  /// The reason why a text is none.
  public struct ParseError: Error, Sendable, Hashable {
    /// What is wrong, without a full stop.
    public var message: String
  }

  /// The name of the host, in lower case and in ASCII.
  public let host: String
  /// The port.
  public let port: Int
  /// The IPv4 or IPv6 address, without brackets.
  public let address: String

  /// Parses `HOST:PORT:ADDRESS`, as curl's `--resolve`; an IPv6 address may have brackets.
  ///
  /// - Throws: ``ParseError``.
  public init(_ text: String) throws(ParseError) {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, let port = Int(parts[1]), (1...65_535).contains(port)
    else { throw ParseError(message: "'\(text)' is not HOST:PORT:ADDRESS") }
    let address = String(parts[2])
    let bare =
      address.hasPrefix("[") && address.hasSuffix("]")
      ? String(address.dropFirst().dropLast()) : address
    guard AddressFamily(ofAddress: bare) != nil else {
      throw ParseError(message: "'\(address)' is not one IPv4 or IPv6 address")
    }
    let host = RequestURL.comparableHost(parts[0])
    guard host != "*" else { throw ParseError(message: "'*' is no host: name each one") }
    guard AddressFamily(ofAddress: host) == nil else {
      throw ParseError(message: "'\(host)' is an address already")
    }
    (self.host, self.port, self.address) = (host, port, bare)
  }

  /// Whether connections to the server of a URL go to the address.
  package func applies(to url: RequestURL) -> Bool {
    RequestURL.comparableHost(url.host) == host && (url.port ?? url.scheme.defaultPort) == port
  }
}

/// A family of addresses.
public enum AddressFamily: Sendable, Hashable {
  /// IPv4.
  case ipv4
  /// IPv6.
  case ipv6

  /// The family of an address without brackets; `nil` for any other text.
  package init?(ofAddress text: String) {
    if isAddress(text, AF_INET) {
      self = .ipv4
    } else if isAddress(text, AF_INET6) {
      self = .ipv6
    } else {
      return nil
    }
  }
}
