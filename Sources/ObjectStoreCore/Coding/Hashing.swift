/// XXH64 (xxHash specification, version 0.1.1), the hash of keys and the checksum of records.
///
/// It is fast, distributes well, and is implemented in every common language, so other programs can
/// read a store. It is not cryptographic: primary keys are hashed with a random seed of the store,
/// so that an attacker who does not know it cannot choose keys that collide.
package enum XXHash64 {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
    let count = bytes.count
    var offset = 0
    var hash: UInt64
    if count >= 32 {
      var lane1 = seed &+ prime1 &+ prime2
      var lane2 = seed &+ prime2
      var lane3 = seed
      var lane4 = seed &- prime1
      while offset <= count - 32 {
        lane1 = unsafe round(lane1, word(bytes, offset))
        lane2 = unsafe round(lane2, word(bytes, offset + 8))
        lane3 = unsafe round(lane3, word(bytes, offset + 16))
        lane4 = unsafe round(lane4, word(bytes, offset + 24))
        offset += 32
      }
      hash = rotate(lane1, 1) &+ rotate(lane2, 7) &+ rotate(lane3, 12) &+ rotate(lane4, 18)
      hash = merge(hash, lane1)
      hash = merge(hash, lane2)
      hash = merge(hash, lane3)
      hash = merge(hash, lane4)
    } else {
      hash = seed &+ prime5
    }
    hash &+= UInt64(count)
    while offset <= count - 8 {
      hash ^= unsafe round(0, word(bytes, offset))
      hash = rotate(hash, 27) &* prime1 &+ prime4
      offset += 8
    }
    if offset <= count - 4 {
      let half = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      hash ^= UInt64(UInt32(littleEndian: half)) &* prime1
      hash = rotate(hash, 23) &* prime2 &+ prime3
      offset += 4
    }
    while offset < count {
      hash ^= unsafe UInt64(bytes[offset]) &* prime5
      hash = rotate(hash, 11) &* prime1
      offset += 1
    }
    hash = (hash ^ (hash >> 33)) &* prime2
    hash = (hash ^ (hash >> 29)) &* prime3
    return hash ^ (hash >> 32)
  }

  package static func hash(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe hash($0, seed: seed) }
  }

  package static func hash(_ bytes: RawSpan, seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe hash($0, seed: seed) }
  }

  static func hash(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
    unsafe bytes.withUnsafeBytes { unsafe hash($0, seed: seed) }
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    unsafe UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  @inline(__always)
  private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
    (value << count) | (value >> (64 - count))
  }

  @inline(__always)
  private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
    rotate(lane &+ input &* prime2, 31) &* prime1
  }

  @inline(__always)
  private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
    (hash ^ round(0, lane)) &* prime1 &+ prime4
  }
}

/// The 32-bit FNV-1a hash, from which the ids of fields and indexes are derived.
struct FNV1a {
  private(set) var hash: UInt32 = 2_166_136_261

  mutating func combine(_ byte: UInt8) {
    hash = (hash ^ UInt32(byte)) &* 16_777_619
  }

  /// Combines the four bytes of the number in little-endian order.
  mutating func combine(_ number: UInt32) {
    for shift in stride(from: 0, to: 32, by: 8) {
      combine(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
    }
  }
}
