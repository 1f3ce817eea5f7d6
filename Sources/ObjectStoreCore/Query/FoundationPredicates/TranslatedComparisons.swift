#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Equal: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    if let value = translation.value(rhs) { return try translation.equality(of: lhs, with: value) }
    if let value = translation.value(lhs) { return try translation.equality(of: rhs, with: value) }
    throw PredicateTranslation<M>.unsupported(self)
  }
}

extension PredicateExpressions.NotEqual: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    if let value = translation.value(rhs) { return try !translation.equality(of: lhs, with: value) }
    if let value = translation.value(lhs) { return try !translation.equality(of: rhs, with: value) }
    throw PredicateTranslation<M>.unsupported(self)
  }
}

extension PredicateExpressions.Comparison: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    let order: ComparisonOperator =
      switch op {
      case .lessThan: .lessThan
      case .lessThanOrEqual: .lessThanOrEqual
      case .greaterThan: .greaterThan
      case .greaterThanOrEqual: .greaterThanOrEqual
      @unknown default: throw PredicateTranslation<M>.unsupported(self)
      }
    if let value = translation.constant(rhs) {
      return try translation.ordering(of: lhs, order, value)
    }
    if let value = translation.constant(lhs) {
      return try translation.ordering(of: rhs, order.reversed, value)
    }
    throw PredicateTranslation<M>.unsupported(self)
  }
}

extension PredicateExpressions.RangeExpressionContains: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    guard let range = translation.constant(range) as? any BoundedRange else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    return try range.bounds.reduce(.all) { condition, bound in
      try condition && translation.ordering(of: element, bound.order, bound.value)
    }
  }
}

extension PredicateExpressions.KeyPath: ConditionExpression, ComparedExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    try translation.equality(of: self, with: true)
  }

  func equality<M: Model>(
    with value: Any?,
    in translation: PredicateTranslation<M>
  ) throws -> Filter<M> {
    switch (kind, value) {
    case (.collectionIsEmpty, let value as Bool):
      let isEmpty = try count(in: translation) == 0
      // A `nil` collection matches neither value, so `false` cannot be the negation.
      return try value ? isEmpty : count(in: translation) > 0
    case (.collectionCount, let value as Int): return try count(in: translation) == value
    default: throw PredicateTranslation<M>.unsupported(self)
    }
  }

  func ordering<M: Model>(
    _ order: ComparisonOperator,
    _ value: Any,
    in translation: PredicateTranslation<M>
  ) throws -> Filter<M> {
    guard kind == .collectionCount, let value = value as? Int else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    let count = try count(in: translation)
    return switch order {
    case .lessThan: count < value
    case .lessThanOrEqual: count <= value
    case .greaterThan: count > value
    case .greaterThanOrEqual: count >= value
    }
  }

  private func count<M: Model>(in translation: PredicateTranslation<M>) throws -> ElementCount<M> {
    guard let position = try translation.field(root),
      let type = Root.Output.self as? any (FieldValue & Collection).Type
    else { throw PredicateTranslation<M>.unsupported(self) }
    func count<Value: FieldValue & Collection>(_ type: Value.Type) -> ElementCount<M> {
      Column<M, Value>(position: position).count
    }
    return count(type)
  }
}

extension PredicateTranslation {
  /// Translates `expression == value`.
  func equality<E: PredicateExpression>(
    of expression: E,
    with value: Any?
  ) throws -> Filter<Root> {
    if let position = try field(expression) {
      guard let type = Self.equatableType(of: E.self),
        let condition = Self.membership(position, type, [value])
      else { throw Self.unsupported(expression) }
      return condition
    }
    if let compared = expression as? any ComparedExpression {
      return try compared.equality(with: value, in: self)
    }
    guard let value = value as? Bool else { throw Self.unsupported(expression) }
    return try value ? condition(expression) : !condition(expression)
  }

