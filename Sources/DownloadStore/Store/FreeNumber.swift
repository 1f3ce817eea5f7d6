/// The search for a number that makes a file name unique.
enum FreeNumber {
  /// The largest number that is tried.
  static let largest = 1 << 30

  /// Returns a free number.
  ///
  /// Thousands of URLs may suggest the same name: the number is found by doubling, then by bisection
  /// of the run of taken numbers.
  ///
  /// - Parameters:
  ///   - number: A taken number, at least 1.
  ///   - isFree: Whether a number is free.
  /// - Returns: The number.
  /// - Throws: ``RecordStoreError`` with `nameTaken` if no number up to ``largest`` is free; the error
  ///   of `isFree`.
  /// - Complexity: O(log n) calls of `isFree` for n taken numbers.
  static func find(after number: Int, isFree: (Int) throws -> Bool) throws -> Int {
    var taken = number
    var free = number + 1
    var step = 1
    while try !isFree(free) {
      taken = free
      guard free < largest else {
        throw RecordStoreError(
          .nameTaken,
          "a file name is taken with every number up to \(largest)"
        )
      }
      step *= 2
      free = min(largest, free + step)
    }
    while free - taken > 1 {
      let middle = (taken + free) / 2
      if try isFree(middle) { free = middle } else { taken = middle }
    }
    return free
  }
}
