extension Column {
  /// Objects whose record has a value for the field that meets `condition`; `nil`, and a field that
  /// the record does not have, meet none.
  func predicate(
    hints: [KeyRange]?,
    isExact: Bool = false,
    _ condition: @escaping @Sendable (UnsafeRawBufferPointer) throws(RecordError) -> Bool
  ) -> Predicate<Root> {
    let position = position
    let hint = hints.map {
      Predicate<Root>.IndexHint(position: position, ranges: $0, isExact: isExact)
    }
    return Predicate(hints: hint.map { [$0] } ?? []) { record throws(RecordError) in
      guard case .present(let stored) = unsafe try record.content(at: position) else {
        return false
      }
      do throws(RecordError) {
        return unsafe try condition(stored)
      } catch {
        throw RecordError(error.code, field: record.name(at: position))
      }
    }
  }
}

extension Column where Value: FieldValue & Equatable {
  /// Objects whose field has that value; texts are the same when their UTF-8 bytes are.
  ///
  /// Served by an index.
  public static func == (column: Self, value: Value) -> Predicate<Root> {
    column.isIn(CollectionOfOne(value))
  }

  /// Objects whose field has another value.
  public static func != (column: Self, value: Value) -> Predicate<Root> {
    let equality = StoredEquality(value)
    return unsafe column.predicate(hints: nil) { stored throws(RecordError) in
      unsafe !(try equality.matches(stored))
    }
  }

  /// Objects whose field has one of the values.
  ///
  /// Served by an index.
  public func isIn(_ values: some Sequence<Value>) -> Predicate<Root> {
    let values = Array(values)
    let equalities = values.map { StoredEquality($0) }
    let ranges = Self.ranges(values)
    return unsafe predicate(hints: ranges, isExact: true) { stored throws(RecordError) in
      var isFound = false
      for equality in equalities where !isFound { isFound = unsafe try equality.matches(stored) }
      return isFound
    }
  }

  /// `nil` for a collection: its index has its elements and not itself.
  private static func ranges(_ values: [Value]) -> [KeyRange]? {
    guard Value.fieldType.isIndexable, Value.fieldType.indexedElement == nil else { return nil }
    return Array(Set(values.map { KeyRange.prefix(KeyEncoding.key(for: $0)) }))
  }
}

extension Column where Value: OptionalFieldValue {
  var unwrapped: Column<Root, Value.Wrapped> {
    Column<Root, Value.Wrapped>(position: position)
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: Equatable {
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
    // The index of a collection has no entry for a collection that is not there.
    let isServed = Value.Wrapped.fieldType.indexedElement == nil
    return Predicate(hints: isServed ? [hint] : []) { record throws(RecordError) in
      guard case .present = unsafe try record.content(at: position) else { return true }
      return false
    }
  }

  /// Objects whose field has another value, `nil` counting as one.
  public static func != (column: Self, value: Value.Wrapped?) -> Predicate<Root> {
    !(column == value)
  }

  /// Objects whose field has one of the values.
  ///
  /// Served by an index.
  public func isIn(_ values: some Sequence<Value.Wrapped>) -> Predicate<Root> {
    unwrapped.isIn(values)
  }
}

extension Column where Value == String {
  /// Objects whose text begins like that, byte by byte.
  ///
  /// Served by an index.
  public func hasPrefix(_ prefix: String) -> Predicate<Root> {
    let bytes = Array(prefix.utf8)
    return unsafe predicate(hints: [.prefix(KeyEncoding.openKey(for: prefix))]) {
      stored throws(RecordError) in
      unsafe stored.starts(with: bytes)
    }
  }
}

extension Column where Value == String? {
  /// Objects whose text begins like that, byte by byte.
  ///
  /// Served by an index.
  public func hasPrefix(_ prefix: String) -> Predicate<Root> {
    unwrapped.hasPrefix(prefix)
  }
}

extension Column {
  /// Objects whose collection has that element.
  ///
  /// Served by an index.
  public func contains<Element: FieldValue & Hashable>(_ element: Element) -> Predicate<Root>
  where Value == Set<Element> {
    hasElement(element)
  }

  /// Objects whose collection has that element.
  ///
  /// Served by an index.
  public func contains<Element: FieldValue & Equatable>(_ element: Element) -> Predicate<Root>
  where Value == [Element] {
    hasElement(element)
  }

  private func hasElement<Element: FieldValue & Equatable>(
    _ element: Element
  ) -> Predicate<Root> {
    let equality = StoredEquality(element)
    let key = KeyEncoding.key(for: element)
    return unsafe predicate(hints: [.prefix(key)], isExact: true) { stored throws(RecordError) in
      var reader = unsafe ByteReader(stored)
      let count = try reader.read(UInt32.self)
      var isFound = false
      for _ in 0..<count where !isFound {
        isFound = unsafe try equality.matches(reader.takeSized(Element.fieldType))
      }
      return isFound
    }
  }
}

extension Column where Value: FieldValue {
  /// Objects whose field meets a condition of your own.
  ///
  /// No index serves it; the field alone is decoded.
  public func satisfies(_ condition: @escaping @Sendable (Value) -> Bool) -> Predicate<Root> {
    unsafe predicate(hints: nil) { stored throws(RecordError) in
      var reader = unsafe ByteReader(stored)
      return condition(try Value(from: &reader))
    }
  }
}
