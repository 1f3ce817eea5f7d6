internal import ObjectStore

/// The digest of one piece, from its blocks in order.
///
/// The digest that the engine records is the XXH64 of the XXH64s of the blocks, with the seed 0 and
/// little-endian, so that a piece of any length is read block by block.
package struct PieceHasher {
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
      update(withHash: Self.hash(ofBlock: block))
    }
  }

  /// Adds the next block of a recorded digest by its hash.
  package mutating func update(withHash hash: UInt64) {
    hashes += Self.bytes(hash)
  }

  /// The digest of the blocks.
  package var digest: [UInt8] {
    required?.digest.bytes ?? Self.bytes(Self.hash(ofBlock: hashes.span))
  }

  /// Returns the hash of a block of a recorded digest.
  package static func hash(ofBlock bytes: Span<UInt8>) -> UInt64 {
    let hash = XXHash64.hash(bytes, seed: 0)
    // A digest of zeros means that there is none.
    return max(hash, 1)
  }

  private static func bytes(_ hash: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: hash >> ($0 * 8)) }
  }
}
