#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension Column where Value: FieldValue & Comparable {
  /// Matches objects whose field is less than the value; strings compare by their UTF-8 bytes.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public static func < (column: Self, value: Value) -> Filter<Root> {
    column.compare(upper: value, includesUpper: false)
  }

  /// Matches objects whose field is at most the value; strings compare by their UTF-8 bytes.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public static func <= (column: Self, value: Value) -> Filter<Root> {
    column.compare(upper: value)
  }

  /// Matches objects whose field is greater than the value; strings compare by their UTF-8 bytes.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public static func > (column: Self, value: Value) -> Filter<Root> {
    column.compare(lower: value, includesLower: false)
  }

  /// Matches objects whose field is at least the value; strings compare by their UTF-8 bytes.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public static func >= (column: Self, value: Value) -> Filter<Root> {
    column.compare(lower: value)
  }

  /// Matches objects whose field lies between the bounds, both included; none if `lower > upper`.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  ///
  /// ```swift
  /// Note.where { $0.rank.between(1, 3) }
  /// ```
  public func between(_ lower: Value, _ upper: Value) -> Filter<Root> {
    compare(lower: lower, upper: upper)
  }

  /// Matches objects whose field lies in the range, both bounds included.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public func isIn(_ range: ClosedRange<Value>) -> Filter<Root> {
    compare(lower: range.lowerBound, upper: range.upperBound)
  }

  /// Matches objects whose field lies in the range, the upper bound excluded.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public func isIn(_ range: Range<Value>) -> Filter<Root> {
    compare(lower: range.lowerBound, upper: range.upperBound, includesUpper: false)
  }

  /// Matches objects whose field is at least the lower bound.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public func isIn(_ range: PartialRangeFrom<Value>) -> Filter<Root> {
    compare(lower: range.lowerBound)
  }

  /// Matches objects whose field is at most the upper bound.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public func isIn(_ range: PartialRangeThrough<Value>) -> Filter<Root> {
    compare(upper: range.upperBound)
  }

  /// Matches objects whose field is less than the upper bound.
  ///
  /// An index serves it, unless the type is a custom one with its own order.
  public func isIn(_ range: PartialRangeUpTo<Value>) -> Filter<Root> {
    compare(upper: range.upperBound, includesUpper: false)
  }

  // MARK: Implementation

  private func compare(
    lower: Value? = nil,
    includesLower: Bool = true,
    upper: Value? = nil,
    includesUpper: Bool = true
  ) -> Filter<Root> {
    let keys = KeyCondition.bounds(
      lower: lower?.storedBytes,
      upper: upper?.storedBytes,
      Value.fieldType
    )
    if Value.self == String.self {
      let (from, to) = (lower?.storedBytes, upper?.storedBytes)
      return filter(keys: keys) { stored throws(RecordError) in
        if let from {
          let order = stored.compare(to: from)
          guard order > 0 || (order == 0 && includesLower) else { return false }
        }
        guard let to else { return true }
        let order = stored.compare(to: to)
        return order < 0 || (order == 0 && includesUpper)
      }
    }
    if Value.self is any KeyOrdered.Type, let form = NumberForm(Value.fieldType) {
      let range = form.range(
        from: lower.map { form.word(of: $0) },
        includesLower,
        to: upper.map { form.word(of: $0) },
        includesUpper
      )
      guard let range else { return .none }
      return filter(.number(NumberTest(form, in: range)), keys: .numbers(form, [range]))
    }
    let usesKeyOrder = Value.self is any KeyOrdered.Type
    return filter(keys: usesKeyOrder ? keys : nil) { stored throws(RecordError) in
      let value = try ByteReader.reading(stored) { reader throws(RecordError) in
        try Value(from: &reader)
      }
      if let lower { guard includesLower ? value >= lower : value > lower else { return false } }
      if let upper { guard includesUpper ? value <= upper : value < upper else { return false } }
      return true
    }
  }
}

extension NumberForm {
  /// Returns the words between two bounds, or `nil` when there are none, as when a bound is NaN.
  func range(
    from lower: UInt64?,
    _ includesLower: Bool,
    to upper: UInt64?,
    _ includesUpper: Bool
  ) -> ClosedRange<UInt64>? {
    let all = comparable
    var (least, most) = (all.lowerBound, all.upperBound)
    if let lower {
      guard all.contains(lower), includesLower || lower < most else { return nil }
      least = includesLower ? lower : lower + 1
    }
    if let upper {
      guard all.contains(upper), includesUpper || upper > all.lowerBound else { return nil }
      most = includesUpper ? upper : upper - 1
    }
    return least <= most ? least...most : nil
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: Comparable {
  /// Matches objects whose field is not `nil` and less than the value.
  ///
  /// An index serves it as for a column that is not optional.
  public static func < (column: Self, value: Value.Wrapped) -> Filter<Root> {
    column.unwrapped < value
  }

  /// Matches objects whose field is not `nil` and at most the value.
  ///
  /// An index serves it as for a column that is not optional.
  public static func <= (column: Self, value: Value.Wrapped) -> Filter<Root> {
    column.unwrapped <= value
  }

  /// Matches objects whose field is not `nil` and greater than the value.
  ///
  /// An index serves it as for a column that is not optional.
  public static func > (column: Self, value: Value.Wrapped) -> Filter<Root> {
    column.unwrapped > value
  }

  /// Matches objects whose field is not `nil` and at least the value.
  ///
  /// An index serves it as for a column that is not optional.
  public static func >= (column: Self, value: Value.Wrapped) -> Filter<Root> {
    column.unwrapped >= value
  }

  /// Matches objects whose field is not `nil` and lies between the bounds, both included.
  ///
  /// An index serves it as for a column that is not optional.
  public func between(_ lower: Value.Wrapped, _ upper: Value.Wrapped) -> Filter<Root> {
    unwrapped.between(lower, upper)
  }

  /// Matches objects whose field is not `nil` and lies in the range, both bounds included.
  ///
  /// An index serves it as for a column that is not optional.
  public func isIn(_ range: ClosedRange<Value.Wrapped>) -> Filter<Root> {
    unwrapped.isIn(range)
  }

  /// Matches objects whose field is not `nil` and lies in the range, the upper bound excluded.
  ///
  /// An index serves it as for a column that is not optional.
  public func isIn(_ range: Range<Value.Wrapped>) -> Filter<Root> {
    unwrapped.isIn(range)
  }

  /// Matches objects whose field is not `nil` and at least the lower bound.
  ///
  /// An index serves it as for a column that is not optional.
  public func isIn(_ range: PartialRangeFrom<Value.Wrapped>) -> Filter<Root> {
    unwrapped.isIn(range)
  }

  /// Matches objects whose field is not `nil` and at most the upper bound.
  ///
  /// An index serves it as for a column that is not optional.
  public func isIn(_ range: PartialRangeThrough<Value.Wrapped>) -> Filter<Root> {
    unwrapped.isIn(range)
  }

  /// Matches objects whose field is not `nil` and less than the upper bound.
  ///
  /// An index serves it as for a column that is not optional.
  public func isIn(_ range: PartialRangeUpTo<Value.Wrapped>) -> Filter<Root> {
    unwrapped.isIn(range)
  }
}
