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
  }

  /// Any of these may narrow the search; each alone keeps every match.
  let hints: [IndexHint]
  let matches: @Sendable (borrowing RecordView) throws(RecordError) -> Bool

  init(
    hints: [IndexHint] = [],
    matches: @escaping @Sendable (borrowing RecordView) throws(RecordError) -> Bool
  ) {
    self.hints = hints
    self.matches = matches
  }

  /// A condition that every object meets.
  public static var all: Self { Self { _ in true } }

  /// Both conditions.
  public static func && (left: Self, right: Self) -> Self {
    Self(hints: left.hints + right.hints) { record throws(RecordError) in
      guard try left.matches(record) else { return false }
      return try right.matches(record)
    }
  }

  /// Either condition, or both.
  public static func || (left: Self, right: Self) -> Self {
    var hints: [IndexHint] = []
    for one in left.hints {
      for other in right.hints where other.position == one.position {
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
