#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension PredicateExpressions.Equal: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    if let value = translation.value(rhs) { return try translation.equality(of: lhs, with: value) }
    if let value = translation.value(lhs) { return try translation.equality(of: rhs, with: value) }
    throw PredicateTranslation<M>.unsupported(self)
  }
}

extension PredicateExpressions.NotEqual: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    if let value = translation.value(rhs) { return try !translation.equality(of: lhs, with: value) }
    if let value = translation.value(lhs) { return try !translation.equality(of: rhs, with: value) }
    throw PredicateTranslation<M>.unsupported(self)
  }
}

extension PredicateExpressions.Comparison: ConditionExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    let order: ValueOrder =
      switch op {
      case .lessThan: .less
      case .lessThanOrEqual: .atMost
      case .greaterThan: .more
      case .greaterThanOrEqual: .atLeast
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
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    guard let range = translation.constant(range) as? any BoundedRange else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    return try range.bounds.reduce(.all) { condition, bound in
      try condition && translation.ordering(of: element, bound.order, bound.value)
    }
  }
}

extension PredicateExpressions.KeyPath: ConditionExpression, ComparedExpression {
  func condition<M: Model>(in translation: PredicateTranslation<M>) throws -> Predicate<M> {
    try translation.equality(of: self, with: true)
  }

  func equality<M: Model>(
    with value: Any?,
    in translation: PredicateTranslation<M>
  ) throws -> Predicate<M> {
    switch (kind, value) {
    case (.collectionIsEmpty, let value as Bool):
      let isEmpty = try count(in: translation) == 0
      // As with any other value of what is there, nil has none.
      return try value ? isEmpty : count(in: translation) > 0
    case (.collectionCount, let value as Int): return try count(in: translation) == value
    default: throw PredicateTranslation<M>.unsupported(self)
    }
  }

  func ordering<M: Model>(
    _ order: ValueOrder,
    _ value: Any,
    in translation: PredicateTranslation<M>
  ) throws -> Predicate<M> {
    guard kind == .collectionCount, let value = value as? Int else {
      throw PredicateTranslation<M>.unsupported(self)
    }
    let count = try count(in: translation)
    return switch order {
    case .less: count < value
    case .atMost: count <= value
    case .more: count > value
    case .atLeast: count >= value
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
  /// Where the expression is that value.
  func equality<E: PredicateExpression>(
    of expression: E,
    with value: Any?
  ) throws -> Predicate<Root> {
    if let position = try field(expression) {
      let type = (E.Output.self as? any OptionalFieldValue.Type)?.wrappedType ?? E.Output.self
      guard let type = type as? any (FieldValue & Equatable).Type,
        let condition = Self.equality(position, type, value)
      else { throw Self.unsupported(expression) }
      return condition
    }
    if let compared = expression as? any ComparedExpression {
      return try compared.equality(with: value, in: self)
    }
    guard let value = value as? Bool else { throw Self.unsupported(expression) }
    return try value ? condition(expression) : !condition(expression)
  }

  private static func equality<Value: FieldValue & Equatable>(
    _ position: Int,
    _ type: Value.Type,
    _ value: Any?
  ) -> Predicate<Root>? {
    let column = Column<Root, Value>(position: position)
    guard let value else {
      return column.predicate(
        .isPresent(false),
        keys: Value.fieldType.indexedElement == nil ? .null : nil
      )
    }
    return (value as? Value).map { column.equals($0) }
  }

  /// Where the expression stands so to that value.
  func ordering<E: PredicateExpression>(
    of expression: E,
    _ order: ValueOrder,
    _ value: Any
  ) throws -> Predicate<Root> {
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
    _ order: ValueOrder,
    _ value: Any
  ) -> Predicate<Root>? {
    (value as? Value).map { Column<Root, Value>(position: position).stands(order, to: $0) }
  }
}

extension OptionalFieldValue {
  fileprivate static var wrappedType: Any.Type { Wrapped.self }
}

/// A range of Swift, by its bounds.
private protocol BoundedRange {
  var bounds: [(order: ValueOrder, value: Any)] { get }
}

extension Range: BoundedRange {
  fileprivate var bounds: [(order: ValueOrder, value: Any)] {
    [(.atLeast, lowerBound), (.less, upperBound)]
  }
}

extension ClosedRange: BoundedRange {
  fileprivate var bounds: [(order: ValueOrder, value: Any)] {
    [(.atLeast, lowerBound), (.atMost, upperBound)]
  }
}

extension PartialRangeFrom: BoundedRange {
  fileprivate var bounds: [(order: ValueOrder, value: Any)] { [(.atLeast, lowerBound)] }
}

extension PartialRangeThrough: BoundedRange {
  fileprivate var bounds: [(order: ValueOrder, value: Any)] { [(.atMost, upperBound)] }
}

extension PartialRangeUpTo: BoundedRange {
  fileprivate var bounds: [(order: ValueOrder, value: Any)] { [(.less, upperBound)] }
}
