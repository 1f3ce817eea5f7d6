#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The scope in which a Foundation predicate is translated: what its variables stand for.
struct PredicateTranslation<Root: Model> {
  /// The variable that stands for the object; `nil` inside a condition on elements, which may refer
  /// to the element only.
  var root: PredicateExpressions.VariableID?
  /// The positions of the fields for whose value, or whose elements, other variables stand.
  var fields: [PredicateExpressions.VariableID: Int] = [:]

  /// Translates an expression into a condition.
  func condition(_ expression: any PredicateExpression) throws -> Filter<Root> {
    if let value = constant(expression) as? Bool { return value ? .all : .none }
    guard let expression = expression as? any ConditionExpression else {
      throw Self.unsupported(expression)
    }
    return try expression.condition(in: self)
  }

  /// Returns the value of an expression that depends on no variable, otherwise `nil`.
  func constant<E: PredicateExpression>(_ expression: E) -> E.Output? {
    try? expression.evaluate(PredicateBindings())
  }

  /// Returns the position of the field to which the expression refers, otherwise `nil`.
  func field(_ expression: any PredicateExpression) throws -> Int? {
    try (expression as? any FieldExpression)?.position(in: self)
  }

  /// Returns a scope in which a variable also stands for the value of a field.
  func with(_ variable: PredicateExpressions.VariableID, at position: Int) -> Self {
    var inner = self
    inner.fields[variable] = position
    return inner
  }

  /// Returns a scope with one variable, which stands for an element of a field's collection.
  func ofElement(_ variable: PredicateExpressions.VariableID, at position: Int) -> Self {
    Self(root: nil, fields: [variable: position])
  }

  static func unsupported(_ expression: Any, _ reason: String? = nil) -> StoreError {
    StoreError(
      .unsupportedPredicate,
      "a query of \(Root.schema.name) cannot express \(type(of: expression))"
        + (reason.map { ": \($0)" } ?? "")
    )
  }
}

/// A Foundation expression that translates into a condition.
protocol ConditionExpression: PredicateExpression {
  func condition<Root: Model>(in translation: PredicateTranslation<Root>) throws -> Filter<Root>
}

/// A Foundation expression that can refer to a field.
protocol FieldExpression: PredicateExpression {
  func position<Root: Model>(in translation: PredicateTranslation<Root>) throws -> Int?
}

/// A Foundation expression that is not a field but can be compared with a constant.
protocol ComparedExpression: PredicateExpression {
  /// Translates `self == value`; a `nil` value compares with `nil`.
  func equality<Root: Model>(
    with value: Any?,
    in translation: PredicateTranslation<Root>
  ) throws -> Filter<Root>

  /// Translates `self order value`.
  func ordering<Root: Model>(
    _ order: ComparisonOperator,
    _ value: Any,
    in translation: PredicateTranslation<Root>
  ) throws -> Filter<Root>
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
        "\(path) is not a stored property, or the model's fieldPosition(of:) does not map it"
      )
    }
    return position
  }
}

/// Any optional value.
private protocol AnyOptional {
  var anyValue: Any? { get }
}

extension Optional: AnyOptional {
  fileprivate var anyValue: Any? { self }
}

extension PredicateTranslation {
  /// Returns the value of a constant with one level of optional removed.
  ///
  /// Returns `.none` when the expression is not a constant, and `.some(nil)` for a constant `nil`.
  func value(_ expression: some PredicateExpression) -> Any?? {
    guard let value = constant(expression) else { return .none }
    return .some(Self.unwrapped(value))
  }

  /// Returns a value with one level of optional removed.
  static func unwrapped<Value>(_ value: Value) -> Any? {
    guard let optional = value as? any AnyOptional else { return value }
    return optional.anyValue
  }
}

extension Query {
  /// Translates a Foundation predicate into a query.
  ///
  /// ```swift
  /// let query = try Query(translating: #Predicate<Note> { $0.rank > 3 && $0.nick == nil })
  /// ```
  ///
  /// Use it for predicates that another component supplies; the compiler checks ``Model/where(_:)``
  /// instead. Supported expressions are `==`, `!=`, `<`, `<=`, `>`, `>=` and ranges between a
  /// property and a constant; `&&`, `||`, `!`, `?:` and `if let`; `nil`, `??`, `?.` and `flatMap`;
  /// `contains` and `allSatisfy` of arrays and sets, with a constant or a closure; `contains` of a
  /// constant sequence; `contains` and `starts(with:)` of a string; `isEmpty` and `count`.
  /// Everything else is refused, such as properties of an embedded value and arithmetic on a
  /// property. The query never calls `evaluate`.
  ///
  /// The model must map properties to fields with ``Model/fieldPosition(of:)``, which `@Model`
  /// generates.
  ///
  /// The query matches exactly the objects for which `evaluate` returns `true`. In particular,
  /// strings compare as in Swift and not by their bytes. An index therefore serves `==` and
  /// `starts(with:)` only for ASCII strings without "K", ";" and "`", and never serves `<` and the
  /// other orderings of strings.
  ///
  /// - Throws: ``StoreError`` with `unsupportedPredicate`; the message names the expression.
  public init(translating predicate: Predicate<Root>) throws {
    let translation = PredicateTranslation<Root>(root: predicate.variable.key)
    self.init(try translation.condition(predicate.expression))
  }
}
