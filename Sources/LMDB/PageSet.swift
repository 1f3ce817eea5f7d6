/// A set of page numbers, stored as a bitmap.
struct PageSet: Equatable {
  private var words: [UInt64]
  private let limit: UInt64

  /// Creates an empty set for the numbers below `limit`.
  init(limit: UInt64) {
    self.limit = limit
    words = Array(repeating: 0, count: Int(limit / 64) + 1)
  }

  /// Inserts a number; returns false if it is already a member or not below the limit.
  mutating func insert(_ number: UInt64) -> Bool {
    guard number < limit else { return false }
    let bit: UInt64 = 1 << (number % 64)
    guard words[Int(number / 64)] & bit == 0 else { return false }
    words[Int(number / 64)] |= bit
    return true
  }
}
