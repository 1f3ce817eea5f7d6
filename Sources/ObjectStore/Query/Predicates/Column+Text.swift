/// How texts are compared.
public enum TextComparison: Sendable, Hashable {
  /// Byte by byte, as UTF-8.
  case exact
  /// After both were made lower case, by Unicode's mapping and for no language in particular.
  ///
  /// "STRASSE" is not "Straße", and a letter with an accent is not the letter and the accent apart.
  case caseInsensitive
}

extension Column where Value == String {
  /// Objects whose text is the same.
  ///
  /// An index serves it when the comparison is exact.
  public func equals(_ text: String, _ comparison: TextComparison) -> Predicate<Root> {
    guard comparison == .caseInsensitive else { return self == text }
    return unsafe search(text, comparison) { text, wanted in unsafe text.isSame(as: wanted) }
  }

  /// Objects whose text begins like that.
  ///
  /// An index serves it when the comparison is exact.
  public func hasPrefix(
    _ prefix: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unsafe search(prefix, comparison, keys: .prefix(Array(prefix.utf8))) { text, wanted in
      unsafe text.count >= wanted.count
        && UnsafeRawBufferPointer(rebasing: text[..<wanted.count]).isSame(as: wanted)
    }
  }

  /// Objects whose text ends like that.
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

  /// Objects in whose text that occurs; the empty text occurs in every one.
  ///
  /// No index serves it.
  public func contains(
    _ part: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unsafe search(part, comparison) { text, wanted in unsafe text.contains(wanted) }
  }

  /// Objects whose text is empty.
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
  /// Objects whose text is the same.
  ///
  /// An index serves it when the comparison is exact.
  public func equals(_ text: String, _ comparison: TextComparison) -> Predicate<Root> {
    unwrapped.equals(text, comparison)
  }

  /// Objects whose text begins like that.
  ///
  /// An index serves it when the comparison is exact.
  public func hasPrefix(
    _ prefix: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unwrapped.hasPrefix(prefix, comparison)
  }

  /// Objects whose text ends like that.
  ///
  /// No index serves it.
  public func hasSuffix(
    _ suffix: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unwrapped.hasSuffix(suffix, comparison)
  }

  /// Objects in whose text that occurs.
  ///
  /// No index serves it.
  public func contains(
    _ part: String,
    _ comparison: TextComparison = .exact
  ) -> Predicate<Root> {
    unwrapped.contains(part, comparison)
  }
}
