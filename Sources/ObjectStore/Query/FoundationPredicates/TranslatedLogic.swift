#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Conjunction: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    try translation.condition(lhs) && translation.condition(rhs)
  }
}

extension PredicateExpressions.Disjunction: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    try translation.condition(lhs) || translation.condition(rhs)
  }
}

extension PredicateExpressions.Negation: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    try !translation.condition(wrapped)
  }
}

extension PredicateExpressions.Conditional: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    let test = try translation.condition(test)
    let (yes, no) = try (translation.condition(trueBranch), translation.condition(falseBranch))
    return test && yes || !test && no
  }
}

extension PredicateExpressions.OptionalFlatMap: ComparedExpression {
  func equality<M: Model>(
    with value: Any?,
    in translation: PredicateTranslation<M>
  ) throws -> Predicate<M> {
    let absence = try translation.equality(of: wrapped, with: nil)
    guard let value else {
      // What the closure gives may be nil, too.
      guard !(RHS.Output.self is any OptionalFieldValue.Type) else {
        throw PredicateTranslation<M>.unsupported(self)
      }
      return absence
    }
    return try !absence && inner(translation).equality(of: transform, with: value)
  }

  func ordering<M: Model>(
    _ order: ValueOrder,
    _ value: Any,
    in translation: PredicateTranslation<M>
  ) throws -> Predicate<M> {
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
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    try equality(with: true, in: translation)
  }

  func equality<M: Model>(
    with value: Any?,
    in translation: PredicateTranslation<M>
  ) throws -> Predicate<M> {
    guard let value, let fallback = translation.constant(rhs) else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    let isFallback = (value as? any Equatable)?.isEqual(to: fallback) ?? false
    let found = try translation.equality(of: lhs, with: value)
    return try isFallback ? found || translation.equality(of: lhs, with: nil) : found
  }

  func ordering<M: Model>(
    _ order: ValueOrder,
    _ value: Any,
    in translation: PredicateTranslation<M>
  ) throws -> Predicate<M> {
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
  /// `nil` when the other is of another type.
  fileprivate func `is`(_ order: ValueOrder, _ other: Any) -> Bool? {
    (other as? Self).map { order.holds(self, $0) }
  }
}
