/// A condition on one field: the test of a record, and the index keys of the matches.
struct FieldCondition: Sendable {
  /// The field's position in the schema.
  var position: Int
  var test: FieldTest
  /// The index keys that matches can have; `nil` when no index helps.
  var keys: KeyCondition?

  /// Compiles the condition to a test of records.
  func makeTest() -> RecordTest {
    let position = position
    switch test {
    case .isPresent(let wanted):
      return { record throws(RecordError) in
        guard case .present = unsafe try record.content(at: position) else { return !wanted }
        return wanted
      }
    case .number(let number):
      return { record throws(RecordError) in
        guard case .present(let bytes) = unsafe try record.content(at: position) else {
          return false
        }
        guard bytes.count == number.form.width, let base = bytes.baseAddress else {
          throw RecordError(.truncated, field: record.name(at: position))
        }
        return unsafe number.matches(base)
      }
    case .value(let test):
      return { record throws(RecordError) in
        guard case .present(let bytes) = unsafe try record.content(at: position) else {
          return false
        }
        do throws(RecordError) {
          return try test(unsafe bytes.bytes)
        } catch {
          throw RecordError(error.code, field: record.name(at: position))
        }
      }
    }
  }
}

/// The test of one field's bytes.
///
/// `nil`, and a field that the record lacks, pass only `isPresent(false)`.
enum FieldTest: Sendable {
  /// Tests whether there is a value.
  case isPresent(Bool)
  /// Tests a number.
  case number(NumberTest)
  case value(@Sendable (RawSpan) throws(RecordError) -> Bool)

  /// Returns whether the bytes of a value pass; `nil` is handled by the caller.
  func matches(_ bytes: UnsafeRawBufferPointer) throws(RecordError) -> Bool {
    switch self {
    case .isPresent(let wanted): return wanted
    case .number(let number):
      guard bytes.count == number.form.width, let base = bytes.baseAddress else {
        throw RecordError(.truncated)
      }
      return unsafe number.matches(base)
    case .value(let test): return try test(unsafe bytes.bytes)
    }
  }

  /// Returns whether the bytes of a value pass.
  func matches(_ bytes: RawSpan) throws(RecordError) -> Bool {
    try unsafe bytes.withUnsafeBytes { bytes throws(RecordError) in
      unsafe try matches(bytes)
    }
  }

  /// Returns whether the bytes of a value pass.
  func matches(_ bytes: [UInt8]) throws(RecordError) -> Bool {
    try unsafe bytes.span.withUnsafeBytes { bytes throws(RecordError) in
      unsafe try matches(bytes)
    }
  }
}

/// The index keys of the objects that meet a condition on one field.
///
/// Key ranges are computed per index, because each index may truncate strings at a different
/// length.
indirect enum KeyCondition: Sendable, Hashable {
  /// Numbers in these ranges of words; see ``NumberForm``.
  case numbers(NumberForm, [ClosedRange<UInt64>])
  /// One of these values, in their stored encoding.
  case values([[UInt8]], FieldType)
  /// `nil`.
  case null
  /// Any value except `nil`.
  case present
  /// Values between two bounds, both included, in their stored encoding.
  case bounds(lower: [UInt8]?, upper: [UInt8]?, FieldType)
  /// Strings with this prefix.
  case prefix([UInt8])
  case oneOf([KeyCondition])

  /// Key ranges of one part of an index.
  struct Spans: Sendable, Hashable {
    /// The ranges, sorted and disjoint.
    var ranges: [KeyRange]
    /// Whether each range is the key of one value.
    var arePoints: Bool
    /// Whether every object with such a key meets the condition.
    var isExact: Bool
  }

  private static let presentKeys = KeyRange(lower: [1], upper: [2])

  /// Returns the key ranges for an index that truncates strings at `maximumContentSize`.
  func spans(maximumContentSize: Int) -> Spans {
    switch self {
    case .numbers(let form, let words):
      let ranges = words.map {
        KeyRange(
          lower: form.key($0.lowerBound),
          upper: KeyRange.successor(of: form.key($0.upperBound))
        )
      }
      return Spans(
        ranges: KeyRange.union(ranges),
        arePoints: words.allSatisfy { $0.lowerBound == $0.upperBound },
        isExact: true
      )
    case .values(let values, let type):
      var isExact = type.hasUniqueEncoding
      let ranges = values.map { value in
        let key = unsafe value.withUnsafeBytes {
          unsafe KeyEncoding.key(for: $0, type: type, maximumContentSize: maximumContentSize)
        }
        // A truncated value is represented by a prefix and a hash, which other values may share.
        if KeyEncoding.canBeTruncated(type), value.count >= maximumContentSize / 2 {
          isExact = false
        }
        return KeyRange.prefix(key)
      }
      return Spans(ranges: KeyRange.union(ranges), arePoints: true, isExact: isExact)
    case .null:
      return Spans(ranges: [.prefix(KeyEncoding.null)], arePoints: true, isExact: true)
    case .present:
      return Spans(ranges: [Self.presentKeys], arePoints: false, isExact: true)
    case .bounds(let lower, let upper, let type):
      // The ranges include the bounds and, when a bound was truncated, all values with its prefix.
      // Every record found is tested against the condition.
      func bound(_ value: [UInt8]) -> [UInt8] {
        let key = unsafe value.withUnsafeBytes {
          unsafe KeyEncoding.key(for: $0, type: type, maximumContentSize: maximumContentSize)
        }
        return KeyEncoding.canBeTruncated(type) ? Array(key.prefix(maximumContentSize)) : key
      }
      let range = KeyRange(
        lower: lower.map(bound) ?? Self.presentKeys.lower,
        upper: upper.map { KeyRange.successor(of: bound($0)) } ?? Self.presentKeys.upper
      )
      return Spans(ranges: KeyRange.union([range]), arePoints: false, isExact: false)
    case .prefix(let text):
      let key = KeyEncoding.openKey(for: text, maximumContentSize: maximumContentSize)
      return Spans(ranges: [.prefix(key)], arePoints: false, isExact: false)
    case .oneOf(let conditions):
      let all = conditions.map { $0.spans(maximumContentSize: maximumContentSize) }
      return Spans(
        ranges: KeyRange.union(all.flatMap(\.ranges)),
        arePoints: all.allSatisfy(\.arePoints),
        isExact: all.allSatisfy(\.isExact)
      )
    }
  }
}

extension KeyCondition {
  /// The values to which the condition limits a match, in their stored encoding.
  ///
  /// `nil` when the condition does not enumerate its values, or when equal values may have
  /// different bytes.
  var storedValues: [[UInt8]]? {
    switch self {
    case .values(let values, let type): return type.hasUniqueEncoding ? values : nil
    case .numbers(let form, let words):
      guard form.form != .number, words.allSatisfy({ $0.lowerBound == $0.upperBound }) else {
        return nil
      }
      return words.map { form.storedBytes(ofWord: $0.lowerBound) }
    case .oneOf(let conditions):
      var all: Set<[UInt8]> = []
      for condition in conditions {
        guard let values = condition.storedValues else { return nil }
        all.formUnion(values)
      }
      return all.sorted()
    case .null, .present, .bounds, .prefix: return nil
    }
  }
}

extension FieldType {
  /// Whether two values are equal exactly when their stored bytes are.
  ///
  /// False for floating-point numbers, because 0 equals -0 and NaN does not equal itself, and for
  /// types with a custom encoding, which may define their own equality.
  var hasUniqueEncoding: Bool {
    switch self {
    case .bool, .signed, .unsigned, .uuid, .decimal, .string, .data: true
    default: false
    }
  }
}
