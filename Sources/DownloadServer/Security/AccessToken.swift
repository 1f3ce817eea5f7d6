internal import Crypto

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The secret by which a client of the server proves that it may use it.
///
/// It is never part of a log or of a message; only ``text`` returns it.
public struct AccessToken: Sendable, Hashable, CustomStringConvertible {
  /// The smallest length of a token that a user chooses, in bytes.
  static let minimumLength = 16

  /// The token as it is sent.
  public let text: String

  /// Creates a token of 128 random bits, as 32 hexadecimal digits.
  public init() {
    var generator = SystemRandomNumberGenerator()
    let parts = [generator.next(), generator.next()] as [UInt64]
    text = parts.map { part in
      let digits = String(part, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    .joined()
  }

  /// Creates a token from the text of a file; white space around it does not count.
  ///
  /// `nil` for a text of fewer than 16 or more than 512 bytes, or with other characters than letters,
  /// digits and `-._~+/=` of ASCII.
  public init?(_ text: String) {
    let bytes = text.utf8.filter { $0 > 0x20 }
    guard (Self.minimumLength...512).contains(bytes.count),
      bytes.allSatisfy({ Self.isAllowed($0) }),
      let token = text.split(whereSeparator: \.isWhitespace).first,
      token.utf8.count == bytes.count
    else { return nil }
    self.text = String(token)
  }

  /// What is shown of a token: nothing.
  public var description: String { "•••" }

  /// The value of the cookie that stands for the token.
  ///
  /// It follows from the token, so that a browser stays signed in when a server with the same token
  /// is started again, and does not reveal it.
  var sessionText: String { Self.digest("dlstore session \(text)") }

  /// The name of the cookie: the servers of one host, on other ports, get its cookies, too.
  var cookieName: String { "dlstore_\(Self.digest("dlstore name \(text)").prefix(8))" }

  private static func digest(_ text: String) -> String {
    SHA256.hash(data: Data(text.utf8))
      .map { String($0 >> 4, radix: 16) + String($0 & 0xF, radix: 16) }.joined()
  }

  /// Compares two secrets in a time that depends on neither.
  ///
  /// The digests are compared, so the length of the secret does not show either.
  static func isEqual(_ left: String, _ right: String) -> Bool {
    let left = Array(SHA256.hash(data: Data(left.utf8)))
    let right = Array(SHA256.hash(data: Data(right.utf8)))
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// The characters of a bearer token (RFC 6750).
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "-._~+/=".utf8.contains(byte)
    }
  }
}
