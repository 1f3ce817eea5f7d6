/// A range of index keys: from `lower` on, up to and not including `upper`.
struct KeyRange: Sendable, Hashable {
  var lower: [UInt8]
  /// `nil`: to the end.
  var upper: [UInt8]?

  /// All keys that begin with `prefix`.
  static func prefix(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(lower: prefix, upper: successor(of: prefix))
  }

  /// The least key that is greater than every key with that prefix; `nil` when there is none.
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

  /// Whether there can be no key in the range.
  var isEmpty: Bool {
    guard let upper else { return false }
    return !lower.lexicographicallyPrecedes(upper)
  }

  /// Whether the range ends before a key, which is then past it.
  func ends(before key: [UInt8]) -> Bool {
    guard let upper else { return false }
    return !key.lexicographicallyPrecedes(upper)
  }

  /// Whether the other range goes as far at least.
  private func endsNoLater(than other: KeyRange) -> Bool {
    guard let end = other.upper else { return true }
    guard let upper else { return false }
    return !end.lexicographicallyPrecedes(upper)
  }

  /// The keys that are in both.
  func intersection(_ other: KeyRange) -> KeyRange {
    let later = lower.lexicographicallyPrecedes(other.lower) ? other.lower : lower
    guard let upper else { return KeyRange(lower: later, upper: other.upper) }
    guard let end = other.upper else { return KeyRange(lower: later, upper: upper) }
    return KeyRange(
      lower: later,
      upper: upper.lexicographicallyPrecedes(end) ? upper : end
    )
  }

  /// The keys that are in any of the ranges, as ranges in order and apart from each other.
  static func union(_ ranges: [KeyRange]) -> [KeyRange] {
    let sorted = ranges.filter { !$0.isEmpty }
      .sorted { $0.lower.lexicographicallyPrecedes($1.lower) }
    var union: [KeyRange] = []
    for range in sorted {
      guard let last = union.last, !last.ends(before: range.lower) else {
        union.append(range)
        continue
      }
      guard let end = last.upper else { continue }
      if let upper = range.upper, !end.lexicographicallyPrecedes(upper) { continue }
      union[union.count - 1].upper = range.upper
    }
    return union
  }

  /// The keys that are in a range of the one list and in one of the other; both are in order.
  static func intersection(_ left: [KeyRange], _ right: [KeyRange]) -> [KeyRange] {
    var common: [KeyRange] = []
    var (one, other) = (0, 0)
    while one < left.count, other < right.count {
      let both = left[one].intersection(right[other])
      if !both.isEmpty { common.append(both) }
      // The one that ends first meets no more of the other list.
      if left[one].endsNoLater(than: right[other]) { one += 1 } else { other += 1 }
    }
    return common
  }

  /// The keys of an index that begin with `prefix` and go on with a key of this range.
  func after(_ prefix: [UInt8]) -> KeyRange {
    KeyRange(
      lower: prefix + lower,
      upper: upper.map { prefix + $0 } ?? Self.successor(of: prefix)
    )
  }
}
