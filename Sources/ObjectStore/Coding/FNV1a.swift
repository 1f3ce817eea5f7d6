/// The FNV-1a hash of 32 bits, which gives fields and indexes their ids.
struct FNV1a {
  private(set) var hash: UInt32 = 2_166_136_261

  mutating func combine(_ byte: UInt8) {
    hash = (hash ^ UInt32(byte)) &* 16_777_619
  }

  /// Takes the four bytes of the number, the lowest first.
  mutating func combine(_ number: UInt32) {
    for shift in stride(from: 0, to: 32, by: 8) {
      combine(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
    }
  }
}
