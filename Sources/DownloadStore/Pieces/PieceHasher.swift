internal import ObjectStore

/// The digest of one piece, from its blocks in order.
///
/// The digest that the engine records is the XXH64 of the XXH64s of the blocks, with the seed 0 and
/// little-endian, so that a piece of any length is read block by block.
package struct PieceHasher: Sendable {
  /// The length of a block in bytes; the last block of a piece may be shorter.
  package static let blockLength = 1 << 20

  private enum State {
    case recorded([UInt8])
    case required(DigestHasher)
  }

  private var state: State

  /// Creates a hasher.
  ///
  /// - Parameter algorithm: The algorithm that a publisher has chosen; `nil` for the recorded one.
  init(_ algorithm: Digest.Algorithm?) {
    state = algorithm.map { .required(DigestHasher($0)) } ?? .recorded([])
  }

  /// Adds the next block.
  package mutating func update(_ block: Span<UInt8>) {
    switch state {
    case .recorded(let hashes): state = .recorded(hashes + Self.xxh64(block))
    case .required(var hasher):
      hasher.update(block)
      state = .required(hasher)
    }
  }

  /// The digest of the blocks.
  package var digest: [UInt8] {
    switch state {
    case .recorded(let hashes): Self.xxh64(hashes.span)
    case .required(let hasher): hasher.digest.bytes
    }
  }

  private static func xxh64(_ bytes: Span<UInt8>) -> [UInt8] {
    let hash = unsafe bytes.withUnsafeBytes { unsafe XXHash64.hash($0, seed: 0) }
    // A digest of zeros means that there is none.
    let stored = max(hash, 1)
    return (0..<8).map { UInt8(truncatingIfNeeded: stored >> ($0 * 8)) }
  }
}
