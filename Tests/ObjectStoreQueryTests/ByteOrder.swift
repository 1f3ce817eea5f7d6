import Foundation

/// Comparisons of strings by their bytes, as a store compares them.
///
/// The expected result of a query needs them for each row. The collections of the standard library
/// compare one byte at a time, which is slow without optimization.
extension String {
  /// Returns a negative number if this string sorts before `other`, and 0 if they are equal.
  func compareBytes(to other: String) -> Int {
    unsafe withBytes(of: other) { own, other in
      let common = min(own.count, other.count)
      if common > 0, let one = own.baseAddress, let two = other.baseAddress {
        let order = unsafe memcmp(one, two, common)
        if order != 0 { return Int(order) }
      }
      return own.count - other.count
    }
  }

  func hasBytePrefix(_ part: String) -> Bool {
    unsafe withBytes(of: part) { unsafe Self.isPart($1, of: $0, at: 0) }
  }

  func hasByteSuffix(_ part: String) -> Bool {
    unsafe withBytes(of: part) { unsafe Self.isPart($1, of: $0, at: $0.count - $1.count) }
  }

  func containsBytes(_ part: String) -> Bool {
    unsafe withBytes(of: part) { own, part in
      guard part.count <= own.count else { return false }
      for offset in 0...(own.count - part.count)
      where unsafe Self.isPart(part, of: own, at: offset) {
        return true
      }
      return false
    }
  }

  private static func isPart(
    _ part: UnsafeBufferPointer<UInt8>,
    of whole: UnsafeBufferPointer<UInt8>,
    at offset: Int
  ) -> Bool {
    guard offset >= 0, whole.count - offset >= part.count else { return false }
    guard part.count > 0, let one = whole.baseAddress, let two = part.baseAddress else {
      return true
    }
    return unsafe memcmp(one + offset, two, part.count) == 0
  }

  private func withBytes<Result>(
    of other: String,
    _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    var (own, other) = (self, other)
    return own.withUTF8 { own in other.withUTF8 { unsafe body(own, $0) } }
  }
}
