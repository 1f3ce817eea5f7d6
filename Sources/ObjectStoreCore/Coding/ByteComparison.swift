internal import SystemInterface

extension UnsafeRawBufferPointer {
  /// Whether both buffers have the same length and the same bytes from `start` on.
  package func isSame(as other: UnsafeRawBufferPointer, from start: Int = 0) -> Bool {
    guard count == other.count else { return false }
    guard count > start, let one = baseAddress, let two = other.baseAddress else {
      return true
    }
    return unsafe memcmp(one + start, two + start, count - start) == 0
  }

  /// Whether both have the same length and the same bytes.
  func isSame(as other: [UInt8]) -> Bool {
    unsafe other.withUnsafeBytes { unsafe isSame(as: $0) }
  }

  /// Compares two byte strings lexicographically.
  ///
  /// The result is negative when this one sorts first, 0 when they are equal, and otherwise
  /// positive: the order of LMDB's default comparison.
  func compare(to other: UnsafeRawBufferPointer) -> Int {
    let common = Swift.min(count, other.count)
    if common > 0, let one = baseAddress, let two = other.baseAddress {
      let order = unsafe memcmp(one, two, common)
      if order != 0 { return Int(order) }
    }
    return count - other.count
  }

  /// Compares two byte strings lexicographically.
  func compare(to other: [UInt8]) -> Int {
    unsafe other.withUnsafeBytes { unsafe compare(to: $0) }
  }

  /// Whether `other` occurs as a contiguous part of these bytes.
  func contains(_ other: [UInt8]) -> Bool {
    guard let first = other.first else { return true }
    return unsafe other.withUnsafeBytes { part in
      var rest = unsafe self
      while rest.count >= part.count, let base = rest.baseAddress, let start = part.baseAddress {
        let searchCount = rest.count - part.count + 1
        guard let found = unsafe memchr(base, Int32(first), searchCount) else { return false }
        if unsafe memcmp(found, start, part.count) == 0 { return true }
        let next = unsafe UnsafeRawPointer(found) - base + 1
        unsafe rest = unsafe UnsafeRawBufferPointer(rebasing: rest[next...])
      }
      return false
    }
  }
}

extension RawSpan {
  /// Whether both have the same length and the same bytes.
  @inline(__always)
  func isSame(as other: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { unsafe $0.isSame(as: other) }
  }

  /// Compares two byte strings lexicographically.
  @inline(__always)
  func compare(to other: [UInt8]) -> Int {
    unsafe withUnsafeBytes { unsafe $0.compare(to: other) }
  }

  /// Whether `other` occurs as a contiguous part of these bytes.
  func contains(_ other: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { unsafe $0.contains(other) }
  }

  /// Whether the bytes begin with others.
  func hasPrefix(_ other: [UInt8]) -> Bool {
    byteCount >= other.count && extracting(first: other.count).isSame(as: other)
  }

  /// Whether the bytes end with others.
  func hasSuffix(_ other: [UInt8]) -> Bool {
    byteCount >= other.count && extracting(last: other.count).isSame(as: other)
  }
}

extension [UInt8] {
  /// Whether these bytes sort before `other` lexicographically.
  ///
  /// Faster than `lexicographicallyPrecedes`, which compares them one by one.
  func precedes(_ other: [UInt8]) -> Bool {
    unsafe withUnsafeBytes { unsafe $0.compare(to: other) < 0 }
  }
}
