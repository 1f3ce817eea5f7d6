internal import ObjectStore

/// The digest of one piece, from its blocks in order.
///
/// The digest that the engine records is the XXH64 of the XXH64s of the blocks, with the seed 0 and
/// little-endian, so that a piece of any length is read block by block.
package struct PieceHasher: Sendable {
  /// The length of a block in bytes; the last block of a piece may be shorter.
  ///
  /// A block fits into the processor's cache between its read and its hash.
  package static let blockLength = 1 << 16

  /// The digest that a publisher requires; `nil` for the recorded one.
  private var required: DigestHasher?
  /// The hashes of the blocks, for the recorded digest.
  private var hashes: [UInt8] = []

  /// Creates a hasher.
  ///
  /// - Parameter algorithm: The algorithm that a publisher has chosen; `nil` for the recorded one.
  init(_ algorithm: Digest.Algorithm?) {
    required = algorithm.map { DigestHasher($0) }
  }

  /// Adds the next block.
  package mutating func update(_ block: Span<UInt8>) {
    if required != nil {
      required?.update(block)
    } else {
      hashes += Self.xxh64(block)
    }
  }

  /// The digest of the blocks.
  package var digest: [UInt8] { required?.digest.bytes ?? Self.xxh64(hashes.span) }

  private static func xxh64(_ bytes: Span<UInt8>) -> [UInt8] {
    let hash = unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: 0) }
    // A digest of zeros means that there is none.
    let stored = max(hash, 1)
    return (0..<8).map { UInt8(truncatingIfNeeded: stored >> ($0 * 8)) }
  }
}
