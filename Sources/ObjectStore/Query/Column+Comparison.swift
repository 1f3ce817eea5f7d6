extension Column where Value: FieldValue & Comparable {
  /// Objects whose field is less; texts compare by their UTF-8 bytes.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public static func < (column: Self, value: Value) -> Predicate<Root> {
    column.compare(to: value, range: column.upTo) { $0 == .less }
  }

  /// Objects whose field is less or the same; texts compare by their UTF-8 bytes.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public static func <= (column: Self, value: Value) -> Predicate<Root> {
    column.compare(to: value, range: column.upTo) { $0 == .less || $0 == .same }
  }

  /// Objects whose field is greater; texts compare by their UTF-8 bytes.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public static func > (column: Self, value: Value) -> Predicate<Root> {
    column.compare(to: value, range: column.from) { $0 == .greater }
  }

  /// Objects whose field is greater or the same; texts compare by their UTF-8 bytes.
  ///
  /// Served by an index, unless the order is that of a type of your own.
  public static func >= (column: Self, value: Value) -> Predicate<Root> {
    column.compare(to: value, range: column.from) { $0 == .greater || $0 == .same }
  }

  private func compare(
    to value: Value,
    range: (Value) -> KeyRange,
    _ condition: @escaping @Sendable (Standing) -> Bool
  ) -> Predicate<Root> {
    if let text = value as? String {
      let bytes = Array(text.utf8)
      return unsafe predicate(hints: [range(value)]) { stored throws(RecordError) in
        condition(unsafe Standing(of: stored, to: bytes))
      }
    }
    let isOrderOfKeys = Value.self is any KeyOrdered.Type
    let ranges = isOrderOfKeys ? [range(value)] : nil
    return unsafe predicate(hints: ranges) { stored throws(RecordError) in
      var reader = unsafe ByteReader(stored)
      return condition(Standing(of: try Value(from: &reader), to: value))
    }
  }

  // The ranges take in the value itself, and all values that begin like it when it was cut: the
  // condition is tested on every record that they find.

  private func upTo(_ value: Value) -> KeyRange {
    KeyRange(lower: [1], upper: KeyRange.successor(of: Self.bound(value)))
  }

  private func from(_ value: Value) -> KeyRange {
    KeyRange(lower: Self.bound(value), upper: KeyRange.successor(of: [1]))
  }

  private static func bound(_ value: Value) -> [UInt8] {
    let key = KeyEncoding.key(for: value)
    guard KeyEncoding.canBeCut(Value.fieldType) else { return key }
    return Array(key.prefix(KeyEncoding.longestContent))
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
}

/// How a stored value stands to another.
private enum Standing {
  case less
  case same
  case greater
  /// As what is no number does to every number.
  case incomparable

  init<Value: Comparable>(of stored: Value, to value: Value) {
    if stored < value {
      self = .less
    } else if stored == value {
      self = .same
    } else {
      self = stored > value ? .greater : .incomparable
    }
  }

  init(of stored: UnsafeRawBufferPointer, to text: [UInt8]) {
    if unsafe stored.elementsEqual(text) {
      self = .same
    } else {
      self = unsafe stored.lexicographicallyPrecedes(text) ? .less : .greater
    }
  }
}
