internal import Foundation
internal import SystemInterface

/// A digest of a file, such as `sha256:` and 64 hexadecimal digits.
///
/// ```swift
/// var request = DownloadRequest(url: "https://example.com/model.bin")
/// request.digest = try Digest("md5:9e107d9d372bb6826bd81d3542a419d6")
/// try await store.add([request])
/// ```
public struct Digest: Sendable, Hashable {
  /// The algorithm of a digest.
  ///
  /// MD5 and SHA-1 detect damage; only the other two protect against a malicious server.
  public enum Algorithm: String, Sendable, Hashable, CaseIterable {
    /// MD5 (RFC 1321).
    case md5
    /// SHA-1 (FIPS 180-4).
    case sha1
    /// SHA-256 (FIPS 180-4).
    case sha256
    /// SHA-512 (FIPS 180-4).
    case sha512

    /// The number of hexadecimal digits of a digest.
    package var digitCount: Int {
      switch self {
      case .md5: 32
      case .sha1: 40
      case .sha256: 64
      case .sha512: 128
      }
    }

    /// Whether the algorithm is harder to forge than another, which is the order of the lengths.
    package func isStronger(than other: Self) -> Bool { digitCount > other.digitCount }

    /// Parses a name in any common spelling, such as `SHA-256`.
    package init?(named name: some StringProtocol) {
      let name = name.lowercased()
      self.init(rawValue: name.hasPrefix("sha-") ? "sha" + name.dropFirst(4) : name)
    }
  }

  /// The algorithm.
  public let algorithm: Algorithm
  /// The hexadecimal digits in lower case.
  public let hexadecimal: String

  /// The digest as stored in records: `sha256:` and the digits.
  public var text: String { "\(algorithm.rawValue):\(hexadecimal)" }

  /// Parses `md5:HEX`, `sha-1=HEX` (aria2's form), or the digits alone, whose number determines the
  /// algorithm.
  ///
  /// - Throws: ``RecordStoreError`` with `invalidDigest`.
  public init(_ text: String) throws(RecordStoreError) {
    let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) { ":=".contains($0) }
    let digits = (parts.last ?? "").lowercased()
    let algorithm =
      parts.count == 2
      ? Algorithm(named: parts[0])
      : Algorithm.allCases.first { $0.digitCount == digits.utf8.count }
    guard let algorithm else {
      throw Self.refusal(
        of: text,
        "write md5:, sha1:, sha256: or sha512: and hexadecimal digits"
      )
    }
    // `md5=x` would look like a secret.
    let shown = parts.joined(separator: ":")
    guard digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw Self.refusal(of: shown, "it has other characters than hexadecimal digits")
    }
    guard digits.utf8.count == algorithm.digitCount else {
      throw Self.refusal(
        of: shown,
        "\(algorithm.rawValue) has \(algorithm.digitCount) digits, and this has \(digits.utf8.count)"
      )
    }
    self.init(algorithm, hexadecimal: digits)
  }

  /// Returns the digest with the strongest algorithm of those that a file must have, in any order.
  ///
  /// - Returns: The digest; `nil` if there are none.
  /// - Throws: ``RecordStoreError`` with `invalidDigest` if two of that algorithm are different.
  package static func strongest(of digests: [Digest]) throws(RecordStoreError) -> Digest? {
    let strongest = digests.max { $1.algorithm.isStronger(than: $0.algorithm) }
    guard let strongest else { return nil }
    let algorithm = strongest.algorithm
    guard digests.allSatisfy({ $0.algorithm != algorithm || $0 == strongest }) else {
      throw RecordStoreError(
        .invalidDigest,
        "two different \(algorithm.rawValue) checksums are given for one file"
      )
    }
    return strongest
  }

  private static func refusal(of text: String, _ reason: String) -> RecordStoreError {
    RecordStoreError(
      .invalidDigest,
      "'\(Redaction.argument(text))' is not a digest: \(reason)"
    )
  }

  /// Creates a digest from its bytes; `nil` if their number is not that of the algorithm.
  package init?(_ algorithm: Algorithm, bytes: some Collection<UInt8>) {
    guard bytes.count * 2 == algorithm.digitCount else { return nil }
    self.init(algorithm, hexadecimal: Self.hexadecimal(bytes))
  }

  /// Returns two digits in lower case for each byte.
  static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let alphabet = Array("0123456789abcdef".utf8)
    let digits = bytes.flatMap { [alphabet[Int($0 >> 4)], alphabet[Int($0 & 15)]] }
    return String(decoding: digits, as: UTF8.self)
  }

  init(_ algorithm: Algorithm, hexadecimal: String) {
    self.algorithm = algorithm
    self.hexadecimal = hexadecimal
  }

  /// Reads the whole file, one mebibyte at a time.
  ///
  /// - Throws: ``FileReadError``.
  package static func ofFile(
    at path: String,
    _ algorithm: Algorithm = .sha256
  ) throws(FileReadError) -> Digest {
    let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileReadError(code: errno) }
    defer { close(descriptor) }
    var hasher = DigestHasher(algorithm)
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = pread(descriptor, into: &buffer, at: hasher.byteCount)
      if count > 0 {
        hasher.update(buffer.span.extracting(first: count))
      } else if count == 0 {
        return hasher.digest
      } else if errno != EINTR {
        throw FileReadError(code: errno)
      }
    }
  }
}
