package import ObjectStore

/// A condition on a field, such as `state=waiting` or `received>=1000`.
package struct FieldCondition: Sendable, Hashable {
  /// The operator between the field and the value.
  package enum Operator: String, Sendable, Hashable, CaseIterable {
    case notEqual = "!="
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case hasPrefix = "^="
    case equal = "="
    case less = "<"
    case greater = ">"
    case contains = "~"

    /// The comparison of an operator that compares by order.
    fileprivate var comparison: StoredCondition.Comparison? {
      switch self {
      case .less: .less
      case .lessOrEqual: .lessOrEqual
      case .greater: .greater
      case .greaterOrEqual: .greaterOrEqual
      case .equal, .notEqual, .contains, .hasPrefix: nil
      }
    }
  }

  package var field: String
  package var comparison: Operator
  package var value: String

  /// Parses the text; `nil` without a field or an operator.
  ///
  /// The operator is the first one in the text; of those that begin there, the longest.
  package init?(_ text: String) {
    var start = text.startIndex
    while start < text.endIndex {
      let rest = text[start...]
      guard let found = Operator.allCases.first(where: { rest.hasPrefix($0.rawValue) }) else {
        start = text.index(after: start)
        continue
      }
      guard start > text.startIndex else { return nil }
      field = String(text[..<start])
      comparison = found
      value = String(rest.dropFirst(found.rawValue.count))
      return
    }
    return nil
  }

  /// Returns the condition on a model's field.
  ///
  /// - Throws: ``CommandFailure`` with `usage` for an unknown field, a value that the field cannot
  ///   have, or an operator that its type does not have.
  package func resolved(in model: StoredModel) throws -> StoredCondition {
    let field = try model.field(named: field)
    return StoredCondition(fieldID: field.id, test: try test(on: field))
  }

  private func test(on field: StoredModel.Field) throws -> StoredCondition.Test {
    switch comparison {
    case .equal: return try equality(on: field)
    case .notEqual: return .not(try equality(on: field))
    case .contains, .hasPrefix:
      guard field.type == .string else { throw refusal(of: field) }
      return comparison == .contains ? .containsText(value) : .hasPrefix(value)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: return try order(on: field)
    }
  }

  private func equality(on field: StoredModel.Field) throws -> StoredCondition.Test {
    if field.isOptional, value == "null" { return .equals(.null) }
    switch field.type {
    case .date:
      if let dates = StoredFieldText.dates(value) { return .isDate(dates) }
    case .array(let element), .set(let element):
      if let value = StoredFieldText.value(value, of: element) { return .contains(value) }
    default: break
    }
    return .equals(try stored(field))
  }

  private func order(on field: StoredModel.Field) throws -> StoredCondition.Test {
    switch field.type {
    case .array, .set, .dictionary, .embedded: throw refusal(of: field)
    case .date:
      guard let dates = StoredFieldText.dates(value) else { break }
      // A day is a span: before it, not after it, after it, and not before it.
      switch comparison {
      case .less: return .compares(.less, .date(dates.lowerBound))
      case .lessOrEqual: return .compares(.less, .date(dates.upperBound))
      case .greater: return .compares(.greaterOrEqual, .date(dates.upperBound))
      default: return .compares(.greaterOrEqual, .date(dates.lowerBound))
      }
    default: break
    }
    guard let order = comparison.comparison else { throw refusal(of: field) }
    return .compares(order, try stored(field))
  }

  private func stored(_ field: StoredModel.Field) throws -> StoredValue {
    guard let stored = StoredFieldText.value(value, of: field.type) else {
      throw CommandFailure(
        .usage,
        "'\(value)' is not a value of \(field.name), which is of type \(field.type): write "
          + StoredFieldText.example(of: field.type) + (field.isOptional ? ", or null" : "")
      )
    }
    return stored
  }

  private func refusal(of field: StoredModel.Field) -> CommandFailure {
    CommandFailure(
      .usage,
      "'\(comparison.rawValue)' does not apply to \(field.name), which is of type \(field.type)"
    )
  }
}
