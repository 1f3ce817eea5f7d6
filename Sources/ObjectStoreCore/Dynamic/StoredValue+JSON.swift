#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A lossless conversion to and from JSON, which needs the type of the field to decode.
///
/// | type | JSON |
/// |---|---|
/// | `bool` | `true` or `false` |
/// | integers | a number; unsigned values above 2^53 as a string of digits |
/// | `float`, `double` | the shortest number that decodes to the same value, if finite |
/// | `date` | as `double`: seconds since 2001-01-01T00:00:00Z |
/// | `decimal` | a number, such as `125e-2`; NaN as `"nan"` |
/// | `uuid` | a string in the form of RFC 9562 |
/// | `string` | a string |
/// | `data`, `embedded` | a string in Base64 |
/// | `array`, `set` | an array |
/// | `dictionary` with string keys | an object |
/// | other dictionaries | an array of arrays, each of a key and its value |
///
/// Infinities are `"inf"` and `"-inf"`. NaN is `"nan:"` followed by its bit pattern in hexadecimal.
extension StoredValue {
  private static let greatestExactInteger: UInt64 = 1 << 53

  /// The value as JSON.
  package var json: JSONValue {
    switch self {
    case .null: .null
    case .bool(let value): .bool(value)
    case .signed(let value): .number("\(value)")
    case .unsigned(let value):
      value > Self.greatestExactInteger ? .string("\(value)") : .number("\(value)")
    case .float(let value):
      Self.json(value, value.description, bits: value.bitPattern)
    case .double(let value):
      Self.json(value, value.description, bits: value.bitPattern)
    case .date(let value): StoredValue.double(value.timeIntervalSinceReferenceDate).json
    case .decimal(let value): Self.json(value)
    case .uuid(let value): .string(value.uuidString.lowercased())
    case .string(let value): .string(value)
    case .data(let value), .embedded(let value): .string(value.base64EncodedString())
    case .array(let elements), .set(let elements): .array(elements.map(\.json))
    case .dictionary(let entries): Self.json(entries)
    }
  }

  private static func json<Number: BinaryFloatingPoint>(
    _ value: Number,
    _ digits: String,
    bits: some FixedWidthInteger
  ) -> JSONValue {
    if value.isFinite { return .number(digits) }
    if value.isNaN { return .string("nan:" + String(bits, radix: 16)) }
    return .string(value < 0 ? "-inf" : "inf")
  }

  private static func json(_ entries: [Entry]) -> JSONValue {
    var members: [JSONValue.Member] = []
    for entry in entries {
      guard case .string(let name) = entry.key else {
        return .array(entries.map { .array([$0.key.json, $0.value.json]) })
      }
      members.append(JSONValue.Member(name: name, value: entry.value.json))
    }
    // The keys of an empty dictionary can have any type: decoding accepts both forms.
    return .object(members)
  }

  /// Decodes what ``json`` encodes, for a field of `type`.
  ///
  /// The result is `nil` if the JSON does not represent a value of that type.
  package init?(json: JSONValue, type: FieldType) {
    switch (type, json) {
    case (_, .null): self = .null
    case (.bool, .bool(let value)): self = .bool(value)
    case (.signed(let bits), .number(let digits)):
      guard let value = Int64(digits), value >> Int64(bits - 1) == value >> 63 else { return nil }
      self = .signed(value)
    case (.unsigned(let bits), .number(let digits)), (.unsigned(let bits), .string(let digits)):
      guard let value = UInt64(digits), value.leadingZeroBitCount >= 64 - bits else { return nil }
      self = .unsigned(value)
    case (.float, _):
      guard let value = Self.float(json) else { return nil }
      self = .float(value)
    case (.double, _):
      guard let value = Self.double(json) else { return nil }
      self = .double(value)
    case (.date, _):
      guard let value = Self.double(json) else { return nil }
      self = .date(Date(timeIntervalSinceReferenceDate: value))
    case (.decimal, _):
      guard let value = Self.decimal(json) else { return nil }
      self = .decimal(value)
    case (.uuid, .string(let text)):
      guard let value = UUID(uuidString: text) else { return nil }
      self = .uuid(value)
    case (.string, .string(let text)): self = .string(text)
    case (.data, .string(let text)):
      guard let value = Data(base64Encoded: text) else { return nil }
      self = .data(value)
    case (.embedded, .string(let text)):
      guard let value = Data(base64Encoded: text) else { return nil }
      self = .embedded(value)
    case (.array(let element), .array(let elements)):
      guard let values = Self.values(elements, element) else { return nil }
      self = .array(values)
    case (.set(let element), .array(let elements)):
      guard let values = Self.values(elements, element) else { return nil }
      self = .set(values)
    case (.dictionary(let key, let value), _):
      guard let entries = Self.entries(json, key, value) else { return nil }
      self = .dictionary(entries)
    default: return nil
    }
  }

