#if AsyncHTTPClient
  internal import NIOCore
  internal import NIOSSL

  /// The names for which a server's certificate is valid (RFC 9525).
  ///
  /// NIOSSL accepts a certificate for the host *or for the address of the socket*. The address comes from
  /// DNS, from `--resolve`, or is that of a proxy, so it proves nothing: whoever has a certificate for his
  /// own address could answer for any host. This is the missing condition; it does not replace NIOSSL's
  /// check, which comes before it.
  struct CertificateNames: Sendable, Hashable {
    var hosts: [String] = []
    var addresses: [[UInt8]] = []

    /// Whether a URL's host is one of the names.
    ///
    /// A certificate without a name of either kind has passed NIOSSL's comparison with its common name.
    ///
    /// - Parameter host: The host in ASCII; an IPv6 address may have brackets.
    /// - Returns: Whether the certificate is valid for it.
    func contain(_ host: String) -> Bool {
      guard !hosts.isEmpty || !addresses.isEmpty else { return true }
      if let address = Self.address(host) {
        return addresses.contains { bytes in
          (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0)) == address
        }
      }
      let host = Self.labels(host)
      return hosts.contains { Self.matches(Self.labels($0), host) }
    }

    /// Whether a name of a certificate is that of a host: `*` stands for the whole first label, below at
    /// least two others.
    private static func matches(_ name: [ArraySlice<UInt8>], _ host: [ArraySlice<UInt8>]) -> Bool {
      guard name.count == host.count, !host.contains([]) else { return false }
      if name == host { return true }
      return name.first == [UInt8(ascii: "*")] && name.count > 2
        && name.dropFirst() == host.dropFirst()
    }

    /// The labels of a name, with its ASCII letters in lower case: the Kelvin sign is no `k`.
    private static func labels(_ name: String) -> [ArraySlice<UInt8>] {
      let dot = UInt8(ascii: ".")
      let bytes = name.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
      return (bytes.last == dot ? bytes.dropLast() : bytes[...])
        .split(separator: dot, omittingEmptySubsequences: false)
    }

    /// An IP address; `nil` for the name of a host.
    private static func address(_ host: String) -> SocketAddress? {
      let text = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
      return try? SocketAddress(ipAddress: text, port: 0)
    }
  }

  extension CertificateNames {
    /// The names of a certificate.
    init(_ certificate: NIOSSLCertificate) {
      for name in certificate._subjectAlternativeNames() {
        switch name.nameType {
        case .dnsName: hosts.append(String(decoding: name.contents, as: UTF8.self))
        case .ipAddress: addresses.append(Array(name.contents))
        default: break
        }
      }
    }
  }
#endif
