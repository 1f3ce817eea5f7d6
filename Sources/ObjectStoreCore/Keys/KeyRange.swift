/// A half-open range of index keys: `lower` is included, `upper` is not.
struct KeyRange: Sendable, Hashable {
  var lower: [UInt8]
  /// The upper bound; `nil` for a range without one.
  var upper: [UInt8]?

  /// The range of all keys that start with `prefix`.
  static func prefix(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(lower: prefix, upper: successor(of: prefix))
  }

  /// The smallest key that is greater than every key with that prefix; `nil` if there is none.
  static func successor(of prefix: [UInt8]) -> [UInt8]? {
    var key = prefix
    while let last = key.last {
      if last < 0xFF {
        key[key.count - 1] = last + 1
        return key
      }
      key.removeLast()
    }
    return nil
  }

  /// Whether the range contains no keys.
  var isEmpty: Bool {
    guard let upper else { return false }
    return !lower.precedes(upper)
  }

  /// Whether all keys of the range are less than `key`.
  func ends(before key: [UInt8]) -> Bool {
    guard let upper else { return false }
    return !key.precedes(upper)
  }

  /// Whether the upper bound is at most that of the other range.
  private func endsNoLater(than other: KeyRange) -> Bool {
    guard let end = other.upper else { return true }
    guard let upper else { return false }
    return !end.precedes(upper)
  }

  /// The keys that are in both ranges.
  func intersection(_ other: KeyRange) -> KeyRange {
    let later = lower.precedes(other.lower) ? other.lower : lower
    guard let upper else { return KeyRange(lower: later, upper: other.upper) }
    guard let end = other.upper else { return KeyRange(lower: later, upper: upper) }
    return KeyRange(
      lower: later,
      upper: upper.precedes(end) ? upper : end
    )
  }

  /// The keys that are in any of the ranges, as sorted, disjoint ranges.
  static func union(_ ranges: [KeyRange]) -> [KeyRange] {
    let sorted = ranges.filter { !$0.isEmpty }
      .sorted { $0.lower.precedes($1.lower) }
    var union: [KeyRange] = []
    for range in sorted {
      guard let last = union.last, !last.ends(before: range.lower) else {
        union.append(range)
        continue
      }
      guard let end = last.upper else { continue }
      if let upper = range.upper, !end.precedes(upper) { continue }
      union[union.count - 1].upper = range.upper
    }
    return union
  }

  /// The keys that are in a range of each list; both lists are sorted and disjoint.
  static func intersection(_ left: [KeyRange], _ right: [KeyRange]) -> [KeyRange] {
    var common: [KeyRange] = []
    var (one, other) = (0, 0)
    while one < left.count, other < right.count {
      let both = left[one].intersection(right[other])
      if !both.isEmpty { common.append(both) }
      // The range that ends first cannot intersect later ranges of the other list.
      if left[one].endsNoLater(than: right[other]) { one += 1 } else { other += 1 }
    }
    return common
  }

  /// The range of keys that consist of `prefix` followed by a key of this range.
  func after(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(
      lower: prefix + lower,
      upper: upper.map { prefix + $0 } ?? Self.successor(of: prefix)
    )
  }
}
