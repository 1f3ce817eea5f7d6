internal import Crypto
internal import Foundation

/// A digest that a file must have: `sha256:` and 64 hexadecimal digits.
public struct Digest: Sendable, Hashable {
  /// The digits, in lower case.
  public let hexadecimal: String

  /// The digest as records keep it.
  public var text: String { "sha256:\(hexadecimal)" }

  /// Reads a digest as people write it: `sha256:HEX`, `sha-256=HEX`, or the digits alone.
  ///
  /// - Throws: ``DownloadStoreError`` with `invalidDigest`.
  public init(_ text: String) throws(DownloadStoreError) {
    var digits = text.lowercased()
    for prefix in ["sha256:", "sha-256:", "sha256=", "sha-256="] where digits.hasPrefix(prefix) {
      digits.removeFirst(prefix.count)
      break
    }
    guard digits.utf8.count == 64, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
      throw DownloadStoreError(
        .invalidDigest,
        "'\(text)' is not a digest: write sha256: and 64 hexadecimal digits"
      )
    }
    hexadecimal = digits
  }

  private init(_ digest: SHA256.Digest) {
    hexadecimal = digest.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }
    .joined()
  }

  /// Reads the whole file, one mebibyte at a time.
  ///
  /// - Throws: What the file system answers.
  public static func ofFile(at path: String) throws -> Digest {
    let handle = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? handle.close() }
    var hasher = SHA256()
    while let bytes = try handle.read(upToCount: 1 << 20), !bytes.isEmpty {
      hasher.update(data: bytes)
    }
    return Digest(hasher.finalize())
  }
}
