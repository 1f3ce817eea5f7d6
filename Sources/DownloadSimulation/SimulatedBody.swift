/// The bytes of a simulated file.
///
/// Each follows from the seed and its position, so none is stored and all can be checked.
public struct SimulatedBody: Sendable, Hashable {
  /// The seed; bodies of the same size differ by it.
  public var seed: UInt64
  /// The size in bytes.
  public var byteCount: Int64

  /// Creates a body.
  public init(seed: UInt64, byteCount: Int64) {
    self.seed = seed
    self.byteCount = byteCount
  }

  /// The bytes of a range, which must be within the body.
  public subscript(part: Range<Int64>) -> [UInt8] {
    precondition(part.lowerBound >= 0 && part.upperBound <= byteCount, "beyond the body")
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(part.upperBound - part.lowerBound))
    var word = 0 as UInt64
    // Not `for … in`, which takes several times as long without optimization.
    var offset = part.lowerBound
    while offset < part.upperBound {
      if offset % 8 == 0 || offset == part.lowerBound { word = self.word(UInt64(offset) / 8) }
      bytes.append(UInt8(truncatingIfNeeded: word >> (UInt64(offset % 8) * 8)))
      offset += 1
    }
    return bytes
  }

  /// Whether the bytes equal those of the body at `offset`.
  public func matches(_ bytes: some Collection<UInt8>, from offset: Int64 = 0) -> Bool {
    let end = offset + Int64(bytes.count)
    return offset >= 0 && end <= byteCount && self[offset..<end].elementsEqual(bytes)
  }

  /// Eight bytes, by the finalizer of SplitMix64 (Steele, Lea, Flood 2014).
  private func word(_ index: UInt64) -> UInt64 {
    var mixed = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
