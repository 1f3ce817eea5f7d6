/// How strings are compared.
public enum TextComparison: Sendable, Hashable {
  /// By their UTF-8 bytes.
  case exact
  /// By their UTF-8 bytes after lowercasing both, with Unicode's locale-independent mapping.
  ///
  /// There is no full case folding and no normalization: "STRASSE" does not match "Straße", and "é"
  /// as one scalar does not match "e" with a combining accent.
  case caseInsensitive
}

extension Column where Value == String {
  /// Matches objects whose string equals `text`.
  ///
  /// An index serves an exact comparison.
  public func equals(_ text: String, _ comparison: TextComparison) -> Predicate<Root> {
    guard comparison == .caseInsensitive else { return self == text }
    return unsafe search(text, comparison) { text, wanted in unsafe text.isSame(as: wanted) }
  }

  /// Matches objects whose string starts with `prefix`.
  ///
  /// An index serves an exact comparison.
  public func hasPrefix(
    _ prefix: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unsafe search(prefix, comparison, keys: .prefix(Array(prefix.utf8))) { text, wanted in
      unsafe text.count >= wanted.count
        && UnsafeRawBufferPointer(rebasing: text[..<wanted.count]).isSame(as: wanted)
    }
  }

  /// Matches objects whose string ends with `suffix`.
  ///
  /// No index serves it.
  public func hasSuffix(
    _ suffix: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unsafe search(suffix, comparison) { text, wanted in
      unsafe text.count >= wanted.count
        && UnsafeRawBufferPointer(rebasing: text[(text.count - wanted.count)...])
          .isSame(as: wanted)
    }
  }

  /// Matches objects whose string contains `part`; every string contains the empty string.
  ///
  /// No index serves it.
  public func contains(
    _ part: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unsafe search(part, comparison) { text, wanted in unsafe text.contains(wanted) }
  }

  /// Matches objects whose string is empty.
  public var isEmpty: Predicate<Root> { self == "" }

  private func search(
    _ wanted: String,
    _ comparison: TextComparison,
    keys: KeyCondition? = nil,
    _ condition:
      @escaping @Sendable (_ text: UnsafeRawBufferPointer, _ wanted: [UInt8]) -> Bool
  ) -> Predicate<Root> {
    switch comparison {
    case .exact:
      let bytes = Array(wanted.utf8)
      return unsafe predicate(keys: keys) { stored throws(RecordError) in
        unsafe condition(stored, bytes)
      }
    case .caseInsensitive:
      let folded = Array(wanted.lowercased().utf8)
      return unsafe predicate { stored throws(RecordError) in
        var reader = unsafe ByteReader(stored)
        var text = try reader.readString().lowercased()
        return text.withUTF8 { unsafe condition(UnsafeRawBufferPointer($0), folded) }
      }
    }
  }
}

extension Column where Value == String? {
  /// Matches objects whose string equals `text`.
  ///
  /// An index serves an exact comparison.
  public func equals(_ text: String, _ comparison: TextComparison) -> Predicate<Root> {
    unwrapped.equals(text, comparison)
  }

  /// Matches objects whose string starts with `prefix`.
  ///
  /// An index serves an exact comparison.
  public func hasPrefix(
    _ prefix: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unwrapped.hasPrefix(prefix, comparison)
  }

  /// Matches objects whose string ends with `suffix`.
  ///
  /// No index serves it.
  public func hasSuffix(
    _ suffix: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unwrapped.hasSuffix(suffix, comparison)
  }

  /// Matches objects whose string contains `part`.
  ///
  /// No index serves it.
  public func contains(
    _ part: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unwrapped.contains(part, comparison)
  }
}
