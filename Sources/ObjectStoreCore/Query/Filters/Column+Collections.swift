/// A collection field whose elements a query can test: an array or a set.
public protocol FieldCollection: FieldValue, Collection where Element: FieldValue {}

extension Array: FieldCollection where Element: FieldValue {}
extension Set: FieldCollection where Element: FieldValue {}

extension Column where Value: FieldCollection {
  /// Matches objects whose collection contains the element.
  ///
  /// An index on the field serves it.
  public func contains(_ element: Value.Element) -> Filter<Root>
  where Value.Element: Equatable {
    any { $0 == element }
  }

  /// Matches objects whose collection has at least one element that meets the condition.
  ///
  /// An index on the field serves it if an index would serve the condition on a single field.
  ///
  /// ```swift
  /// Note.where { $0.tags.any { $0.hasPrefix("work/") } }
  /// ```
  ///
  /// - Precondition: The condition refers to the element only.
  public func any(
    _ condition: (Column<Root, Value.Element>) -> Filter<Root>
  ) -> Filter<Root> {
    elements(isEvery: false, condition)
  }

  /// Matches objects whose collection is empty or has only elements that meet the condition.
  ///
  /// No index serves it.
  ///
  /// - Precondition: The condition refers to the element only.
  public func all(
    _ condition: (Column<Root, Value.Element>) -> Filter<Root>
  ) -> Filter<Root> {
    elements(isEvery: true, condition)
  }

  private func elements(
    isEvery: Bool,
    _ condition: (Column<Root, Value.Element>) -> Filter<Root>
  ) -> Filter<Root> {
    let inner = condition(Column<Root, Value.Element>(position: position)).node
    precondition(
      inner.positions.isSubset(of: [position]),
      "a condition on elements must refer to the element only"
    )
    return Filter(
      .elements(
        position: position,
        type: Value.Element.fieldType,
        condition: inner,
        isEvery: isEvery
      )
    )
  }
}

extension Column where Value: FieldValue & Collection {
  /// Matches objects whose collection is empty; a `nil` collection does not match.
  public var isEmpty: Filter<Root> { count == 0 }

  /// The number of elements of the collection, for comparisons: `$0.tags.count > 2`.
  public var count: ElementCount<Root> {
    ElementCount(position: position) { stored throws(RecordError) in
      try ByteReader.reading(stored) { reader throws(RecordError) in
        switch Value.fieldType {
        case .array, .set, .dictionary: try reader.readCount()
        case .data: reader.remaining
        default: try Value(from: &reader).count
        }
      }
    }
  }
}

/// The number of elements of a collection column, as an operand of a comparison.
///
/// No index serves these comparisons. Arrays, sets, dictionaries and data are not decoded: their
/// stored form starts with the count or has a known length.
///
/// ```swift
/// Note.where { $0.tags.count > 2 }
/// ```
public struct ElementCount<Root: Model>: Sendable {
  let position: Int
  let measure: @Sendable (RawSpan) throws(RecordError) -> Int

  /// Matches objects whose collection has exactly `value` elements.
  public static func == (count: Self, value: Int) -> Filter<Root> {
    count.filter { $0 == value }
  }

  /// Matches objects whose collection has a different number of elements.
  public static func != (count: Self, value: Int) -> Filter<Root> {
    count.filter { $0 != value }
  }

  /// Matches objects whose collection has fewer than `value` elements.
  public static func < (count: Self, value: Int) -> Filter<Root> {
    count.filter { $0 < value }
  }

  /// Matches objects whose collection has at most `value` elements.
  public static func <= (count: Self, value: Int) -> Filter<Root> {
    count.filter { $0 <= value }
  }

  /// Matches objects whose collection has more than `value` elements.
  public static func > (count: Self, value: Int) -> Filter<Root> {
    count.filter { $0 > value }
  }

  /// Matches objects whose collection has at least `value` elements.
  public static func >= (count: Self, value: Int) -> Filter<Root> {
    count.filter { $0 >= value }
  }

  private func filter(_ condition: @escaping @Sendable (Int) -> Bool) -> Filter<Root> {
    let measure = measure
    return Column<Root, Int>(position: position).filter { stored throws(RecordError) in
      condition(try measure(stored))
    }
  }
}

extension Column where Value: FieldValue {
  /// Matches objects whose field's value makes a closure return `true`; `nil` never matches.
  ///
  /// No index serves it. Only this field is decoded.
  ///
  /// ```swift
  /// Note.where { $0.rank.satisfies { rank in rank.isMultiple(of: 2) } }
  /// ```
  public func satisfies(_ condition: @escaping @Sendable (Value) -> Bool) -> Filter<Root> {
    filter { stored throws(RecordError) in
      let value = try ByteReader.reading(stored) { reader throws(RecordError) in
        try Value(from: &reader)
      }
      return condition(value)
    }
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: FieldCollection {
  /// Matches objects whose collection is not `nil` and contains the element.
  ///
  /// An index on the field serves it.
  public func contains(_ element: Value.Wrapped.Element) -> Filter<Root>
  where Value.Wrapped.Element: Equatable {
    unwrapped.contains(element)
  }

  /// Matches objects whose collection is not `nil` and has an element that meets the condition.
  ///
  /// Otherwise behaves as the overload for collections that are not optional.
  public func any(
    _ condition: (Column<Root, Value.Wrapped.Element>) -> Filter<Root>
  ) -> Filter<Root> {
    unwrapped.any(condition)
  }

  /// Matches objects whose collection is not `nil` and has only elements that meet the condition.
  ///
  /// Otherwise behaves as the overload for collections that are not optional.
  public func all(
    _ condition: (Column<Root, Value.Wrapped.Element>) -> Filter<Root>
  ) -> Filter<Root> {
    unwrapped.all(condition)
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: Collection {
  /// Matches objects whose collection is empty but not `nil`.
  public var isEmpty: Filter<Root> { unwrapped.isEmpty }

  /// The number of elements of the collection; a comparison never matches a `nil` collection.
  public var count: ElementCount<Root> { unwrapped.count }
}
