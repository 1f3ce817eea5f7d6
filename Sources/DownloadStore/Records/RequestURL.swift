internal import SystemInterface

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The URL of an HTTP request in the form in which it is sent, by the rules of RFC 3986.
///
/// The request target has the bytes that were given. Only a byte that a URL must not contain is
/// escaped, once, and an escape that was given stays as it is, whatever it encodes. Dot segments are
/// removed, as libcurl and browsers do. Scheme and host are in lower case, the default port and the
/// fragment are omitted, and the name of a host is in its ASCII form (IDNA).
///
/// Foundation's parser is not used for the target: one character that it does not accept makes it
/// escape the escapes of the whole component, too, and it returns an empty path for escapes that
/// are not UTF-8. Records keep the URL as it was given.
package struct RequestURL: Sendable, Hashable {
  /// The schemes that can be requested.
  package enum Scheme: String, Sendable, Hashable {
    case http, https

    /// The port of a URL that names none.
    package var defaultPort: Int { self == .https ? 443 : 80 }
  }

  /// The reason why a text is not the URL of an HTTP request.
  package enum Problem: Error, Hashable {
    /// The text has no scheme.
    case noURL
    /// The scheme is neither `http` nor `https`.
    case otherScheme(String)
    /// The host is missing or is not a valid one.
    case noHost
    /// The port is not a number up to 65,535.
    case invalidPort
  }

  /// The scheme.
  package let scheme: Scheme
  /// User name and password before the host, as given; `nil` if there are none.
  package let userInfo: String?
  /// The host in ASCII and in lower case; an IPv6 address with its brackets.
  package let host: String
  /// The port; `nil` for the default one.
  package let port: Int?
  /// The path, which begins with a slash and has no dot segments.
  package let path: String
  /// The query; `nil` if there is none, and empty for a URL that ends with `?`.
  package let query: String?

  /// Parses an absolute URL.
  ///
  /// - Throws: ``Problem``.
  package init(_ text: String) throws(Problem) {
    let reference = URLReference(text)
    guard let scheme = reference.scheme else { throw .noURL }
    try self.init(scheme, reference)
  }

  private init(_ scheme: String, _ reference: URLReference) throws(Problem) {
    guard let known = Scheme(rawValue: scheme) else { throw .otherScheme(scheme) }
    guard let authority = reference.authority else { throw .noHost }
    self.scheme = known
    (userInfo, host, port) = try Self.divide(authority, known)
    path = Self.path(reference.path)
    query = reference.query.map { Self.escaped($0, .query) }
  }

  private init(_ base: Self, path: String, query: ArraySlice<UInt8>?) {
    scheme = base.scheme
    userInfo = base.userInfo
    host = base.host
    port = base.port
    self.path = path
    self.query = query.map { Self.escaped($0, .query) }
  }

  /// Resolves a reference, such as a `Location`, against this URL (RFC 3986, 5.2.2).
  ///
  /// A reference without an authority keeps this URL's user info. Blanks around the reference do not
  /// belong to it.
  ///
  /// - Throws: ``Problem`` if the result is not a URL that can be requested.
  package func resolving(_ text: String) throws(Problem) -> Self {
    let reference = URLReference(text)
    if let scheme = reference.scheme { return try Self(scheme, reference) }
    if reference.authority != nil { return try Self(scheme.rawValue, reference) }
    guard let first = reference.path.first else {
      return Self(self, path: path, query: reference.query ?? query.map { Array($0.utf8)[...] })
    }
    let folder = first == .slash ? [] : Array(path.utf8.reversed().drop { $0 != .slash }.reversed())
    return Self(self, path: Self.path((folder + reference.path)[...]), query: reference.query)
  }

  /// Path and query: the target of a request to the server (RFC 9112, 3.2.1).
  package var target: String {
    query.map { "\(path)?\($0)" } ?? path
  }

  /// Host and port, as in the field `Host`.
  package var authority: String {
    port.map { "\(host):\($0)" } ?? host
  }

  /// Scheme, host and port (RFC 6454, section 4), with the default port.
  package var origin: String {
    "\(scheme.rawValue)://\(host):\(port ?? scheme.defaultPort)"
  }

  /// The URL without user info: the target of a request to a proxy (RFC 9112, 3.2.2).
  package var absoluteForm: String {
    "\(scheme.rawValue)://\(authority)\(target)"
  }

  /// The URL with its user info, if any.
  package var text: String {
    guard let userInfo else { return absoluteForm }
    return "\(scheme.rawValue)://\(userInfo)@\(authority)\(target)"
  }

  /// The bytes of `name:password`, with the escapes of the user info decoded once; `nil` without a
  /// name and a password.
  package var credentials: [UInt8]? {
    guard let userInfo, !userInfo.isEmpty else { return nil }
    let decoded = Self.unescaped(ArraySlice(userInfo.utf8))
    // An escaped colon belongs to the name or the password.
    return userInfo.utf8.contains(.colon) ? decoded : decoded + [.colon]
  }
}

// MARK: Authority

extension RequestURL {
  private static func divide(
    _ authority: ArraySlice<UInt8>,
    _ scheme: Scheme
  ) throws(Problem) -> (userInfo: String?, host: String, port: Int?) {
    var rest = authority
    var userInfo: String?
    // The last one: what follows it is the host, whatever a user name contains.
    if let at = rest.lastIndex(of: .at) {
      userInfo = escaped(rest[..<at], .userInfo)
      rest = rest[(at + 1)...]
    }
    let host: String
    if rest.first == UInt8(ascii: "[") {
      guard let end = rest.firstIndex(of: UInt8(ascii: "]")) else { throw .noHost }
      host = try address(rest[(rest.startIndex + 1)..<end])
      rest = rest[(end + 1)...]
    } else {
      let name = rest.prefix { $0 != .colon }
      host = try self.host(name)
      rest = rest[name.endIndex...]
    }
    guard let colon = rest.first else { return (userInfo, host, nil) }
    let digits = rest.dropFirst()
    guard colon == .colon, digits.allSatisfy(\.isDigit) else { throw .invalidPort }
    guard !digits.isEmpty else { return (userInfo, host, nil) }
    guard let port = UInt16(String(decoding: digits, as: UTF8.self)) else { throw .invalidPort }
    return (userInfo, host, Int(port) == scheme.defaultPort ? nil : Int(port))
  }

