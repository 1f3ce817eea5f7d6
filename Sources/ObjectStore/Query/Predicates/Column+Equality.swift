extension Column {
  /// Objects whose record has a value for the field that meets `condition`; `nil`, and a field that
  /// the record does not have, meet none.
  func predicate(
    keys: KeyCondition? = nil,
    _ test: @escaping @Sendable (UnsafeRawBufferPointer) throws(RecordError) -> Bool
  ) -> Predicate<Root> {
    unsafe Predicate(FieldCondition(position: position, test: .value(test), keys: keys))
  }

  func predicate(_ test: FieldTest, keys: KeyCondition? = nil) -> Predicate<Root> {
    Predicate(FieldCondition(position: position, test: test, keys: keys))
  }
}

extension Column where Value: FieldValue {
  /// How values of the column become words that sort and compare as they do; `nil` for types that
  /// say of their own what is equal or less.
  static var numberForm: NumberForm? {
    guard Value.self is any KeyOrdered.Type || Value.fieldType.hasOneEncoding else { return nil }
    return NumberForm(Value.fieldType)
  }

  /// The words of the values that equal something.
  static func words(of values: [Value], _ form: NumberForm) -> [UInt64] {
    let comparable = form.comparable
    return Set(values.map { form.word(of: $0) }).filter(comparable.contains).sorted()
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
  ///
  /// No index serves it.
  public static func != (column: Self, value: Value) -> Predicate<Root> {
    if let form = numberForm {
      guard let word = words(of: [value], form).first else {
        return column.predicate(.isPresent(true), keys: .present)
      }
      return column.predicate(.number(NumberTest(form, in: word...word, isNegated: true)))
    }
    let equality = StoredEquality([value])
    return unsafe column.predicate { stored throws(RecordError) in
      unsafe !(try equality.matches(stored))
    }
  }

  /// Objects whose field has one of the values.
  ///
  /// Served by an index.
  public func isIn(_ values: some Sequence<Value>) -> Predicate<Root> {
    let values = Array(values)
    if let form = Self.numberForm {
      let words = Self.words(of: values, form)
      guard !words.isEmpty else { return .none }
      return predicate(
        .number(NumberTest(form, oneOf: words)),
        keys: .numbers(form, words.map { $0...$0 })
      )
    }
    guard !values.isEmpty else { return .none }
    let equality = StoredEquality(values)
    return unsafe predicate(keys: Self.keys(of: values)) { stored throws(RecordError) in
      unsafe try equality.matches(stored)
    }
  }

  /// `nil` for a collection: its index has its elements and not itself.
  private static func keys(of values: [Value]) -> KeyCondition? {
    guard Value.fieldType.isIndexable, Value.fieldType.indexedElement == nil else { return nil }
    return .values(Set(values.map(\.storedBytes)).sorted(), Value.fieldType)
  }
}

extension Set<[UInt8]> {
  func sorted() -> [[UInt8]] { sorted { $0.lexicographicallyPrecedes($1) } }
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
    // The index of a collection has no entry for a collection that is not there.
    let isServed = Value.Wrapped.fieldType.indexedElement == nil
    return column.predicate(.isPresent(false), keys: isServed ? .null : nil)
  }

  /// Objects whose field has another value, `nil` counting as one.
  ///
  /// An index serves `!= nil` alone.
  public static func != (column: Self, value: Value.Wrapped?) -> Predicate<Root> {
    if value == nil {
      let isServed = Value.Wrapped.fieldType.indexedElement == nil
      return column.predicate(.isPresent(true), keys: isServed ? .present : nil)
    }
    return !(column == value)
  }

  /// Objects whose field has one of the values.
  ///
  /// Served by an index.
  public func isIn(_ values: some Sequence<Value.Wrapped>) -> Predicate<Root> {
    unwrapped.isIn(values)
  }
}

/// Values that stored ones are compared to, by their bytes where that is the same.
struct StoredEquality<Value: FieldValue & Equatable>: Sendable {
  private let values: [Value]
  /// Empty when equal values may have different bytes.
  private let encodings: [[UInt8]]

  init(_ values: [Value]) {
    self.values = values
    encodings = Value.fieldType.hasOneEncoding ? values.map(\.storedBytes) : []
  }

  func matches(_ stored: UnsafeRawBufferPointer) throws(RecordError) -> Bool {
    for bytes in encodings where unsafe stored.isSame(as: bytes) { return true }
    guard encodings.isEmpty else { return false }
    var reader = unsafe ByteReader(stored)
    return values.contains(try Value(from: &reader))
  }
}
