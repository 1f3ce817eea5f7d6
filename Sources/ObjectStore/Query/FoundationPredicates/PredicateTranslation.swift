#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What the variables of a Foundation predicate stand for, while it is translated.
struct PredicateTranslation<Root: Model> {
  /// The variable that is the object; `nil` where only an element may be spoken of.
  var root: PredicateExpressions.VariableID?
  /// The fields whose values, or the elements of them, other variables are.
  var fields: [PredicateExpressions.VariableID: Int] = [:]

  /// The condition that is true where the expression is.
  func condition(_ expression: any PredicateExpression) throws -> Predicate<Root> {
    if let value = constant(expression) as? Bool { return value ? .all : .none }
    guard let expression = expression as? any ConditionExpression else {
      throw Self.unsupported(expression)
    }
    return try expression.condition(in: self)
  }

  /// The value of an expression in which no variable decides.
  func constant<E: PredicateExpression>(_ expression: E) -> E.Output? {
    try? expression.evaluate(PredicateBindings())
  }

  /// The position of the field of which the expression is the value; `nil` when it is of none.
  func field(_ expression: any PredicateExpression) throws -> Int? {
    try (expression as? any FieldExpression)?.position(in: self)
  }

  /// The same, where a variable is the value of a field.
  func with(_ variable: PredicateExpressions.VariableID, at position: Int) -> Self {
    var inner = self
    inner.fields[variable] = position
    return inner
  }

  /// Only a variable that is an element of the collection in a field.
  func ofElement(_ variable: PredicateExpressions.VariableID, at position: Int) -> Self {
    Self(root: nil, fields: [variable: position])
  }

  static func unsupported(_ expression: Any, _ reason: String? = nil) -> StoreError {
    StoreError(
      .unsupportedPredicate,
      "a query of \(Root.schema.name) cannot say \(type(of: expression))"
        + (reason.map { ": \($0)" } ?? "")
    )
  }
}

/// An expression of Foundation that is true or false.
protocol ConditionExpression: PredicateExpression {
  func condition<Root: Model>(in translation: PredicateTranslation<Root>) throws -> Predicate<Root>
}

/// An expression that may be the value of a field.
protocol FieldExpression: PredicateExpression {
  func position<Root: Model>(in translation: PredicateTranslation<Root>) throws -> Int?
}

/// An expression that is no field, and of which can be said what it equals, or is more or less than.
protocol ComparedExpression: PredicateExpression {
  /// Where it is that value; `nil` stands for itself.
  func equality<Root: Model>(
    with value: Any?,
    in translation: PredicateTranslation<Root>
  ) throws -> Predicate<Root>

  /// Where it stands so to that value.
  func ordering<Root: Model>(
    _ order: ValueOrder,
    _ value: Any,
    in translation: PredicateTranslation<Root>
  ) throws -> Predicate<Root>
}

extension PredicateExpressions.Variable: FieldExpression {
  func position<Root: Model>(in translation: PredicateTranslation<Root>) throws -> Int? {
    translation.fields[key]
  }
}

extension PredicateExpressions.KeyPath: FieldExpression {
  func position<M: Model>(in translation: PredicateTranslation<M>) throws -> Int? {
    guard let variable = root as? PredicateExpressions.Variable<M>,
      variable.key == translation.root,
      let path = keyPath as? PartialKeyPath<M>
    else { return nil }
    guard let position = M.fieldPosition(of: path) else {
      throw PredicateTranslation<M>.unsupported(
        self,
        "\(path) is no stored property, or the model does not say which field it is"
      )
    }
    return position
  }
}

/// A value that may be `nil`, whatever it is.
private protocol AnyOptional {
  var anyValue: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var anyValue: Any? { self }
}

extension PredicateTranslation {
  /// A constant with its optional taken off; `nil` when the expression is no constant.
  func value(_ expression: some PredicateExpression) -> Any?? {
    guard let value = constant(expression) else { return .none }
    guard let optional = value as? any AnyOptional else { return .some(value) }
    return .some(optional.anyValue)
  }
}
