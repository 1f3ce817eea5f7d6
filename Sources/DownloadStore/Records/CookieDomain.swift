/// The hosts to which a cookie may be sent.
package enum CookieDomain {
  /// Returns whether a cookie of a domain may be sent to a host below it.
  ///
  /// False for addresses, and for domains under which unrelated parties have names
  /// (``PublicSuffix``). Domain and host are in lower case, and the domain has no leading dot. A
  /// final dot of either makes no difference.
  package static func covers(_ domain: String, _ host: String) -> Bool {
    let (domain, host) = (PublicSuffix.relative(domain), PublicSuffix.relative(host))
    let isAddress =
      host.contains(":") || host.utf8.allSatisfy { $0 == 0x2E || (0x30...0x39).contains($0) }
    return !isAddress && host.hasSuffix(".\(domain)") && !PublicSuffix.contains(domain)
  }
}
