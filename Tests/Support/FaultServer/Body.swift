#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// The content of a resource: bytes that are stored, or bytes that are computed where needed.
public struct Body: Sendable {
  private enum Storage {
    case stored([UInt8])
    case generated(byteCount: Int64, table: [UInt8], seed: UInt64)
  }

  /// Generated content is made of pages of this many bytes.
  private static let pageSize = 65_536

  private let storage: Storage

  /// A body of the given bytes.
  public static func bytes(_ bytes: [UInt8]) -> Body {
    Body(storage: .stored(bytes))
  }

  /// A body of the UTF-8 bytes of `text`.
  public static func text(_ text: String) -> Body {
    Body(storage: .stored(Array(text.utf8)))
  }

  /// A body of `byteCount` pseudo-random bytes that depend on `seed` and their offset alone.
  ///
  /// It costs 128 KiB whatever its size: page *n* of 64 KiB is a window, chosen by *n* and the seed,
  /// into a random table. Pages differ, so a byte at a wrong offset is found.
  public static func generated(byteCount: Int64, seed: UInt64 = 1) -> Body {
    precondition(byteCount >= 0, "a body has no negative size")
    var table: [UInt8] = []
    table.reserveCapacity(2 * pageSize)
    var index: UInt64 = 0
    while table.count < 2 * pageSize {
      let word = mix(seed, index)
      for shift in 0..<8 {
        table.append(UInt8(truncatingIfNeeded: word >> (UInt64(shift) * 8)))
      }
      index += 1
    }
    return Body(storage: .generated(byteCount: byteCount, table: table, seed: seed))
  }

  /// The size in bytes.
  public var byteCount: Int64 {
    switch storage {
    case .stored(let bytes): Int64(bytes.count)
    case .generated(let byteCount, _, _): byteCount
    }
  }

  /// The bytes from `offset` on, at most `count`, fewer at the end of the body.
  public func bytes(at offset: Int64, count: Int) -> [UInt8] {
    let end = min(byteCount, offset + Int64(count))
    guard offset >= 0, offset < end else { return [] }
    switch storage {
    case .stored(let bytes):
      return Array(bytes[Int(offset)..<Int(end)])
    case .generated(_, let table, let seed):
      var result: [UInt8] = []
      result.reserveCapacity(Int(end - offset))
      var position = offset
      while position < end {
        let (page, within) = position.quotientAndRemainder(dividingBy: Int64(Self.pageSize))
        let window = Int(Self.mix(~seed, UInt64(page)) % UInt64(Self.pageSize))
        let length = min(Self.pageSize - Int(within), Int(end - position))
        let start = window + Int(within)
        result.append(contentsOf: table[start..<start + length])
        position += Int64(length)
      }
      return result
    }
  }

  /// Whether `bytes` are what the body has at `offset`.
  public func matches(_ bytes: Span<UInt8>, at offset: Int64) -> Bool {
    let expected = self.bytes(at: offset, count: bytes.count)
    guard expected.count == bytes.count else { return false }
    return unsafe expected.withUnsafeBytes { left in
      unsafe bytes.withUnsafeBytes { right in
        guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else {
          return true
        }
        return unsafe memcmp(leftBase, rightBase, left.count) == 0
      }
    }
  }

  /// SplitMix64's output function over a seed and a counter: any place is computed by itself.
  private static func mix(_ seed: UInt64, _ index: UInt64) -> UInt64 {
    var z = seed &+ (index &+ 1) &* 0x9E37_79B9_7F4A_7C15
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