  private static func float(_ json: JSONValue) -> Float? {
    switch json {
    case .number(let digits): return Float(digits).flatMap { $0.isFinite ? $0 : nil }
    case .string("inf"): return .infinity
    case .string("-inf"): return -.infinity
    case .string(let text):
      guard text.hasPrefix("nan:"), let bits = UInt32(text.dropFirst(4), radix: 16) else {
        return nil
      }
      let value = Float(bitPattern: bits)
      return value.isNaN ? value : nil
    default: return nil
    }
  }

  private static func double(_ json: JSONValue) -> Double? {
    switch json {
    case .number(let digits): return Double(digits).flatMap { $0.isFinite ? $0 : nil }
    case .string("inf"): return .infinity
    case .string("-inf"): return -.infinity
    case .string(let text):
      guard text.hasPrefix("nan:"), let bits = UInt64(text.dropFirst(4), radix: 16) else {
        return nil
      }
      let value = Double(bitPattern: bits)
      return value.isNaN ? value : nil
    default: return nil
    }
  }

  private static func json(_ value: Decimal) -> JSONValue {
    let digits = DecimalDigits(value)
    guard digits.sign != .notANumber, let (mantissa, exponent) = digits.mantissa else {
      return .string("nan")
    }
    let number = (digits.sign == .negative ? "-" : "") + "\(mantissa)"
    return .number(exponent == 0 ? number : "\(number)e\(exponent)")
  }

  /// Returns the exact value, or `nil` when a `Decimal` cannot hold all digits.
  private static func decimal(_ json: JSONValue) -> Decimal? {
    guard case .number(let text) = json else { return json == .string("nan") ? .nan : nil }
    let parts = text.split(maxSplits: 1, omittingEmptySubsequences: false) {
      $0 == "e" || $0 == "E"
    }
    // A range and not `abs`, which overflows for `Int.min`.
    guard var exponent = parts.count > 1 ? Int(parts[1]) : 0, (-999...999).contains(exponent)
    else { return nil }
    var digits = String(parts[0])
    if let point = digits.firstIndex(of: ".") {
      exponent -= digits.distance(from: point, to: digits.endIndex) - 1
      digits.remove(at: point)
    }
    let isNegative = digits.hasPrefix("-")
    if isNegative { digits.removeFirst() }
    guard let mantissa = UInt128(digits), (-199...199).contains(exponent) else { return nil }
    var writer = ByteWriter()
    DecimalDigits(isNegative: isNegative, mantissa: mantissa, exponent: exponent)
      .encode(to: &writer)
    return try? ByteReader.reading(writer.bytes) { reader throws(RecordError) in
      try Decimal(from: &reader)
    }
  }

  /// Decodes elements, none of which may be null.
  private static func values(_ elements: [JSONValue], _ type: FieldType) -> [StoredValue]? {
    var values: [StoredValue] = []
    for element in elements {
      guard element != .null, let value = StoredValue(json: element, type: type) else { return nil }
      values.append(value)
    }
    return values
  }

  private static func entries(
    _ json: JSONValue,
    _ keyType: FieldType,
    _ valueType: FieldType
  ) -> [Entry]? {
    var pairs: [[JSONValue]] = []
    switch json {
    case .object(let members): pairs = members.map { [.string($0.name), $0.value] }
    case .array(let elements):
      for element in elements {
        guard case .array(let pair) = element, pair.count == 2 else { return nil }
        pairs.append(pair)
      }
    default: return nil
    }
    var entries: [Entry] = []
    for pair in pairs {
      guard let key = values([pair[0]], keyType)?[0], let value = values([pair[1]], valueType)?[0]
      else { return nil }
      entries.append(Entry(key: key, value: value))
    }
    return entries
  }
}
