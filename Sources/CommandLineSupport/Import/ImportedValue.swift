internal import Foundation
package import ObjectStore

/// Converts the values of other programs to those of stored fields.
///
/// | type | text | JSON |
/// |---|---|---|
/// | `bool` | `true`, `false`, `t`, `f`, `1` or `0` | also a Boolean, 1 or 0 |
/// | integers | digits | also a number |
/// | `float`, `double` | a number, `Infinity`, `-Infinity` or `NaN` | also a number |
/// | `decimal` | a number or `NaN` | also a number |
/// | `date` | ``ImportedDate``; a number with ``numericDates`` | also a number |
/// | `uuid`, `string` | the text | a string |
/// | `data`, `embedded` | Base64, `x'CAFE'` (SQLite) or `\xcafe` (PostgreSQL) | a string |
/// | collections | JSON | an array, an object, or a string with JSON |
package struct ImportedValue {
  /// The meaning of dates that are numbers; `nil` if they are not accepted.
  package var numericDates: NumericDates?

  /// Creates a conversion.
  package init(numericDates: NumericDates? = nil) {
    self.numericDates = numericDates
  }

  /// Converts the text of a cell; `nil` if it is not a value of the type.
  package func value(_ text: String, _ type: FieldType) -> StoredValue? {
    switch type {
    case .bool: Self.bool(text)
    case .signed, .unsigned: StoredValue(json: .number(text), type: type)
    case .float, .double, .decimal:
      StoredValue(json: Self.isNumber(text) ? .number(text) : Self.special(text), type: type)
        ?? Self.notANumber(text, type)
    case .date: Self.isNumber(text) ? date(text) : ImportedDate.date(text).map { .date($0) }
    case .uuid, .string: StoredValue(json: .string(text), type: type)
    case .data: Self.data(text).map { .data($0) }
    case .embedded: Self.data(text).map { .embedded($0) }
    case .array, .set, .dictionary:
      (try? JSONParser.parse(Array(text.utf8))).flatMap { collection($0, type) }
    }
  }

  /// Converts a JSON value; `nil` if it is null or not a value of the type.
  package func value(_ json: JSONValue, _ type: FieldType) -> StoredValue? {
    switch (type, json) {
    case (_, .null): nil
    case (.date, .number(let digits)): date(digits)
    case (.bool, .number(let text)): Self.bool(text)
    case (.array, .string(let text)), (.set, .string(let text)), (.dictionary, .string(let text)):
      value(text, type)
    case (.array, _), (.set, _), (.dictionary, _): collection(json, type)
    case (_, .string(let text)): value(text, type)
    default: StoredValue(json: json, type: type)
    }
  }

  /// The values that a field can have, for error messages.
  package func expected(_ field: StoredModel.Field) -> String {
    let example: String =
      switch field.type {
      case .bool: "true, false, 1 or 0"
      case .date:
        numericDates == nil
          ? "a time such as 2026-01-31T08:00:00Z, or pass --numeric-dates for numbers"
          : "a time such as 2026-01-31T08:00:00Z, or a number of seconds"
      case .data, .embedded: "Base64, x'CAFE' or \\xCAFE"
      case .array, .set: "a JSON array of its elements"
      case .dictionary: "a JSON object"
      default: StoredFieldText.example(of: field.type)
      }
    return example + (field.isOptional ? ", or nothing" : "")
  }

  // MARK: Numbers

  private static func bool(_ text: String) -> StoredValue? {
    switch text.lowercased() {
    case "true", "t", "1": .bool(true)
    case "false", "f", "0": .bool(false)
    default: nil
    }
  }

  /// Whether the text is a decimal number.
  ///
  /// `Double` would also read hexadecimal numbers.
  private static func isNumber(_ text: String) -> Bool {
    var rest = Array(text.utf8)[...]
    func skip(_ bytes: String) -> Int {
      let count = rest.prefix { bytes.utf8.contains($0) }.count
      rest = rest.dropFirst(count)
      return count
    }
    func skipSign() {
      if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    }
    let digits = "0123456789"
    skipSign()
    var count = skip(digits)
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      count += skip(digits)
    }
    guard count > 0 else { return false }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      skipSign()
      guard skip(digits) > 0 else { return false }
    }
    return rest.isEmpty
  }

  /// The form of a value that is not a finite number in exports.
  private static func special(_ text: String) -> JSONValue {
    switch text.lowercased() {
    case "inf", "+inf", "infinity", "+infinity": .string("inf")
    case "-inf", "-infinity": .string("-inf")
    case "nan": .string("nan")
    default: .string(text)
    }
  }

  private static func notANumber(_ text: String, _ type: FieldType) -> StoredValue? {
    guard text.lowercased() == "nan" else { return nil }
    return switch type {
    case .float: .float(.nan)
    case .double: .double(.nan)
    default: nil
    }
  }

  private func date(_ digits: String) -> StoredValue? {
    guard let numericDates, let seconds = Double(digits), seconds.isFinite else { return nil }
    return .date(numericDates.date(seconds))
  }

  // MARK: Data

  /// Decodes Base64, or hexadecimal digits in the forms of SQLite's `quote()` and PostgreSQL.
  ///
  /// Their prefixes do not occur in Base64. Digits without a prefix could be either.
  private static func data(_ text: String) -> Data? {
    if text.hasPrefix("\\x") {
      return Hexadecimal.decode(String(text.dropFirst(2))).map { Data($0) }
    }
    if text.hasPrefix("x'") || text.hasPrefix("X'"), text.count > 2, text.hasSuffix("'") {
      return Hexadecimal.decode(String(text.dropFirst(2).dropLast())).map { Data($0) }
    }
    // SQLite and PostgreSQL break the lines of long Base64.
    return Data(base64Encoded: Data(text.utf8.filter { $0 != 0x0A && $0 != 0x0D }))
  }

  // MARK: Collections

  private func collection(_ json: JSONValue, _ type: FieldType) -> StoredValue? {
    switch (type, json) {
    case (.array(let type), .array(let elements)): return values(elements, type).map { .array($0) }
    case (.set(let type), .array(let elements)):
      guard let values = values(elements, type) else { return nil }
      var known: Set<StoredValue> = []
      return .set(values.filter { known.insert($0).inserted })
    case (.dictionary(let key, let value), .object(let members)):
      return dictionary(members.map { [.string($0.name), $0.value] }, key, value)
    case (.dictionary(let key, let value), .array(let elements)):
      let pairs = elements.compactMap { element -> [JSONValue]? in
        if case .array(let pair) = element, pair.count == 2 { pair } else { nil }
      }
      return pairs.count == elements.count ? dictionary(pairs, key, value) : nil
    default: return nil
    }
  }

  private func values(_ elements: [JSONValue], _ type: FieldType) -> [StoredValue]? {
    var values: [StoredValue] = []
    for element in elements {
      guard let value = value(element, type) else { return nil }
      values.append(value)
    }
    return values
  }

  private func dictionary(
    _ pairs: [[JSONValue]],
    _ keyType: FieldType,
    _ valueType: FieldType
  ) -> StoredValue? {
    var entries: [StoredValue.Entry] = []
    var known: Set<StoredValue> = []
    for pair in pairs {
      guard let key = value(pair[0], keyType), known.insert(key).inserted,
        let value = value(pair[1], valueType)
      else { return nil }
      entries.append(StoredValue.Entry(key: key, value: value))
    }
    return .dictionary(entries)
  }
}
