/// A collection that a field can hold, of which queries can ask for the elements: an array or a set.
public protocol FieldCollection: FieldValue, Collection where Element: FieldValue {}

extension Array: FieldCollection where Element: FieldValue {}
extension Set: FieldCollection where Element: FieldValue {}

extension Column where Value: FieldCollection {
  /// Objects whose collection has that element.
  ///
  /// Served by an index.
  public func contains(_ element: Value.Element) -> Predicate<Root>
  where Value.Element: Equatable {
    any { $0 == element }
  }

  /// Objects of whose collection some element meets the condition.
  ///
  /// Served by an index where it serves the condition on a single field.
  ///
  /// - Precondition: The condition speaks of the element alone.
  public func any(
    _ condition: (Column<Root, Value.Element>) -> Predicate<Root>
  ) -> Predicate<Root> {
    elements(isEvery: false, condition)
  }

  /// Objects of whose collection every element meets the condition; an empty collection does.
  ///
  /// No index serves it.
  ///
  /// - Precondition: The condition speaks of the element alone.
  public func all(
    _ condition: (Column<Root, Value.Element>) -> Predicate<Root>
  ) -> Predicate<Root> {
    elements(isEvery: true, condition)
  }

  private func elements(
    isEvery: Bool,
    _ condition: (Column<Root, Value.Element>) -> Predicate<Root>
  ) -> Predicate<Root> {
    let inner = condition(Column<Root, Value.Element>(position: position)).node
    precondition(
      inner.positions.isSubset(of: [position]),
      "a condition on elements speaks of the element alone"
    )
    return Predicate(
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
  /// Objects whose collection is empty; `nil` is not.
  public var isEmpty: Predicate<Root> { count == 0 }

  /// How many elements a collection has, to be compared with a number: `$0.tags.count > 2`.
  public var count: ElementCount<Root> {
    unsafe ElementCount(position: position) { stored throws(RecordError) in
      var reader = unsafe ByteReader(stored)
      switch Value.fieldType {
      case .array, .set, .dictionary: return try reader.readCount()
      case .data: return reader.remaining
      default: return try Value(from: &reader).count
      }
    }
  }
}

/// How many elements the collection of a column has, as queries speak of it.
///
/// No index serves it, and no element is decoded.
@safe  // The closure is lent bytes for the time of the call.
public struct ElementCount<Root: Model>: Sendable {
  let position: Int
  let measure: @Sendable (UnsafeRawBufferPointer) throws(RecordError) -> Int

  /// Objects whose collection has so many elements.
  public static func == (count: Self, value: Int) -> Predicate<Root> {
    count.predicate { $0 == value }
  }

  /// Objects whose collection has more or fewer elements.
  public static func != (count: Self, value: Int) -> Predicate<Root> {
    count.predicate { $0 != value }
  }

  /// Objects whose collection has fewer elements.
  public static func < (count: Self, value: Int) -> Predicate<Root> {
    count.predicate { $0 < value }
  }

  /// Objects whose collection has at most so many elements.
  public static func <= (count: Self, value: Int) -> Predicate<Root> {
    count.predicate { $0 <= value }
  }

  /// Objects whose collection has more elements.
  public static func > (count: Self, value: Int) -> Predicate<Root> {
    count.predicate { $0 > value }
  }

  /// Objects whose collection has at least so many elements.
  public static func >= (count: Self, value: Int) -> Predicate<Root> {
    count.predicate { $0 >= value }
  }

  private func predicate(_ condition: @escaping @Sendable (Int) -> Bool) -> Predicate<Root> {
    let measure = unsafe measure
    return unsafe Column<Root, Int>(position: position).predicate { stored throws(RecordError) in
      condition(unsafe try measure(stored))
    }
  }
}

extension Column where Value: FieldValue {
  /// Objects whose field meets a condition of your own.
  ///
  /// No index serves it; the field alone is decoded.
  public func satisfies(_ condition: @escaping @Sendable (Value) -> Bool) -> Predicate<Root> {
    unsafe predicate { stored throws(RecordError) in
      var reader = unsafe ByteReader(stored)
      return condition(try Value(from: &reader))
    }
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: FieldCollection {
  /// Objects that have a collection with that element.
  ///
  /// Served by an index.
  public func contains(_ element: Value.Wrapped.Element) -> Predicate<Root>
  where Value.Wrapped.Element: Equatable {
    unwrapped.contains(element)
  }

  /// Objects that have a collection of which some element meets the condition.
  ///
  /// As with a collection that is not optional.
  public func any(
    _ condition: (Column<Root, Value.Wrapped.Element>) -> Predicate<Root>
  ) -> Predicate<Root> {
    unwrapped.any(condition)
  }

  /// Objects that have a collection of which every element meets the condition.
  ///
  /// As with a collection that is not optional.
  public func all(
    _ condition: (Column<Root, Value.Wrapped.Element>) -> Predicate<Root>
  ) -> Predicate<Root> {
    unwrapped.all(condition)
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: Collection {
  /// Objects that have a collection, which is empty.
  public var isEmpty: Predicate<Root> { unwrapped.isEmpty }

  /// How many elements the collection has, if there is one.
  public var count: ElementCount<Root> { unwrapped.count }
}
