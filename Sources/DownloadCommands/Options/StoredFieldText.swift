internal import Foundation
internal import ObjectStore

/// Values of stored fields, as users write them on the command line.
enum StoredFieldText {
  /// Parses a value of a type; `nil` if the text is not one.
  ///
  /// Dates are seconds since 2001, as in exports; data and embedded values are Base64.
  static func value(_ text: String, of type: FieldType) -> StoredValue? {
    switch type {
    case .bool:
      switch text {
      case "true": .bool(true)
      case "false": .bool(false)
      default: nil
      }
    case .signed, .unsigned, .decimal, .float, .double, .date:
      StoredValue(json: .number(text), type: type) ?? StoredValue(json: .string(text), type: type)
    case .uuid, .string, .data, .embedded: StoredValue(json: .string(text), type: type)
    case .array, .set, .dictionary: nil
    }
  }

  /// Parses a date as a day or a time in UTC, and returns the span that the text covers: a day, a
  /// second or a millisecond.
  static func dates(_ text: String) -> Range<Date>? {
    let span: Double
    switch (text.utf8.count, text.last) {
    case (10, _): span = 86_400
    case (20, "Z"): span = 1
    case (24, "Z"): span = 0.001
    default: return nil
    }
    guard let date = ImportedDate.date(text) else { return nil }
    // A microsecond earlier, because no Double is exactly a number of milliseconds.
    let start = date.addingTimeInterval(-0.000_001)
    return start..<start.addingTimeInterval(span)
  }

  /// An example of a value, for error messages.
  static func example(of type: FieldType) -> String {
    switch type {
    case .bool: "true or false"
    case .signed, .unsigned: "a whole number in the range of \(type)"
    case .float, .double, .decimal: "a number such as 1.5"
    case .date: "a time such as 2026-01-31 or 2026-01-31T08:00:00Z"
    case .uuid: "a UUID"
    case .string: "text"
    case .data, .embedded: "Base64"
    case .array(let element), .set(let element): "an element: \(example(of: element))"
    case .dictionary: "nothing: dictionaries cannot be compared"
    }
  }
}

/// The condition `FIELD=VALUE` of `dlstore store query`.
struct FieldCondition: Sendable, Hashable {
  var field: String
  var value: String

  /// Parses the text; `nil` without a field or an equals sign.
  init?(_ text: String) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty else { return nil }
    field = String(parts[0])
    value = String(parts[1])
  }

  /// Returns the condition on a model's field.
  ///
  /// - Throws: ``CommandFailure`` with `usage` for an unknown field, or a value that the field
  ///   cannot have.
  func resolved(in model: StoredModel) throws -> StoredCondition {
    let field = try model.field(named: field)
    return StoredCondition(fieldID: field.id, test: try test(on: field))
  }

  private func test(on field: StoredModel.Field) throws -> StoredCondition.Test {
    if field.isOptional, value == "null" { return .equals(.null) }
    switch field.type {
    case .date:
      if let dates = StoredFieldText.dates(value) { return .isDate(dates) }
    case .array(let element), .set(let element):
      if let value = StoredFieldText.value(value, of: element) { return .contains(value) }
    default: break
    }
    guard let stored = StoredFieldText.value(value, of: field.type) else {
      throw CommandFailure(
        .usage,
        "'\(value)' is not a value of \(field.name), which is of type \(field.type): write "
          + StoredFieldText.example(of: field.type) + (field.isOptional ? ", or null" : "")
      )
    }
    return .equals(stored)
  }
}

extension StoredModel {
  /// Returns the field with a name.
  ///
  /// - Throws: ``CommandFailure`` with `usage`, and the nearest name.
  func field(named text: String) throws -> Field {
    if let field = fields.first(where: { $0.name == text }) { return field }
    let names = fields.map(\.name)
    throw CommandFailure(
      .usage,
      "\(name) has no field '\(text)'.\(Suggestion.text(for: text, among: names)) "
        + "The fields are: \(names.joined(separator: " "))"
    )
  }
}

extension Store {
  /// Returns the description of a model.
  ///
  /// - Throws: ``CommandFailure`` with `failed`, and the nearest name; ``StoreError``.
  func storedModel(named name: String) throws -> StoredModel {
    let models = try storedModels()
    if let model = models.first(where: { $0.name == name }) { return model }
    let names = models.map(\.name)
    throw CommandFailure(
      .failed,
      "\(path) has no model '\(name)'.\(Suggestion.text(for: name, among: names)) "
        + "The models are: \(names.joined(separator: " "))"
    )
  }
}