  private static func address(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard isAddress(text, AF_INET6) else { throw .noHost }
    return "[\(text.lowercased())]"
  }

  /// Returns the form of a host in which two names of one host are equal: in ASCII (IDNA) and lower
  /// case, and without brackets and the final dot of a name that is absolute.
  ///
  /// A text that is not a host is only converted to lower case.
  package static func comparableHost(_ text: some StringProtocol) -> String {
    var text = text.lowercased()
    if text.hasPrefix("["), text.hasSuffix("]") { return String(text.dropFirst().dropLast()) }
    if text.hasSuffix("."), text.utf8.count > 1 { text.removeLast() }
    let isPlain = text.utf8.allSatisfy { $0 < 0x80 && $0 != .percent }
    return isPlain ? text : (try? host(Array(text.utf8)[...])) ?? text
  }

  private static func host(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
    var name = String(decoding: unescaped(bytes), as: UTF8.self).lowercased()
    if !name.utf8.allSatisfy({ $0 < 0x80 }) {
      // The only use of Foundation's parser: it knows IDNA, and the result is checked below.
      name = URLComponents(string: "http://\(name)/")?.encodedHost?.lowercased() ?? ""
    }
    guard !name.isEmpty,
      name.utf8.allSatisfy({ $0.isUnreserved || $0.isSubDelimiter })
    else { throw .noHost }
    return name
  }
}

// MARK: Path and escapes

extension RequestURL {
  private enum Component {
    case userInfo, path, query

    func contains(_ byte: UInt8) -> Bool {
      switch byte {
      case .colon: true
      case .at, .slash: self != .userInfo
      case UInt8(ascii: "?"): self == .query
      default: byte.isUnreserved || byte.isSubDelimiter
      }
    }
  }

  /// Escapes a path, and removes its dot segments (RFC 3986, 5.2.4).
  ///
  /// Escaped dots stay: they are bytes that were given.
  private static func path(_ bytes: ArraySlice<UInt8>) -> String {
    let path = escaped(bytes, .path)
    guard path.utf8.contains(.dot) else { return path.isEmpty ? "/" : path }
    let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    var kept: [Substring] = []
    for (index, segment) in zip(segments.indices, segments) {
      let isLast = index == segments.endIndex - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        _ = kept.popLast()
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }

  /// Escapes the bytes that a component must not contain.
  ///
  /// A percent sign stays if it begins an escape.
  private static func escaped(_ bytes: ArraySlice<UInt8>, _ component: Component) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count)
    for (index, byte) in zip(bytes.indices, bytes) {
      if component.contains(byte) || (byte == .percent && isEscape(bytes[index...])) {
        text.append(byte)
      } else {
        text += [.percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func unescaped(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var index = bytes.startIndex
    while index < bytes.endIndex {
      if bytes[index] == .percent, isEscape(bytes[index...]),
        let byte = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
      {
        result.append(byte)
        index += 3
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return result
  }

  private static func isEscape(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.count >= 3 && bytes.dropFirst().prefix(2).allSatisfy(\.isHexDigit)
  }
}

/// The components of a URL reference (RFC 3986, appendix B), as bytes, without the fragment.
private struct URLReference {
  /// The scheme in lower case.
  private(set) var scheme: String?
  private(set) var authority: ArraySlice<UInt8>?
  let path: ArraySlice<UInt8>
  let query: ArraySlice<UInt8>?

  init(_ text: String) {
    var rest = Array(text.utf8)[...]
    rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = rest.last, last == 0x20 || last == 0x09 { rest.removeLast() }
    rest = rest.prefix { $0 != UInt8(ascii: "#") }
    let name = rest.prefix { $0.isLetter || $0.isDigit || "+-.".utf8.contains($0) }
    if let first = name.first, first.isLetter, rest[name.endIndex...].first == .colon {
      scheme = String(decoding: name, as: UTF8.self).lowercased()
      rest = rest[(name.endIndex + 1)...]
    }
    if rest.starts(with: [.slash, .slash]) {
      let part = rest.dropFirst(2).prefix { $0 != .slash && $0 != UInt8(ascii: "?") }
      authority = part
      rest = rest[part.endIndex...]
    }
    path = rest.prefix { $0 != UInt8(ascii: "?") }
    query = path.endIndex < rest.endIndex ? rest[(path.endIndex + 1)...] : nil
  }
}

extension UInt8 {
  fileprivate static var slash: Self { UInt8(ascii: "/") }
  fileprivate static var colon: Self { UInt8(ascii: ":") }
  fileprivate static var at: Self { UInt8(ascii: "@") }
  fileprivate static var dot: Self { UInt8(ascii: ".") }
  fileprivate static var percent: Self { UInt8(ascii: "%") }

  fileprivate var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  fileprivate var isLetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
  fileprivate var isHexDigit: Bool {
    isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self | 0x20)
  }
  fileprivate var isUnreserved: Bool { isLetter || isDigit || "-._~".utf8.contains(self) }
  fileprivate var isSubDelimiter: Bool { "!$&'()*+,;=".utf8.contains(self) }
}
