#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes, of which the first `start` do not count.
  func isSame(as other: UnsafeRawBufferPointer, from start: Int = 0) -> Bool {
    guard count == other.count else { return false }
    guard count > start, let one = baseAddress, let two = other.baseAddress else {
      return true
    }
    return unsafe memcmp(one + start, two + start, count - start) == 0
  }

  /// Whether both hold the same bytes.
  func isSame(as other: [UInt8]) -> Bool {
    unsafe other.withUnsafeBytes { unsafe isSame(as: $0) }
  }

  /// How the bytes stand to others: less than 0 when they come first, as in a dictionary.
  func compare(to other: UnsafeRawBufferPointer) -> Int {
    let common = Swift.min(count, other.count)
    if common > 0, let one = baseAddress, let two = other.baseAddress {
      let standing = unsafe memcmp(one, two, common)
      if standing != 0 { return Int(standing) }
    }
    return count - other.count
  }

  /// How the bytes stand to others: less than 0 when they come first, as in a dictionary.
  func compare(to other: [UInt8]) -> Int {
    unsafe other.withUnsafeBytes { unsafe compare(to: $0) }
  }

  /// Whether the bytes occur in these, one after another.
  func contains(_ other: [UInt8]) -> Bool {
    guard let first = other.first else { return true }
    return unsafe other.withUnsafeBytes { part in
      var rest = unsafe self
      while rest.count >= part.count, let base = rest.baseAddress, let start = part.baseAddress {
        let room = rest.count - part.count + 1
        guard let found = unsafe memchr(base, Int32(first), room) else { return false }
        if unsafe memcmp(found, start, part.count) == 0 { return true }
        let passed = unsafe UnsafeRawPointer(found) - base + 1
        unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[passed...])
      }
      return false
    }
  }
}

extension [UInt8] {
  /// Whether the bytes come before others, as in a dictionary.
  func precedes(_ other: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { unsafe $0.compare(to: other) < 0 }
  }
}
