extension Column {
  /// Objects whose collection has that element.
  ///
  /// Served by an index.
  public func contains<Element: FieldValue & Hashable>(_ element: Element) -> Predicate<Root>
  where Value == Set<Element> {
    elements(Element.self, isEvery: false) { $0 == element }
  }

  /// Objects whose collection has that element.
  ///
  /// Served by an index.
  public func contains<Element: FieldValue & Equatable>(_ element: Element) -> Predicate<Root>
  where Value == [Element] {
    elements(Element.self, isEvery: false) { $0 == element }
  }

  /// Objects of whose collection some element meets the condition.
  ///
  /// Served by an index where it serves the condition on a single field.
  public func any<Element: FieldValue>(
    _ condition: (Column<Root, Element>) -> Predicate<Root>
  ) -> Predicate<Root> where Value == Set<Element> {
    elements(Element.self, isEvery: false, condition)
  }

  /// Objects of whose collection some element meets the condition.
  ///
  /// Served by an index where it serves the condition on a single field.
  public func any<Element: FieldValue>(
    _ condition: (Column<Root, Element>) -> Predicate<Root>
  ) -> Predicate<Root> where Value == [Element] {
    elements(Element.self, isEvery: false, condition)
  }

  /// Objects of whose collection every element meets the condition; an empty collection does.
  ///
  /// No index serves it.
  public func all<Element: FieldValue>(
    _ condition: (Column<Root, Element>) -> Predicate<Root>
  ) -> Predicate<Root> where Value == Set<Element> {
    elements(Element.self, isEvery: true, condition)
  }

  /// Objects of whose collection every element meets the condition; an empty collection does.
  ///
  /// No index serves it.
  public func all<Element: FieldValue>(
    _ condition: (Column<Root, Element>) -> Predicate<Root>
  ) -> Predicate<Root> where Value == [Element] {
    elements(Element.self, isEvery: true, condition)
  }

  private func elements<Element: FieldValue>(
    _ element: Element.Type,
    isEvery: Bool,
    _ condition: (Column<Root, Element>) -> Predicate<Root>
  ) -> Predicate<Root> {
    let inner = condition(Column<Root, Element>(position: position)).node
    precondition(
      inner.positions.isSubset(of: [position]),
      "a condition on elements speaks of the element alone"
    )
    return Predicate(
      .elements(
        position: position,
        type: Element.fieldType,
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
