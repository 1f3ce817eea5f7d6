/// A condition on the stored fields of a model, made with the operators on its columns.
///
/// It is evaluated on the bytes of the record: fields that it does not name are not decoded.
public struct Predicate<Root: Model>: Sendable {
  /// What an index can say before a record is looked at.
  struct IndexHint: Sendable {
    var position: Int
    /// Every record that matches has an index key in one of these ranges.
    var ranges: [KeyRange]
    /// Whether each range is one value.
    var isExact: Bool

    /// Whether fewer candidates are to be expected than from `other`: single values before
    /// ranges, fewer before more.
    func isBetter(than other: IndexHint) -> Bool {
      if isExact != other.isExact { return isExact }
      return ranges.count < other.ranges.count
    }

    /// The best hint for each field, in the order of the fields.
    static func best(of hints: [IndexHint]) -> [IndexHint] {
      var best: [Int: IndexHint] = [:]
      for hint in hints {
        guard let rival = best[hint.position], !hint.isBetter(than: rival) else {
          best[hint.position] = hint
          continue
        }
      }
      return best.values.sorted { $0.position < $1.position }
    }
  }

  /// Any of these may narrow the search; each alone keeps every match.
  let hints: [IndexHint]
  /// Whether every object is known to match.
  let isAlwaysTrue: Bool
  let matches: @Sendable (borrowing RecordView) throws(RecordError) -> Bool

  init(
    hints: [IndexHint] = [],
    isAlwaysTrue: Bool = false,
    matches: @escaping @Sendable (borrowing RecordView) throws(RecordError) -> Bool
  ) {
    self.hints = hints
    self.isAlwaysTrue = isAlwaysTrue
    self.matches = matches
  }

  /// A condition that every object meets.
  public static var all: Self { Self(isAlwaysTrue: true) { _ in true } }

  /// Both conditions.
  public static func && (left: Self, right: Self) -> Self {
    if left.isAlwaysTrue { return right }
    if right.isAlwaysTrue { return left }
    return Self(hints: left.hints + right.hints) { record throws(RecordError) in
      guard try left.matches(record) else { return false }
      return try right.matches(record)
    }
  }

  /// Either condition, or both.
  public static func || (left: Self, right: Self) -> Self {
    var hints: [IndexHint] = []
    // One hint for a field on each side is enough, and keeps long chains from multiplying.
    for one in IndexHint.best(of: left.hints) {
      for other in IndexHint.best(of: right.hints) where other.position == one.position {
        hints.append(
          IndexHint(
            position: one.position,
            ranges: one.ranges + other.ranges,
            isExact: one.isExact && other.isExact
          )
        )
      }
    }
    return Self(hints: hints) { record throws(RecordError) in
      if try left.matches(record) { return true }
      return try right.matches(record)
    }
  }

  /// The opposite.
  ///
  /// No index serves it.
  public static prefix func ! (predicate: Self) -> Self {
    Self { record throws(RecordError) in !(try predicate.matches(record)) }
  }
}
