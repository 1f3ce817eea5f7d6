internal import SystemInterface

/// How strings are compared.
///
/// ```swift
/// Note.where { $0.title.equals("shopping", StringComparison.caseInsensitive) }
/// Note.where { $0.title.contains("milk", .caseInsensitive) || $0.title.hasSuffix(".md") }
/// ```
public enum StringComparison: Sendable, Hashable {
  /// By their UTF-8 bytes.
  case exact
  /// By their UTF-8 bytes after lowercasing both, with Unicode's locale-independent mapping.
  ///
  /// There is no full case folding and no normalization: "STRASSE" does not match "Straße", and "é"
  /// as one scalar does not match "e" with a combining accent.
  case caseInsensitive
}

extension Column where Value == String {
  /// Matches objects whose string equals `string`.
  ///
  /// An index serves an exact comparison.
  public func equals(_ string: String, _ comparison: StringComparison) -> Filter<Root> {
    guard comparison == .caseInsensitive else { return self == string }
    return search(string, comparison) { string, pattern in string.isSame(as: pattern) }
  }

  /// Matches objects whose string starts with `prefix`.
  ///
  /// An index serves an exact comparison.
  public func hasPrefix(
    _ prefix: String,
    _ comparison: StringComparison = .exact
  ) -> Filter<Root> {
    search(prefix, comparison, keys: .prefix(Array(prefix.utf8))) { string, pattern in
      string.hasPrefix(pattern)
    }
  }

  /// Matches objects whose string ends with `suffix`.
  ///
  /// No index serves it.
  public func hasSuffix(
    _ suffix: String,
    _ comparison: StringComparison = .exact
  ) -> Filter<Root> {
    search(suffix, comparison) { string, pattern in
      string.hasSuffix(pattern)
    }
  }

  /// Matches objects whose string contains `part`; every string contains the empty string.
  ///
  /// No index serves it.
  public func contains(
    _ part: String,
    _ comparison: StringComparison = .exact
  ) -> Filter<Root> {
    search(part, comparison) { string, pattern in string.contains(pattern) }
  }

  /// Matches objects whose string is empty.
  public var isEmpty: Filter<Root> { self == "" }

  private func search(
    _ pattern: String,
    _ comparison: StringComparison,
    keys: KeyCondition? = nil,
    _ condition:
      @escaping @Sendable (_ string: RawSpan, _ pattern: [UInt8]) -> Bool
  ) -> Filter<Root> {
    switch comparison {
    case .exact:
      let bytes = Array(pattern.utf8)
      return filter(keys: keys) { stored throws(RecordError) in
        condition(stored, bytes)
      }
    case .caseInsensitive:
      let folded = Array(pattern.lowercased().utf8)
      return filter { stored throws(RecordError) in
        let string = try ByteReader.reading(stored) { reader throws(RecordError) in
          try reader.readString().lowercased()
        }
        return string.withRawSpan { condition($0, folded) }
      }
    }
  }
}

extension Column where Value == String? {
  /// Matches objects whose string equals `string`.
  ///
  /// An index serves an exact comparison.
  public func equals(_ string: String, _ comparison: StringComparison) -> Filter<Root> {
    unwrapped.equals(string, comparison)
  }

  /// Matches objects whose string starts with `prefix`.
  ///
  /// An index serves an exact comparison.
  public func hasPrefix(
    _ prefix: String,
    _ comparison: StringComparison = .exact
  ) -> Filter<Root> {
    unwrapped.hasPrefix(prefix, comparison)
  }

  /// Matches objects whose string ends with `suffix`.
  ///
  /// No index serves it.
  public func hasSuffix(
    _ suffix: String,
    _ comparison: StringComparison = .exact
  ) -> Filter<Root> {
    unwrapped.hasSuffix(suffix, comparison)
  }

  /// Matches objects whose string contains `part`.
  ///
  /// No index serves it.
  public func contains(
    _ part: String,
    _ comparison: StringComparison = .exact
  ) -> Filter<Root> {
    unwrapped.contains(part, comparison)
  }
}
