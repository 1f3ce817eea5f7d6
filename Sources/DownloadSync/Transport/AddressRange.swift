internal import SystemInterface

/// One IP address, or the addresses of a network (RFC 4632, RFC 4291).
package struct AddressRange: Sendable, Hashable {
  /// The first address, in network byte order: 4 or 16 bytes.
  private let bytes: [UInt8]
  /// The number of bits that all addresses have in common.
  private let bitCount: Int

  /// Parses `ADDRESS` or `ADDRESS/BITS`; returns `nil` for any other text.
  ///
  /// An IPv6 address may have brackets, and any spelling.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let address =
      parts[0].hasPrefix("[") && parts[0].hasSuffix("]")
      ? String(parts[0].dropFirst().dropLast()) : String(parts[0])
    guard let bytes = addressBytes(address, AF_INET) ?? addressBytes(address, AF_INET6)
    else { return nil }
    self.bytes = bytes
    guard parts.count == 2 else {
      bitCount = bytes.count * 8
      return
    }
    // `Int` accepts a sign.
    guard let count = Int(parts[1]), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      count <= bytes.count * 8
    else { return nil }
    bitCount = count
  }

  /// Whether all addresses of another range are in this one.
  package func contains(_ other: Self) -> Bool {
    guard bytes.count == other.bytes.count, bitCount <= other.bitCount else { return false }
    let (whole, rest) = bitCount.quotientAndRemainder(dividingBy: 8)
    return bytes.prefix(whole) == other.bytes.prefix(whole)
      && (rest == 0 || (bytes[whole] ^ other.bytes[whole]) >> (8 - rest) == 0)
  }
}
