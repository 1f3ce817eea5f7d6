/// Decides which names a request may call the server by.
///
/// A page of another site can have its own name resolved to this machine (DNS rebinding), and would
/// then count as this site for the browser. Its requests still name the other site in `Host`. An IP
/// address cannot be rebound, so addresses are allowed if other machines may use the server at all.
public struct HostRule: Sendable, Hashable {
  /// Whether only names and addresses of the loopback interface are allowed, beside ``names``.
  public var isLoopbackOnly: Bool
  /// Further names, in lower case, without ports.
  public var names: Set<String>

  /// Creates a rule.
  ///
  /// - Parameters:
  ///   - isLoopbackOnly: Whether only names and addresses of the loopback interface are allowed.
  ///   - names: Further names, without ports.
  public init(isLoopbackOnly: Bool = true, names: Set<String> = []) {
    self.isLoopbackOnly = isLoopbackOnly
    self.names = Set(names.map { $0.lowercased() })
  }

  /// Returns whether a request with this `Host` may be answered.
  ///
  /// The port does not count: a forwarded connection has another one.
  ///
  /// - Parameter authority: The value of `Host`.
  /// - Returns: Whether it names this server.
  func allows(_ authority: String) -> Bool {
    guard let host = Self.host(of: authority) else { return false }
    if names.contains(host) || host == "localhost" { return true }
    guard let isLoopback = Self.isLoopback(host) else { return false }
    return isLoopback || !isLoopbackOnly
  }

  /// Returns the name or the address of an authority, in lower case, without port and brackets; `nil`
  /// if it is none.
  static func host(of authority: String) -> String? {
    let text = authority.lowercased()
    let allowed = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: ".-_:[]%".utf8.contains(byte)
      }
    }
    guard allowed, !text.isEmpty else { return nil }
    var host = text[...]
    var port = Substring()
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[text.index(after: text.startIndex)..<end]
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
      port = rest.dropFirst()
      guard host.contains(":") else { return nil }
    } else if let colon = text.firstIndex(of: ":") {
      host = text[..<colon]
      port = text[text.index(after: colon)...]
    }
    guard !host.isEmpty, port.isEmpty || UInt16(port) != nil else { return nil }
    // The dot at the end of a complete name.
    if host.hasSuffix(".") { host.removeLast() }
    return host.isEmpty || host.contains("[") || host.contains("]") ? nil : String(host)
  }

  /// Returns whether an address is one of the loopback interface; `nil` if the text is no address.
  package static func isLoopback(_ host: String) -> Bool? {
    if host.contains(":") {
      let digits = host.prefix { $0 != "%" }
      guard digits.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else { return nil }
      return digits == "::1" || digits.hasPrefix("::ffff:127.")
        || digits.allSatisfy { $0 == "0" || $0 == ":" || $0 == "1" } && digits.hasSuffix(":1")
          && digits.filter { $0 == "1" }.count == 1
    }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    // Other spellings of an address, such as 0x7f.1, are names here, and refused.
    guard parts.count == 4,
      parts.allSatisfy({ part in UInt8(part).map { String($0) == part } ?? false })
    else { return nil }
    return parts[0] == "127"
  }
}
