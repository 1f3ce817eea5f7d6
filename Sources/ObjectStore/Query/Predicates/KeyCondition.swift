/// What index keys the objects have that meet a condition on one field.
///
/// A value of its own, because texts are cut at another length in each index.
indirect enum KeyCondition: Sendable, Hashable {
  /// Numbers in these ranges of words; see ``NumberForm``.
  case numbers(NumberForm, [ClosedRange<UInt64>])
  /// One of these values, given as they are stored.
  case values([[UInt8]], FieldType)
  /// No value.
  case null
  /// Any value.
  case present
  /// From the one value up to and with the other, given as they are stored.
  case bounds(lower: [UInt8]?, upper: [UInt8]?, FieldType)
  /// Texts that begin like that.
  case prefix([UInt8])
  case oneOf([KeyCondition])

  /// The keys of one part of an index.
  struct Spans: Sendable, Hashable {
    /// Apart from each other, in order.
    var ranges: [KeyRange]
    /// Whether each range is the key of one value.
    var arePoints: Bool
    /// Whether only objects that meet the condition have such keys.
    var isExact: Bool
  }

  private static let presentKeys = KeyRange(lower: [1], upper: [2])

  /// The keys in an index that cuts texts at that length.
  func spans(longestContent: Int) -> Spans {
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
      var isExact = type.hasOneEncoding
      let ranges = values.map { value in
        let key = unsafe value.withUnsafeBytes {
          unsafe KeyEncoding.key(for: $0, type: type, longestContent: longestContent)
        }
        // One that may have been cut has a hash, which others may have too.
        if KeyEncoding.canBeCut(type), value.count >= longestContent / 2 { isExact = false }
        return KeyRange.prefix(key)
      }
      return Spans(ranges: KeyRange.union(ranges), arePoints: true, isExact: isExact)
    case .null:
      return Spans(ranges: [.prefix(KeyEncoding.null)], arePoints: true, isExact: true)
    case .present:
      return Spans(ranges: [Self.presentKeys], arePoints: false, isExact: true)
    case .bounds(let lower, let upper, let type):
      // The ranges take in the bounds themselves, and all values that begin like them when they
      // were cut: the condition is tested on every record that they find.
      func bound(_ value: [UInt8]) -> [UInt8] {
        let key = unsafe value.withUnsafeBytes {
          unsafe KeyEncoding.key(for: $0, type: type, longestContent: longestContent)
        }
        return KeyEncoding.canBeCut(type) ? Array(key.prefix(longestContent)) : key
      }
      let range = KeyRange(
        lower: lower.map(bound) ?? Self.presentKeys.lower,
        upper: upper.map { KeyRange.successor(of: bound($0)) } ?? Self.presentKeys.upper
      )
      return Spans(ranges: KeyRange.union([range]), arePoints: false, isExact: false)
    case .prefix(let text):
      let key = KeyEncoding.openKey(for: text, longestContent: longestContent)
      return Spans(ranges: [.prefix(key)], arePoints: false, isExact: false)
    case .oneOf(let conditions):
      let all = conditions.map { $0.spans(longestContent: longestContent) }
      return Spans(
        ranges: KeyRange.union(all.flatMap(\.ranges)),
        arePoints: all.allSatisfy(\.arePoints),
        isExact: all.allSatisfy(\.isExact)
      )
    }
  }
}

extension KeyCondition {
  /// The values of which a match has one, as they are stored; `nil` when they are not so few that
  /// each is said, and when equal values may have different bytes.
  var storedValues: [[UInt8]]? {
    switch self {
    case .values(let values, let type): return type.hasOneEncoding ? values : nil
    case .numbers(let form, let words):
      guard form.form != .number, words.allSatisfy({ $0.lowerBound == $0.upperBound }) else {
        return nil
      }
      return words.map { form.storedBytes(ofWord: $0.lowerBound) }
    case .null, .present, .bounds, .prefix, .oneOf: return nil
    }
  }
}

extension FieldType {
  /// Whether equal values have equal bytes and different ones different.
  ///
  /// Not so for numbers with a fraction: 0 equals -0, and what is no number equals nothing. A type
  /// that writes itself may say of its own what is equal.
  var hasOneEncoding: Bool {
    switch self {
    case .bool, .signed, .unsigned, .uuid, .decimal, .string, .data: true
    default: false
    }
  }
}
