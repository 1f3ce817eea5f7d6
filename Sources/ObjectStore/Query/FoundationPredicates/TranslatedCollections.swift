#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.SequenceContains: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    if let position = try translation.field(sequence) {
      guard let collection = LHS.Output.self as? any FieldCollection.Type,
        let element = translation.constant(element),
        let condition: Predicate<M> = collection.contains(element, at: position)
      else { throw PredicateTranslation<M>.unsupported(self) }
      return condition
    }
    guard let values = translation.constant(sequence) else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    return try values.reduce(Predicate<M>.none) { condition, value in
      try condition || translation.equality(of: element, with: value)
    }
  }
}

extension PredicateExpressions.SequenceContainsWhere: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    try translation.elements(of: sequence, variable.key, test, isEvery: false)
  }
}

extension PredicateExpressions.SequenceAllSatisfy: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    try translation.elements(of: sequence, variable.key, test, isEvery: true)
  }
}

extension PredicateTranslation {
  fileprivate func elements<S: PredicateExpression>(
    of sequence: S,
    _ variable: PredicateExpressions.VariableID,
    _ test: some PredicateExpression,
    isEvery: Bool
  ) throws -> Predicate<Root> {
    guard let position = try field(sequence),
      let collection = S.Output.self as? any FieldCollection.Type
    else { throw Self.unsupported(sequence) }
    let inner = try ofElement(variable, at: position).condition(test)
    return collection.elements(inner, at: position, isEvery: isEvery)
  }
}

extension FieldCollection {
  fileprivate static func elements<M: Model>(
    _ condition: Predicate<M>,
    at position: Int,
    isEvery: Bool
  ) -> Predicate<M> {
    Predicate(
      .elements(
        position: position,
        type: Element.fieldType,
        condition: condition.node,
        isEvery: isEvery
      )
    )
  }

  /// `nil` when that can be no element.
  fileprivate static func contains<M: Model>(_ element: Any, at position: Int) -> Predicate<M>? {
    func equality<Value: FieldValue & Equatable>(_ type: Value.Type) -> Predicate<M>? {
      (element as? Value).map { Column<M, Value>(position: position).equals($0) }
    }
    guard let type = Element.self as? any (FieldValue & Equatable).Type,
      let condition = equality(type)
    else { return nil }
    return elements(condition, at: position, isEvery: false)
  }
}

extension PredicateExpressions.CollectionContainsCollection: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    guard let column: Column<M, String> = try translation.text(base),
      let part = translation.constant(other) as? String
    else { throw PredicateTranslation<M>.unsupported(self) }
    return column.contains(characters: part)
  }
}

extension PredicateExpressions.SequenceStartsWith: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    guard let column: Column<M, String> = try translation.text(base),
      let start = translation.constant(prefix) as? String
    else { throw PredicateTranslation<M>.unsupported(self) }
    return column.starts(withCharacters: start)
  }
}

extension PredicateTranslation {
  /// The column of an expression that is a text.
  fileprivate func text<E: PredicateExpression>(_ expression: E) throws -> Column<Root, String>? {
    guard E.Output.self == String.self else { return nil }
    return try field(expression).map { Column(position: $0) }
  }
}
