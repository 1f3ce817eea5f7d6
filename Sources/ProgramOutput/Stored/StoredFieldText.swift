package import Foundation
package import ObjectStore

/// Values of stored fields, as users write them on the command line.
package enum StoredFieldText {
  /// Parses a value of a type; `nil` if the text is not one.
  ///
  /// Dates are seconds since 2001, as in exports; data and embedded values are Base64.
  package static func value(_ text: String, of type: FieldType) -> StoredValue? {
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
  package static func dates(_ text: String) -> Range<Date>? {
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
  package static func example(of type: FieldType) -> String {
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
