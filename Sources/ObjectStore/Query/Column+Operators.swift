/// A column's type that may hold `nil` or not, so that one set of operators serves both.
public protocol OptionalFieldValue: Sendable {
  /// The type of the value that is there.
  associatedtype Wrapped: FieldValue
  /// The value, or `nil`.
  var fieldValue: Wrapped? { get }
}

extension Optional: OptionalFieldValue where Wrapped: FieldValue {
  public var fieldValue: Wrapped? { self }
}

extension Column where Value: FieldValue {
  /// Whether the field meets `condition`; a field that the record does not have meets none.
  func test(
    hints: [KeyRange]?,
    isExact: Bool = false,
    _ condition: @escaping @Sendable (Value) -> Bool
  ) -> Predicate<Root> {
    let position = position
    let hint = hints.map {
      Predicate<Root>.IndexHint(position: position, ranges: $0, isExact: isExact)
    }
    return Predicate(hints: hint.map { [$0] } ?? []) { record throws(RecordError) in
      guard let value = try record.optional(at: position, default: nil as Value?) else {
        return false
      }
      return condition(value)
    }
  }
}

extension Column where Value: FieldValue & Equatable {
  /// Objects whose field has that value.
  ///
  /// Served by an index.
  public static func == (column: Self, value: Value) -> Predicate<Root> {
    let key = KeyEncoding.key(for: value)
    return column.test(hints: [.prefix(key)], isExact: true) { $0 == value }
  }

  /// Objects whose field has another value.
  public static func != (column: Self, value: Value) -> Predicate<Root> {
    column.test(hints: nil) { $0 != value }
  }

  /// Objects whose field has one of the values.
  ///
  /// Served by an index.
  public func isIn(_ values: some Sequence<Value>) -> Predicate<Root> {
    let values = Array(values)
    let ranges = Set(values.map { KeyRange.prefix(KeyEncoding.key(for: $0)) })
    return test(hints: Array(ranges), isExact: true) { values.contains($0) }
  }
}

extension Column where Value: FieldValue & Comparable {
  /// Objects whose field is less.
  ///
  /// Served by an index.
  public static func < (column: Self, value: Value) -> Predicate<Root> {
    column.test(hints: [upTo(value)]) { $0 < value }
  }

  /// Objects whose field is less or the same.
  ///
  /// Served by an index.
  public static func <= (column: Self, value: Value) -> Predicate<Root> {
    column.test(hints: [upTo(value)]) { $0 <= value }
  }

  /// Objects whose field is greater.
  ///
  /// Served by an index.
  public static func > (column: Self, value: Value) -> Predicate<Root> {
    column.test(hints: [from(value)]) { $0 > value }
  }

  /// Objects whose field is greater or the same.
  ///
  /// Served by an index.
  public static func >= (column: Self, value: Value) -> Predicate<Root> {
    column.test(hints: [from(value)]) { $0 >= value }
  }

  // The ranges take in the value itself, and all values that begin like it when it was cut: the
  // condition is tested on every record that they find.

  private static func upTo(_ value: Value) -> KeyRange {
    KeyRange(lower: [1], upper: KeyRange.successor(of: bound(value)))
  }

  private static func from(_ value: Value) -> KeyRange {
    KeyRange(lower: bound(value), upper: KeyRange.successor(of: [1]))
  }

  private static func bound(_ value: Value) -> [UInt8] {
    let key = KeyEncoding.key(for: value)
    guard KeyEncoding.canBeCut(Value.fieldType) else { return key }
    return Array(key.prefix(KeyEncoding.longestContent))
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: Equatable {
  private var unwrapped: Column<Root, Value.Wrapped> {
    Column<Root, Value.Wrapped>(position: position)
  }

  /// Objects whose field has that value, or none if it is `nil`.
  ///
  /// Served by an index.
  public static func == (column: Self, value: Value.Wrapped?) -> Predicate<Root> {
    if let value { return column.unwrapped == value }
    let position = column.position
    let hint = Predicate<Root>.IndexHint(
      position: position,
      ranges: [.prefix(KeyEncoding.null)],
      isExact: true
    )
    return Predicate(hints: [hint]) { record throws(RecordError) in
      try record.optional(at: position, default: nil as Value.Wrapped?) == nil
    }
  }

  /// Objects whose field has another value, `nil` counting as one.
  public static func != (column: Self, value: Value.Wrapped?) -> Predicate<Root> {
    !(column == value)
  }
}

extension Column where Value == String {
  /// Objects whose text begins like that, byte by byte.
  ///
  /// Served by an index.
  public func hasPrefix(_ prefix: String) -> Predicate<Root> {
    // The key without its end mark, so that what follows may be anything.
    let key = KeyEncoding.key(for: prefix)
    let open = key.prefix(min(key.count - 2, KeyEncoding.longestContent - 40))
    return test(hints: [.prefix(Array(open))]) { $0.utf8.starts(with: prefix.utf8) }
  }
}

extension Column {
  /// Objects whose collection has that element.
  ///
  /// Served by an index.
  public func contains<Element: FieldValue & Hashable>(_ element: Element) -> Predicate<Root>
  where Value == Set<Element> {
    test(hints: [.prefix(KeyEncoding.key(for: element))], isExact: true) { $0.contains(element) }
  }

  /// Objects whose collection has that element.
  ///
  /// Served by an index.
  public func contains<Element: FieldValue & Equatable>(_ element: Element) -> Predicate<Root>
  where Value == [Element] {
    test(hints: [.prefix(KeyEncoding.key(for: element))], isExact: true) { $0.contains(element) }
  }
}

extension Column where Value: FieldValue {
  /// Objects whose field meets a condition of your own.
  ///
  /// No index serves it; the field alone is decoded.
  public func satisfies(_ condition: @escaping @Sendable (Value) -> Bool) -> Predicate<Root> {
    test(hints: nil, condition)
  }
}
