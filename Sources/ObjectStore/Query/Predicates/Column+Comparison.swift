extension Column where Value: FieldValue & Comparable {
  /// Objects whose field is less; texts compare by their UTF-8 bytes.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public static func < (column: Self, value: Value) -> Predicate<Root> {
    column.compare(upper: value, takesUpper: false)
  }

  /// Objects whose field is less or the same; texts compare by their UTF-8 bytes.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public static func <= (column: Self, value: Value) -> Predicate<Root> {
    column.compare(upper: value)
  }

  /// Objects whose field is greater; texts compare by their UTF-8 bytes.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public static func > (column: Self, value: Value) -> Predicate<Root> {
    column.compare(lower: value, takesLower: false)
  }

  /// Objects whose field is greater or the same; texts compare by their UTF-8 bytes.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public static func >= (column: Self, value: Value) -> Predicate<Root> {
    column.compare(lower: value)
  }

  /// Objects whose field lies from the one value up to and with the other; none when the first is
  /// greater.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public func between(_ lower: Value, _ upper: Value) -> Predicate<Root> {
    compare(lower: lower, upper: upper)
  }

  /// Objects whose field lies in the range, both ends included.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public func isIn(_ range: ClosedRange<Value>) -> Predicate<Root> {
    compare(lower: range.lowerBound, upper: range.upperBound)
  }

  /// Objects whose field lies in the range, the upper end left out.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public func isIn(_ range: Range<Value>) -> Predicate<Root> {
    compare(lower: range.lowerBound, upper: range.upperBound, takesUpper: false)
  }

  /// Objects whose field is at least the range's beginning.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public func isIn(_ range: PartialRangeFrom<Value>) -> Predicate<Root> {
    compare(lower: range.lowerBound)
  }

  /// Objects whose field is at most the range's end.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public func isIn(_ range: PartialRangeThrough<Value>) -> Predicate<Root> {
    compare(upper: range.upperBound)
  }

  /// Objects whose field is less than the range's end.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public func isIn(_ range: PartialRangeUpTo<Value>) -> Predicate<Root> {
    compare(upper: range.upperBound, takesUpper: false)
  }

  // MARK: One way for all

  private func compare(
    lower: Value? = nil,
    takesLower: Bool = true,
    upper: Value? = nil,
    takesUpper: Bool = true
  ) -> Predicate<Root> {
    let keys = KeyCondition.bounds(
      lower: lower?.storedBytes,
      upper: upper?.storedBytes,
      Value.fieldType
    )
    if Value.self == String.self {
      let (from, to) = (lower?.storedBytes, upper?.storedBytes)
      return unsafe predicate(keys: keys) { stored throws(RecordError) in
        if let from {
          let standing = unsafe stored.compare(to: from)
          guard standing > 0 || (standing == 0 && takesLower) else { return false }
        }
        guard let to else { return true }
        let standing = unsafe stored.compare(to: to)
        return standing < 0 || (standing == 0 && takesUpper)
      }
    }
    if Value.self is any KeyOrdered.Type, let form = NumberForm(Value.fieldType) {
      let range = form.range(
        from: lower.map { form.word(of: $0) },
        takesLower,
        to: upper.map { form.word(of: $0) },
        takesUpper
      )
      guard let range else { return .none }
      return predicate(.number(NumberTest(form, in: range)), keys: .numbers(form, [range]))
    }
    let isOrderOfKeys = Value.self is any KeyOrdered.Type
    return unsafe predicate(keys: isOrderOfKeys ? keys : nil) { stored throws(RecordError) in
      var reader = unsafe ByteReader(stored)
      let value = try Value(from: &reader)
      if let lower { guard takesLower ? value >= lower : value > lower else { return false } }
      if let upper { guard takesUpper ? value <= upper : value < upper else { return false } }
      return true
    }
  }
}

extension NumberForm {
  /// The words between two; `nil` when there are none, as when a bound is no number.
  func range(
    from lower: UInt64?,
    _ takesLower: Bool,
    to upper: UInt64?,
    _ takesUpper: Bool
  ) -> ClosedRange<UInt64>? {
    let all = comparable
    var (least, most) = (all.lowerBound, all.upperBound)
    if let lower {
      guard all.contains(lower), takesLower || lower < most else { return nil }
      least = takesLower ? lower : lower + 1
    }
    if let upper {
      guard all.contains(upper), takesUpper || upper > all.lowerBound else { return nil }
      most = takesUpper ? upper : upper - 1
    }
    return least <= most ? least...most : nil
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: Comparable {
  /// Objects whose field has a value that is less.
  ///
  /// Served by an index as on a column that is not optional.
  public static func < (column: Self, value: Value.Wrapped) -> Predicate<Root> {
    column.unwrapped < value
  }

  /// Objects whose field has a value that is less or the same.
  ///
  /// Served by an index as on a column that is not optional.
  public static func <= (column: Self, value: Value.Wrapped) -> Predicate<Root> {
    column.unwrapped <= value
  }

  /// Objects whose field has a value that is greater.
  ///
  /// Served by an index as on a column that is not optional.
  public static func > (column: Self, value: Value.Wrapped) -> Predicate<Root> {
    column.unwrapped > value
  }

  /// Objects whose field has a value that is greater or the same.
  ///
  /// Served by an index as on a column that is not optional.
  public static func >= (column: Self, value: Value.Wrapped) -> Predicate<Root> {
    column.unwrapped >= value
  }

  /// Objects whose field has a value from the one up to and with the other.
  ///
  /// Served by an index as on a column that is not optional.
  public func between(_ lower: Value.Wrapped, _ upper: Value.Wrapped) -> Predicate<Root> {
    unwrapped.between(lower, upper)
  }

  /// Objects whose field has a value in the range, both ends included.
  ///
  /// Served by an index as on a column that is not optional.
  public func isIn(_ range: ClosedRange<Value.Wrapped>) -> Predicate<Root> {
    unwrapped.isIn(range)
  }

  /// Objects whose field has a value in the range, the upper end left out.
  ///
  /// Served by an index as on a column that is not optional.
  public func isIn(_ range: Range<Value.Wrapped>) -> Predicate<Root> {
    unwrapped.isIn(range)
  }

  /// Objects whose field has a value that is at least the range's beginning.
  ///
  /// Served by an index as on a column that is not optional.
  public func isIn(_ range: PartialRangeFrom<Value.Wrapped>) -> Predicate<Root> {
    unwrapped.isIn(range)
  }

  /// Objects whose field has a value that is at most the range's end.
  ///
  /// Served by an index as on a column that is not optional.
  public func isIn(_ range: PartialRangeThrough<Value.Wrapped>) -> Predicate<Root> {
    unwrapped.isIn(range)
  }

  /// Objects whose field has a value that is less than the range's end.
  ///
  /// Served by an index as on a column that is not optional.
  public func isIn(_ range: PartialRangeUpTo<Value.Wrapped>) -> Predicate<Root> {
    unwrapped.isIn(range)
  }
}
