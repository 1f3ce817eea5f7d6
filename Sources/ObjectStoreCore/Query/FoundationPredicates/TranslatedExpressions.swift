#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Conjunction: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    try translation.condition(lhs) && translation.condition(rhs)
  }
}

extension PredicateExpressions.Disjunction: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    try translation.condition(lhs) || translation.condition(rhs)
  }
}

extension PredicateExpressions.Negation: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    try !translation.condition(wrapped)
  }
}

extension PredicateExpressions.Conditional: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    let test = try translation.condition(test)
    let (yes, no) = try (translation.condition(trueBranch), translation.condition(falseBranch))
    return test && yes || !test && no
  }
}

extension PredicateExpressions.OptionalFlatMap: ComparedExpression {
  func equality<M: Model>(
    with value: Any?,
    in translation: PredicateTranslation<M>
  ) throws -> Filter<M> {
    let absence = try translation.equality(of: wrapped, with: nil)
    guard let value else {
      // The closure may return `nil`, too.
      guard !(RHS.Output.self is any OptionalFieldValue.Type) else {
        throw PredicateTranslation<M>.unsupported(self)
      }
      return absence
    }
    return try !absence && inner(translation).equality(of: transform, with: value)
  }

  func ordering<M: Model>(
    _ order: ComparisonOperator,
    _ value: Any,
    in translation: PredicateTranslation<M>
  ) throws -> Filter<M> {
    let absence = try translation.equality(of: wrapped, with: nil)
    return try !absence && inner(translation).ordering(of: transform, order, value)
  }

  private func inner<M: Model>(
    _ translation: PredicateTranslation<M>
  ) throws -> PredicateTranslation<M> {
    guard let position = try translation.field(wrapped) else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    return translation.with(variable.key, at: position)
  }
}

extension PredicateExpressions.NilCoalesce: ConditionExpression, ComparedExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    try equality(with: true, in: translation)
  }

  func equality<M: Model>(
    with value: Any?,
    in translation: PredicateTranslation<M>
  ) throws -> Filter<M> {
    guard let value, let fallback = translation.constant(rhs) else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    let isFallback = (value as? any Equatable)?.isEqual(to: fallback) ?? false
    let found = try translation.equality(of: lhs, with: value)
    return try isFallback ? found || translation.equality(of: lhs, with: nil) : found
  }

  func ordering<M: Model>(
    _ order: ComparisonOperator,
    _ value: Any,
    in translation: PredicateTranslation<M>
  ) throws -> Filter<M> {
    guard let fallback = translation.constant(rhs), let value = value as? any Comparable,
      let isMet = value.is(order.reversed, fallback)
    else { throw PredicateTranslation<M>.unsupported(self) }
    let absence = try translation.equality(of: lhs, with: nil)
    let found = try !absence && translation.ordering(of: lhs, order, value)
    return isMet ? found || absence : found
  }
}

extension Equatable {
  fileprivate func isEqual(to other: Any) -> Bool { (other as? Self) == self }
}

extension Comparable {
  /// Returns `nil` when `other` has a different type.
  fileprivate func `is`(_ order: ComparisonOperator, _ other: Any) -> Bool? {
    (other as? Self).map { order.holds(self, $0) }
  }
}

extension PredicateExpressions.SequenceContains: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    if let position = try translation.field(sequence) {
      guard let collection = LHS.Output.self as? any FieldCollection.Type,
        let element = translation.constant(element),
        let condition: Filter<M> = collection.contains(element, at: position)
      else { throw PredicateTranslation<M>.unsupported(self) }
      return condition
    }
    guard let values = translation.constant(sequence) else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    return try translation.membership(of: element, in: values)
  }
}

extension PredicateExpressions.SequenceContainsWhere: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    try translation.elements(of: sequence, variable.key, test, isEvery: false)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    try translation.elements(of: sequence, variable.key, test, isEvery: true)
  }
}

extension PredicateTranslation {
  fileprivate func elements<S: PredicateExpression>(
    of sequence: S,
    _ variable: PredicateExpressions.VariableID,
    _ test: some PredicateExpression,
    isEvery: Bool
  ) throws -> Filter<Root> {
    guard let position = try field(sequence),
      let collection = S.Output.self as? any FieldCollection.Type
    else { throw Self.unsupported(sequence) }
    let inner = try ofElement(variable, at: position).condition(test)
    return collection.elements(inner, at: position, isEvery: isEvery)
  }
}

extension FieldCollection {
  fileprivate static func elements<M: Model>(
    _ condition: Filter<M>,
    at position: Int,
    isEvery: Bool
  ) -> Filter<M> {
    Filter(
      .elements(
        position: position,
        type: Element.fieldType,
        condition: condition.node,
        isEvery: isEvery
      )
    )
  }

  /// Returns `nil` when the value cannot be an element of the collection.
  fileprivate static func contains<M: Model>(_ element: Any, at position: Int) -> Filter<M>? {
    func equality<Value: FieldValue & Equatable>(_ type: Value.Type) -> Filter<M>? {
      (element as? Value).map { Column<M, Value>(position: position).equals($0) }
    }
    guard let type = Element.self as? any (FieldValue & Equatable).Type,
      let condition = equality(type)
    else { return nil }
    return elements(condition, at: position, isEvery: false)
  }
}

extension PredicateExpressions.CollectionContainsCollection: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    guard let column: Column<M, String> = try translation.stringColumn(base),
      let part = translation.constant(other) as? String
    else { throw PredicateTranslation<M>.unsupported(self) }
    return column.contains(characters: part)
  }
}

extension PredicateExpressions.SequenceStartsWith: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Filter<M> {
    guard let column: Column<M, String> = try translation.stringColumn(base),
      let start = translation.constant(prefix) as? String
    else { throw PredicateTranslation<M>.unsupported(self) }
    return column.starts(withCharacters: start)
  }
}

extension PredicateTranslation {
  /// Returns the column of an expression whose value is a string, otherwise `nil`.
  fileprivate func stringColumn<E: PredicateExpression>(
    _ expression: E
  ) throws -> Column<Root, String>? {
    guard E.Output.self == String.self else { return nil }
    return try field(expression).map { Column(position: $0) }
  }
}
