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
}