  /// Translates `values.contains(expression)`.
  func membership<E: PredicateExpression>(
    of expression: E,
    in values: some Sequence
  ) throws -> Filter<Root> {
    let values = values.map { Self.unwrapped($0) }
    guard let position = try field(expression) else {
      return try .anyOf(values.map { try equality(of: expression, with: $0) })
    }
    guard let type = Self.equatableType(of: E.self),
      let condition = Self.membership(position, type, values)
    else { throw Self.unsupported(expression) }
    return condition
  }

  /// Returns the type of an expression's values that are not `nil`, if a field can have it.
  private static func equatableType<E: PredicateExpression>(
    of expression: E.Type
  ) -> (any (FieldValue & Equatable).Type)? {
    let type = (E.Output.self as? any OptionalFieldValue.Type)?.wrappedType ?? E.Output.self
    return type as? any (FieldValue & Equatable).Type
  }

  /// Returns `nil` when a value cannot be one of the field.
  private static func membership<Value: FieldValue & Equatable>(
    _ position: Int,
    _ type: Value.Type,
    _ values: [Any?]
  ) -> Filter<Root>? {
    let column = Column<Root, Value>(position: position)
    var present: [Value] = []
    for case let value? in values {
      guard let value = value as? Value else { return nil }
      present.append(value)
    }
    let isPresent = column.equals(oneOf: present)
    guard present.count < values.count else { return isPresent }
    let isCovered = Value.fieldType.indexedElement == nil
    return isPresent || column.filter(.isPresent(false), keys: isCovered ? .null : nil)
  }

  /// Translates `expression order value`.
  func ordering<E: PredicateExpression>(
    of expression: E,
    _ order: ComparisonOperator,
    _ value: Any
  ) throws -> Filter<Root> {
    if let position = try field(expression) {
      let type = (E.Output.self as? any OptionalFieldValue.Type)?.wrappedType ?? E.Output.self
      guard let type = type as? any (FieldValue & Comparable).Type,
        let condition = Self.ordering(position, type, order, value)
      else { throw Self.unsupported(expression) }
      return condition
    }
    guard let compared = expression as? any ComparedExpression else {
      throw Self.unsupported(expression)
    }
    return try compared.ordering(order, value, in: self)
  }

  private static func ordering<Value: FieldValue & Comparable>(
    _ position: Int,
    _ type: Value.Type,
    _ order: ComparisonOperator,
    _ value: Any
  ) -> Filter<Root>? {
    (value as? Value).map { Column<Root, Value>(position: position).compares(order, to: $0) }
  }
}

extension OptionalFieldValue {
  fileprivate static var wrappedType: Any.Type { Wrapped.self }
}

/// A Swift range, as the comparisons that its elements meet.
private protocol BoundedRange {
  var bounds: [(order: ComparisonOperator, value: Any)] { get }
}

extension Range: BoundedRange {
  fileprivate var bounds: [(order: ComparisonOperator, value: Any)] {
    [(.greaterThanOrEqual, lowerBound), (.lessThan, upperBound)]
  }
}

extension ClosedRange: BoundedRange {
  fileprivate var bounds: [(order: ComparisonOperator, value: Any)] {
    [(.greaterThanOrEqual, lowerBound), (.lessThanOrEqual, upperBound)]
  }
}

extension PartialRangeFrom: BoundedRange {
  fileprivate var bounds: [(order: ComparisonOperator, value: Any)] {
    [(.greaterThanOrEqual, lowerBound)]
  }
}

extension PartialRangeThrough: BoundedRange {
  fileprivate var bounds: [(order: ComparisonOperator, value: Any)] {
    [(.lessThanOrEqual, upperBound)]
  }
}

extension PartialRangeUpTo: BoundedRange {
  fileprivate var bounds: [(order: ComparisonOperator, value: Any)] { [(.lessThan, upperBound)] }
}

// Conditions that agree exactly with Swift's operators. The conditions of columns differ for
// strings, which they compare by UTF-8 bytes.

/// A comparison operator.
enum ComparisonOperator {
  case lessThan
  case lessThanOrEqual
  case greaterThan
  case greaterThanOrEqual

