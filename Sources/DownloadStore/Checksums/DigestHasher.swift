internal import Crypto

/// An incremental digest.
///
/// Its state cannot be saved, so a later process has to read the bytes again.
package struct DigestHasher {
  /// The algorithm.
  package let algorithm: Digest.Algorithm
  /// The number of bytes added so far.
  package private(set) var byteCount: Int64 = 0
  private var function: any HashFunction

  /// Creates a digest of no bytes.
  package init(_ algorithm: Digest.Algorithm) {
    self.algorithm = algorithm
    function =
      switch algorithm {
      case .md5: Insecure.MD5()
      case .sha1: Insecure.SHA1()
      case .sha256: SHA256()
      case .sha512: SHA512()
      }
  }

  /// Adds the next bytes.
  package mutating func update(_ bytes: Span<UInt8>) {
    byteCount += Int64(bytes.count)
    function.update(bytes)
  }

  /// The digest of the bytes added so far; more may be added.
  package var digest: Digest {
    Digest(algorithm, hexadecimal: function.hexadecimal)
  }
}

extension HashFunction {
  /// Adds the next bytes.
  mutating func update(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBytes { unsafe update(bufferPointer: $0) }
  }

  // `Digest` alone would be the type of this function's result.
  fileprivate var hexadecimal: String { DownloadStore.Digest.hexadecimal(finalize()) }
}
