#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A condition on one field of a model, for code that does not have the model's Swift type.
///
/// ```swift
/// let note = try store.storedModels().first { $0.name == "Note" }
/// if let rank = note?.fields.first(where: { $0.name == "rank" }) {
///   let isHigh = StoredCondition(fieldID: rank.id, test: .compares(.greater, .signed(10)))
///   print(try store.countStoredObjects(of: "Note", where: [isHigh]))
/// }
/// ```
public struct StoredCondition: Sendable, Hashable {
  /// The test of the stored value.
  ///
  /// A value of another type than the field's never passes, except ``StoredCondition/Test/not(_:)``.
  public indirect enum Test: Sendable, Hashable {
    /// The field has this value; ``StoredValue/null`` also matches an object without the field.
    ///
    /// Strings compare by their UTF-8 bytes.
    case equals(StoredValue)
    /// The field has a value, and it compares so with this one.
    ///
    /// Strings and data compare by their bytes, UUIDs too. Collections have no order, nor has NaN.
    case compares(Comparison, StoredValue)
    /// The field is a date in the range.
    case isDate(Range<Date>)
    /// The field is an array or a set with this element.
    case contains(StoredValue)
    /// The field is a string that contains the text, by its UTF-8 bytes.
    case containsText(String)
    /// The field is a string that starts with the text, by its UTF-8 bytes.
    case hasPrefix(String)
    /// The field has a value that does not pass the test.
    case not(Test)
  }

  /// An order of two values.
  public enum Comparison: Sendable, Hashable, CaseIterable {
    /// The stored value is less.
    case less
    /// The stored value is less or equal.
    case lessOrEqual
    /// The stored value is greater.
    case greater
    /// The stored value is greater or equal.
    case greaterOrEqual
  }

  /// The id of the field; see ``StoredModel/Field/id``.
  public var fieldID: UInt32
  /// The test.
  public var test: Test

  /// Creates a condition.
  public init(fieldID: UInt32, test: Test) {
    self.fieldID = fieldID
    self.test = test
  }
}

extension StoredCondition.Test {
  /// Whether a stored value passes.
  func matches(_ stored: StoredValue) -> Bool {
    switch (self, stored) {
    case (.equals(.string(let text)), .string(let own)):
      // `==` of strings compares canonically.
      return own.utf8.elementsEqual(text.utf8)
    case (.equals(let value), _): return stored == value
    case (.compares(let comparison, let value), _):
      guard let order = stored.order(relativeTo: value) else { return false }
      return comparison.allows(order)
    case (.contains(let element), .array(let elements)),
      (.contains(let element), .set(let elements)):
      return elements.contains { Self.equals(element).matches($0) }
    case (.isDate(let dates), .date(let date)): return dates.contains(date)
    case (.containsText(let text), .string(let own)):
      return text.isEmpty || own.utf8.contains(text.utf8)
    case (.hasPrefix(let text), .string(let own)): return own.utf8.starts(with: text.utf8)
    case (.not(let test), _): return !stored.isNull && !test.matches(stored)
    case (.contains, _), (.isDate, _), (.containsText, _), (.hasPrefix, _): return false
    }
  }
}

extension StoredCondition.Comparison {
  /// Whether values in this order pass: negative if the stored one is less.
  fileprivate func allows(_ order: Int) -> Bool {
    switch self {
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }
}

extension StoredValue {
  /// Returns the order of two values: negative if this one is less, 0 if they are equal.
  ///
  /// - Returns: `nil` for values of different types, collections, and NaN.
  fileprivate func order(relativeTo other: StoredValue) -> Int? {
    switch (self, other) {
    case (.bool(let own), .bool(let other)): Self.order(own ? 1 : 0, other ? 1 : 0)
    case (.signed(let own), .signed(let other)): Self.order(own, other)
    case (.unsigned(let own), .unsigned(let other)): Self.order(own, other)
    case (.float(let own), .float(let other)): Self.order(own, other)
    case (.double(let own), .double(let other)): Self.order(own, other)
    case (.date(let own), .date(let other)): Self.order(own, other)
    case (.decimal(let own), .decimal(let other)):
      own.isNaN || other.isNaN ? nil : Self.order(own, other)
    case (.uuid(let own), .uuid(let other)): Self.order(ofBytes: own.bytes, other.bytes)
    case (.string(let own), .string(let other)): Self.order(ofBytes: own.utf8, other.utf8)
    case (.data(let own), .data(let other)): Self.order(ofBytes: own, other)
    default: nil
    }
  }

  private static func order<Value: Comparable>(_ own: Value, _ other: Value) -> Int? {
    if own < other { return -1 }
    if own > other { return 1 }
    // NaN is neither.
    return own == other ? 0 : nil
  }

  private static func order(
    ofBytes own: some Sequence<UInt8>,
    _ other: some Sequence<UInt8>
  ) -> Int {
    if own.lexicographicallyPrecedes(other) { return -1 }
    return other.lexicographicallyPrecedes(own) ? 1 : 0
  }
}

extension UUID {
  fileprivate var bytes: [UInt8] {
    var writer = ByteWriter()
    encode(to: &writer)
    return writer.bytes
  }
}

// MARK: Keys

extension StoredCondition.Test {
  /// The keys of an index on the field among which all matches are; `nil` if an index does not help.
  ///
  /// The range may contain other keys, so the values are tested.
  func keys(in index: ModelTables.Index) -> (range: KeyRange, isOneValue: Bool)? {
    let type = index.parts[0].elementType
    func key(_ value: StoredValue) -> [UInt8]? {
      guard let bytes = try? value.bytes(as: type) else { return nil }
      return KeyEncoding.key(
        for: bytes,
        type: type,
        maximumContentSize: index.maximumContentSize
      )
    }
    /// The first bytes of the key; all keys of a greater value are greater or have this prefix.
    func start(_ value: StoredValue) -> [UInt8]? {
      guard type.width == nil else { return key(value) }
      let content: [UInt8]
      switch value {
      case .string(let text): content = Array(text.utf8)
      case .data(let data): content = Array(data)
      default: return nil
      }
      return KeyEncoding.openKey(for: content, maximumContentSize: index.maximumContentSize)
    }
    switch self {
    case .contains(let element):
      guard index.collectionPart != nil else { return nil }
      return key(element).map { (.prefix($0), true) }
    case _ where index.collectionPart != nil: return nil
    case .equals(.null), .containsText, .not: return nil
    case .equals(let value): return key(value).map { (.prefix($0), true) }
    case .isDate(let dates):
      guard let first = key(.date(dates.lowerBound)), let end = key(.date(dates.upperBound)) else {
        return nil
      }
      return (KeyRange(lower: first, upper: end), false)
    case .hasPrefix(let text):
      return start(.string(text)).map { (.prefix($0), false) }
    case .compares(let comparison, let value):
      guard let start = start(value) else { return nil }
      switch comparison {
      case .less, .lessOrEqual:
        return (KeyRange(lower: Self.firstValue, upper: KeyRange.successor(of: start)), false)
      case .greater, .greaterOrEqual:
        return (KeyRange(lower: start, upper: KeyRange.successor(of: Self.firstValue)), false)
      }
    }
  }

  /// The prefix of all keys of values.
  private static let firstValue: [UInt8] = [1]
}