  /// The operator for swapped operands.
  var reversed: ComparisonOperator {
    switch self {
    case .lessThan: .greaterThan
    case .lessThanOrEqual: .greaterThanOrEqual
    case .greaterThan: .lessThan
    case .greaterThanOrEqual: .lessThanOrEqual
    }
  }

  func holds<Value: Comparable>(_ left: Value, _ right: Value) -> Bool {
    switch self {
    case .lessThan: left < right
    case .lessThanOrEqual: left <= right
    case .greaterThan: left > right
    case .greaterThanOrEqual: left >= right
    }
  }
}

extension Column where Value: FieldValue & Equatable {
  /// Matches objects whose field is `==` to the value.
  func equals(_ value: Value) -> Filter<Root> { equals(oneOf: [value]) }

  /// Matches objects whose field is `==` to one of the values.
  func equals(oneOf values: [Value]) -> Filter<Root> {
    guard Value.fieldType == .string else { return isIn(values) }
    var others = values
    let start = others.partition { SwiftString.isUnique($0.storedBytes) }
    let isUnique = isIn(others[start...])
    others.removeSubrange(start...)
    guard !others.isEmpty else { return isUnique }
    if let others = others as? [String] {
      let set = Set(others)
      return isUnique || Column<Root, String>(position: position).satisfies { set.contains($0) }
    }
    return isUnique || satisfies { [others] value in others.contains(value) }
  }
}

extension Column where Value: FieldValue & Comparable {
  /// Matches objects for which `field order value` is true in Swift.
  func compares(_ order: ComparisonOperator, to value: Value) -> Filter<Root> {
    guard Value.fieldType != .string else { return satisfies { order.holds($0, value) } }
    // `Date` implements `<=` and `>=` as the negations of `>` and `<`, which are true for NaN.
    if let date = value as? Date, order == .lessThanOrEqual || order == .greaterThanOrEqual {
      guard !date.timeIntervalSinceReferenceDate.isNaN else {
        return filter(.isPresent(true), keys: .present)
      }
      return (order == .lessThanOrEqual ? self <= value : self >= value) || isNaN
    }
    return switch order {
    case .lessThan: self < value
    case .lessThanOrEqual: self <= value
    case .greaterThan: self > value
    case .greaterThanOrEqual: self >= value
    }
  }
}

extension Column where Value: FieldValue {
  /// Matches objects whose field is NaN.
  private var isNaN: Filter<Root> {
    guard let form = NumberForm(Value.fieldType), form.form == .number else { return .none }
    let words = form.comparable
    return filter(
      .number(NumberTest(form, in: words, isNegated: true)),
      keys: .numbers(form, [0...words.lowerBound - 1, words.upperBound + 1...form.mask])
    )
  }
}

extension Column where Value == String {
  /// Matches objects whose string contains the characters of `part` as a contiguous sequence.
  func contains(characters part: String) -> Filter<Root> {
    let test = satisfies { SwiftString.contains($0, part) }
    return SwiftString.isUnique(part.storedBytes) ? contains(part) && test : test
  }

  /// Matches objects whose string starts with the characters of `start`.
  func starts(withCharacters start: String) -> Filter<Root> {
    let test = satisfies { $0.starts(with: start) }
    return SwiftString.isUnique(start.storedBytes) ? hasPrefix(start) && test : test
  }
}

/// Strings as Swift compares them: by characters, up to canonical equivalence.
private enum SwiftString {
  /// Whether no other byte sequence is canonically equivalent to this one.
  ///
  /// True for ASCII without the three characters that have a singleton equivalent: "K" (U+212A),
  /// ";" (U+037E) and "`" (U+1FEF).
  static func isUnique(_ bytes: [UInt8]) -> Bool {
    bytes.allSatisfy { byte in
      byte < 0x80 && byte != UInt8(ascii: "K") && byte != UInt8(ascii: ";")
        && byte != UInt8(ascii: "`")
    }
  }

  /// The generic `contains` of collections, as Foundation's filter calls it.
  static func contains<C: Collection>(_ whole: C, _ part: C) -> Bool where C.Element: Equatable {
    whole.contains(part)
  }
}
