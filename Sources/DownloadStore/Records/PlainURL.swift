internal import SystemInterface

/// A URL in the form that nearly all lists of downloads have, which needs no URL parser.
///
/// It has the scheme `http` or `https` in lower case, a host of letters, digits, dots and hyphens,
/// optionally a port, a path and a query. It has no user info, no fragment and only characters that
/// RFC 3986 allows unescaped.
struct PlainURL {
  /// The last component of the path that is not empty, as bytes; empty if there is none.
  let lastPathComponent: [UInt8]

  /// Parses a URL; `nil` if it has another form, valid or not.
  init?(_ url: String) {
    guard let component = url.withUTF8Span(Self.lastComponent) else { return nil }
    lastPathComponent = component
  }

  /// Returns scheme, host and port (``RequestURL/origin``) of a URL with a plain host in lower case,
  /// whatever follows; `nil` if it has another form, valid or not.
  static func origin(of url: String) -> String? {
    guard let (length, port) = url.withUTF8Span(originLength) else { return nil }
    return String(Substring(url.utf8.prefix(length))) + port
  }

  /// The length of scheme, host and port, and the default port if there is none, with its colon.
  private static func originLength(_ url: Span<UInt8>) -> (length: Int, port: String)? {
    guard let (host, end) = authority(of: url) else { return nil }
    for index in host where isUpperCase(url[index]) { return nil }
    guard end == url.count || url[end] == slash || url[end] == question || url[end] == hash else {
      return nil
    }
    if end > host.upperBound {
      // A number with leading zeros is another form of the same port.
      return url[host.upperBound + 1] == zero ? nil : (end, "")
    }
    return (end, url[4] == UInt8(ascii: "s") ? ":443" : ":80")
  }

  /// The range of the host, and the end of host and port; `nil` if they have another form.
  private static func authority(of url: Span<UInt8>) -> (host: Range<Int>, end: Int)? {
    var index = 0
    /// Skips the bytes that pass a test, and returns their number.
    func skip(while test: (UInt8) -> Bool) -> Int {
      let start = index
      while index < url.count, test(url[index]) { index += 1 }
      return index - start
    }
    for byte in "http".utf8 {
      guard index < url.count, url[index] == byte else { return nil }
      index += 1
    }
    if index < url.count, url[index] == UInt8(ascii: "s") { index += 1 }
    for byte in "://".utf8 {
      guard index < url.count, url[index] == byte else { return nil }
      index += 1
    }
    let host = index
    guard skip(while: { isLetterOrDigit($0) || $0 == hyphen || $0 == dot }) > 0 else { return nil }
    let hostEnd = index
    if index < url.count, url[index] == UInt8(ascii: ":") {
      index += 1
      let start = index
      // A number of four digits is always a valid port.
      guard (1...4).contains(skip(while: isDigit)) || isPort(url, from: start, to: index) else {
        return nil
      }
    }
    return (host..<hostEnd, index)
  }

  private static func lastComponent(_ url: Span<UInt8>) -> [UInt8]? {
    guard var (_, index) = authority(of: url) else { return nil }
    var start = index
    var component: [UInt8] = []
    if index < url.count {
      guard url[index] == slash || url[index] == question else { return nil }
      while index < url.count, url[index] != question {
        guard isOfPath(url[index]) else { return nil }
        if url[index] == slash {
          if index > start { component = bytes(url, start, index) }
          start = index + 1
        }
        index += 1
      }
      if index > start { component = bytes(url, start, index) }
      while index < url.count {
        guard isOfPath(url[index]) || url[index] == question else { return nil }
        index += 1
      }
    }
    return component
  }

  private static func bytes(_ url: Span<UInt8>, _ start: Int, _ end: Int) -> [UInt8] {
    (start..<end).map { url[$0] }
  }

  private static func isPort(_ url: Span<UInt8>, from start: Int, to end: Int) -> Bool {
    guard end - start == 5 else { return false }
    return (start..<end).reduce(0) { $0 * 10 + Int(url[$1] - UInt8(ascii: "0")) } <= UInt16.max
  }

  private static let slash = UInt8(ascii: "/")
  private static let question = UInt8(ascii: "?")
  private static let hyphen = UInt8(ascii: "-")
  private static let dot = UInt8(ascii: ".")
  private static let hash = UInt8(ascii: "#")
  private static let zero = UInt8(ascii: "0")

  private static func isUpperCase(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Whether the byte is a slash or a character of a path segment (RFC 3986, 3.3) other than `%`.
  private static func isOfPath(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
      UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"),
      UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"),
      UInt8(ascii: "@"), slash:
      true
    default: isLetterOrDigit(byte)
    }
  }
}
