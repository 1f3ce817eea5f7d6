import Foundation

@testable import ObjectStoreCore
@testable import ObjectStoreMaintenance
@testable import ObjectStoreMigration

/// Makes keys of 16 bytes whose XXH64 has a given value.
///
/// XXH64 is invertible for two words if the first one is given.
struct CollidingKeys {
  let seed: UInt64

  private static let primes: [UInt64] = [
    0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5,
  ]

  /// Returns the key with this hash and these first eight bytes.
  func key(withHash hash: UInt64, first: UInt64) -> Data {
    let primes = Self.primes
    var end = Self.undoShift(hash, 32) &* Self.inverse(primes[2])
    end = Self.undoShift(end, 29) &* Self.inverse(primes[1])
    end = Self.undoShift(end, 33)
    let start = seed &+ primes[4] &+ 16
    let middle =
      Self.rotate(start ^ Self.round(first), 27) &* primes[0] &+ primes[3]
    let mixed = Self.rotate((end &- primes[3]) &* Self.inverse(primes[0]), 64 - 27) ^ middle
    let second =
      Self.rotate(mixed &* Self.inverse(primes[0]), 64 - 31) &* Self.inverse(primes[1])
    var bytes: [UInt8] = []
    for word in [first, second] {
      for shift in stride(from: UInt64(0), to: 64, by: 8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> shift))
      }
    }
    return Data(bytes)
  }

  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    (value << count) | (value >> (64 - count))
  }

  private static func round(_ input: UInt64) -> UInt64 {
    rotate(input &* primes[1], 31) &* primes[0]
  }

  /// Inverts `value ^ (value >> count)`.
  private static func undoShift(_ value: UInt64, _ count: UInt64) -> UInt64 {
    var result = value
    for _ in 0..<(64 / count + 1) { result = value ^ (result >> count) }
    return result
  }

  /// The inverse of an odd number modulo 2^64, by Newton's method.
  private static func inverse(_ value: UInt64) -> UInt64 {
    var result = value
    for _ in 0..<6 { result = result &* (2 &- value &* result) }
    return result
  }
}
