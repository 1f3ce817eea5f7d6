extension Column {
  /// Matches objects whose record has a value for the field that passes `test`.
  ///
  /// `nil` does not match, nor does a record that lacks the field.
  func filter(
    keys: KeyCondition? = nil,
    _ test: @escaping @Sendable (RawSpan) throws(RecordError) -> Bool
  ) -> Filter<Root> {
    Filter(FieldCondition(position: position, test: .value(test), keys: keys))
  }

  func filter(_ test: FieldTest, keys: KeyCondition? = nil) -> Filter<Root> {
    Filter(FieldCondition(position: position, test: test, keys: keys))
  }
}

extension Column where Value: FieldValue {
  /// How values of the column become words that compare as the values do.
  ///
  /// `nil` for types that are not numbers, or that define their own equality and order.
  static var numberForm: NumberForm? {
    guard Value.self is any KeyOrdered.Type || Value.fieldType.hasUniqueEncoding else { return nil }
    return NumberForm(Value.fieldType)
  }

  /// Returns the distinct words of the values without NaN, in ascending order.
  static func words(of values: [Value], _ form: NumberForm) -> [UInt64] {
    let comparable = form.comparable
    return Set(values.map { form.word(of: $0) }).filter(comparable.contains).sorted()
  }
}

extension Column where Value: FieldValue & Equatable {
  /// Matches objects whose field equals the value; strings compare by their UTF-8 bytes.
  ///
  /// An index serves it.
  public static func == (column: Self, value: Value) -> Filter<Root> {
    column.isIn(CollectionOfOne(value))
  }

  /// Matches objects whose field is not `nil` and differs from the value.
  ///
  /// No index serves it.
  public static func != (column: Self, value: Value) -> Filter<Root> {
    if let form = numberForm {
      guard let word = words(of: [value], form).first else {
        return column.filter(.isPresent(true), keys: .present)
      }
      return column.filter(.number(NumberTest(form, in: word...word, isNegated: true)))
    }
    let equality = StoredEquality([value], [value.storedBytes])
    return column.filter { stored throws(RecordError) in
      !(try equality.matches(stored))
    }
  }

  /// Matches objects whose field equals one of the values.
  ///
  /// An index serves it.
  public func isIn(_ values: some Sequence<Value>) -> Filter<Root> {
    let values = Array(values)
    if let form = Self.numberForm {
      let words = Self.words(of: values, form)
      guard !words.isEmpty else { return .none }
      return filter(
        .number(NumberTest(form, oneOf: words)),
        keys: .numbers(form, words.map { $0...$0 })
      )
    }
    guard !values.isEmpty else { return .none }
    // A closure: a key path of a generic type is not resolved when compiling, and costs more than
    // the encoding.
    let encodings = Set(values.map { $0.storedBytes }).sorted()
    let equality = StoredEquality(values, encodings)
    return filter(keys: Self.keys(encodings)) { stored throws(RecordError) in
      try equality.matches(stored)
    }
  }

  /// Returns `nil` for a collection: its index contains the elements, not the collection.
  private static func keys(_ encodings: [[UInt8]]) -> KeyCondition? {
    guard Value.fieldType.isIndexable, Value.fieldType.indexedElement == nil else { return nil }
    return .values(encodings, Value.fieldType)
  }
}

extension Set<[UInt8]> {
  func sorted() -> [[UInt8]] { sorted { $0.precedes($1) } }
}

extension Column where Value: OptionalFieldValue {
  var unwrapped: Column<Root, Value.Wrapped> {
    Column<Root, Value.Wrapped>(position: position)
  }
}

extension Column where Value: OptionalFieldValue, Value.Wrapped: Equatable {
  /// Matches objects whose field equals the value, or is `nil` when the value is `nil`.
  ///
  /// An index serves it.
  public static func == (column: Self, value: Value.Wrapped?) -> Filter<Root> {
    if let value { return column.unwrapped == value }
    // The index of a collection has no entry for a `nil` collection.
    let isCovered = Value.Wrapped.fieldType.indexedElement == nil
    return column.filter(.isPresent(false), keys: isCovered ? .null : nil)
  }

  /// Matches objects whose field differs from the value; `nil` differs from every value.
  ///
  /// An index serves only `!= nil`.
  public static func != (column: Self, value: Value.Wrapped?) -> Filter<Root> {
    if value == nil {
      let isCovered = Value.Wrapped.fieldType.indexedElement == nil
      return column.filter(.isPresent(true), keys: isCovered ? .present : nil)
    }
    return !(column == value)
  }

  /// Matches objects whose field equals one of the values.
  ///
  /// An index serves it.
  public func isIn(_ values: some Sequence<Value.Wrapped>) -> Filter<Root> {
    unwrapped.isIn(values)
  }
}

/// A set of values with which stored values are compared, by their bytes where that is equivalent.
struct StoredEquality<Value: FieldValue & Equatable>: Sendable {
  private let values: [Value]
  /// The sorted stored forms of the values; empty when equal values may have different bytes.
  private let encodings: [[UInt8]]
  /// The number of values from which a binary search is used.
  private static var manyValues: Int { 8 }

  /// `encodings` are the sorted stored forms of the values.
  init(_ values: [Value], _ encodings: [[UInt8]]) {
    self.values = values
    self.encodings = Value.fieldType.hasUniqueEncoding ? encodings : []
  }

  func matches(_ stored: RawSpan) throws(RecordError) -> Bool {
    guard encodings.count < Self.manyValues else { return isFound(stored) }
    for bytes in encodings where stored.isSame(as: bytes) { return true }
    guard encodings.isEmpty else { return false }
    let value = try ByteReader.reading(stored) { reader throws(RecordError) in
      try Value(from: &reader)
    }
    return values.contains(value)
  }

  private func isFound(_ stored: RawSpan) -> Bool {
    var range = encodings.indices
    while let first = range.first {
      let middle = first + range.count / 2
      let order = stored.compare(to: encodings[middle])
      if order == 0 { return true }
      range = order < 0 ? first..<middle : middle + 1..<range.upperBound
    }
    return false
  }
}

/// An optional field value.
///
/// Operators on optional columns are declared once for all types that conform. Only `Optional`
/// conforms.
public protocol OptionalFieldValue: Sendable {
  /// The type of the value when it is not `nil`.
  associatedtype Wrapped: FieldValue
  /// The value, or `nil`.
  var fieldValue: Wrapped? { get }
}

extension Optional: OptionalFieldValue where Wrapped: FieldValue {
  /// The value, or `nil`.
  public var fieldValue: Wrapped? { self }
}
