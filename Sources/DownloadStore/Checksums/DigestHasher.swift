internal import Crypto

/// A digest in the making: takes bytes piece by piece, in their order.
///
/// Its state lives in memory alone. The cryptographic library has no way to save it, so a later
/// process has to read the bytes again.
public struct DigestHasher: Sendable {
  /// How the digest is computed.
  public let algorithm: Digest.Algorithm
  /// How many bytes it has taken.
  public private(set) var byteCount: Int64 = 0
  private var function: any (HashFunction & Sendable)

  /// Begins a digest.
  public init(_ algorithm: Digest.Algorithm) {
    self.algorithm = algorithm
    function =
      switch algorithm {
      case .md5: Insecure.MD5()
      case .sha1: Insecure.SHA1()
      case .sha256: SHA256()
      case .sha512: SHA512()
      }
  }

  /// Takes the next bytes.
  public mutating func update(_ bytes: Span<UInt8>) {
    byteCount += Int64(bytes.count)
    unsafe bytes.withUnsafeBytes { unsafe function.update(bufferPointer: $0) }
  }

  /// The digest of the bytes so far; more may follow.
  public var digest: Digest {
    Digest(algorithm, hexadecimal: function.hexadecimal)
  }
}

extension HashFunction {
  fileprivate var hexadecimal: String {
    let alphabet = Array("0123456789abcdef".utf8)
    let digits = finalize().flatMap { [alphabet[Int($0 >> 4)], alphabet[Int($0 & 15)]] }
    return String(decoding: digits, as: UTF8.self)
  }
}
