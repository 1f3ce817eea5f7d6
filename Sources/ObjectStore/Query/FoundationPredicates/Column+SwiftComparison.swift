#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

// Conditions that hold exactly where Swift's own operators do: on texts those of columns do not, as
// they look at bytes.

/// How a value stands to another.
enum ValueOrder {
  case less
  case atMost
  case more
  case atLeast

  /// With the two values the other way round.
  var reversed: ValueOrder {
    switch self {
    case .less: .more
    case .atMost: .atLeast
    case .more: .less
    case .atLeast: .atMost
    }
  }

  func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .less: left < right
    case .atMost: left <= right
    case .more: left > right
    case .atLeast: left >= right
    }
  }
}

extension Column where Value: FieldValue & Equatable {
  /// Objects whose field equals the value as Swift has it.
  func equals(_ value: Value) -> Predicate<Root> {
    guard Value.fieldType == .string, !Text.isUnique(value.storedBytes) else {
      return self == value
    }
    return satisfies { $0 == value }
  }
}

extension Column where Value: FieldValue & Comparable {
  /// Objects whose field stands so to the value as Swift has it.
  func stands(_ order: ValueOrder, to value: Value) -> Predicate<Root> {
    guard Value.fieldType != .string else { return satisfies { order.holds($0, value) } }
    // Of times, `<=` and `>=` are the opposites of `>` and `<`, also where one is no number.
    if let date = value as? Date, order == .atMost || order == .atLeast {
      guard !date.timeIntervalSinceReferenceDate.isNaN else {
        return predicate(.isPresent(true), keys: .present)
      }
      return (order == .atMost ? self <= value : self >= value) || isNoNumber
    }
    return switch order {
    case .less: self < value
    case .atMost: self <= value
    case .more: self > value
    case .atLeast: self >= value
    }
  }
}

extension Column where Value: FieldValue {
  /// Objects whose field has bits that stand for no number.
  private var isNoNumber: Predicate<Root> {
    guard let form = NumberForm(Value.fieldType), form.form == .number else { return .none }
    let words = form.comparable
    return predicate(
      .number(NumberTest(form, in: words, isNegated: true)),
      keys: .numbers(form, [0...words.lowerBound - 1, words.upperBound + 1...form.mask])
    )
  }
}

extension Column where Value == String {
  /// Objects whose text has those characters in it, one after another.
  func contains(characters part: String) -> Predicate<Root> {
    let test = satisfies { Text.contains($0, part) }
    return Text.isUnique(part.storedBytes) ? contains(part) && test : test
  }

  /// Objects whose text begins with those characters.
  func starts(withCharacters start: String) -> Predicate<Root> {
    let test = satisfies { $0.starts(with: start) }
    return Text.isUnique(start.storedBytes) ? hasPrefix(start) && test : test
  }
}

/// Texts as Swift compares them: by characters, of which several spellings are the same.
private enum Text {
  /// Whether no other bytes are the same text, nor characters that begin with these.
  ///
  /// So for ASCII, but for the three of its characters that Unicode has twice.
  static func isUnique(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { byte in
      byte < 0x80 && byte != UInt8(ascii: "K") && byte != UInt8(ascii: ";")
        && byte != UInt8(ascii: "`")
    }
  }

  /// As Foundation looks for a collection in another.
  static func contains<C: Collection>(_ whole: C, _ part: C) -> Bool where C.Element: Equatable {
    whole.contains(part)
  }
}
