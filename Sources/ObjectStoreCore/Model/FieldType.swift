/// The stored type of a field.
///
/// ```swift
/// let models = try store.storedModels()
/// let textFields = models.flatMap(\.fields).filter { $0.type == FieldType.string }
/// ```
public indirect enum FieldType: Sendable, Hashable {
  /// A Boolean value: one byte, 0 or 1.
  case bool
  /// A signed little-endian integer of 8, 16, 32 or 64 bits.
  case signed(bits: Int)
  /// An unsigned little-endian integer of 8, 16, 32 or 64 bits.
  case unsigned(bits: Int)
  /// A little-endian IEEE 754 binary32 number.
  case float
  /// A little-endian IEEE 754 binary64 number.
  case double
  /// Seconds since 2001-01-01T00:00:00Z, as a little-endian IEEE 754 binary64 number.
  case date
  /// A UUID: 16 bytes in the order of RFC 9562.
  case uuid
  /// A decimal number of up to 39 digits, in 19 bytes that sort like the numbers.
  case decimal
  /// UTF-8 without a terminator.
  case string
  /// Arbitrary bytes.
  case data
  /// An ordered list of elements.
  case array(FieldType)
  /// A set, sorted by the encoded elements including their lengths.
  case set(FieldType)
  /// A map from keys to values, sorted by the encoded entries including their lengths.
  case dictionary(FieldType, FieldType)
  /// A value with a custom encoding; the string is the name of its type.
  case embedded(String)

  /// The size of an encoded value in bytes, or `nil` if it varies.
  @inlinable
  public var width: Int? {
    switch self {
    case .bool: 1
    case .signed(let bits), .unsigned(let bits): bits / 8
    case .float: 4
    case .double, .date: 8
    case .uuid: 16
    case .decimal: 19
    case .string, .data, .array, .set, .dictionary, .embedded: nil
    }
  }

  /// The element type of a collection that is indexed by its elements; `nil` for other types.
  package var indexedElement: FieldType? {
    switch self {
    case .array(let element), .set(let element): element
    default: nil
    }
  }

  /// Whether fields of this type can be indexed.
  package var isIndexable: Bool {
    switch self {
    case .dictionary, .embedded: false
    case .array(let element), .set(let element):
      element.indexedElement == nil && element.isIndexable
    default: true
    }
  }
}

extension FieldType: CustomStringConvertible {
  /// The name of the type in the store and in exports, such as `int64` or `set<string>`.
  public var description: String {
    switch self {
    case .bool: "bool"
    case .signed(let bits): "int\(bits)"
    case .unsigned(let bits): "uint\(bits)"
    case .float: "float"
    case .double: "double"
    case .date: "date"
    case .uuid: "uuid"
    case .decimal: "decimal"
    case .string: "string"
    case .data: "data"
    case .array(let element): "array<\(element)>"
    case .set(let element): "set<\(element)>"
    case .dictionary(let key, let value): "dictionary<\(key),\(value)>"
    case .embedded(let name): "embedded \(name)"
    }
  }

  /// Parses the name of a type; the result is `nil` if it is not valid.
  package init?(_ description: some StringProtocol) {
    let scalars: [String: FieldType] = [
      "bool": .bool, "int8": .signed(bits: 8), "int16": .signed(bits: 16),
      "int32": .signed(bits: 32), "int64": .signed(bits: 64), "uint8": .unsigned(bits: 8),
      "uint16": .unsigned(bits: 16), "uint32": .unsigned(bits: 32),
      "uint64": .unsigned(bits: 64), "float": .float, "double": .double, "date": .date,
      "uuid": .uuid, "decimal": .decimal, "string": .string, "data": .data,
    ]
    if let scalar = scalars[String(description)] {
      self = scalar
    } else if let inner = Self.argument(of: "array", in: description) {
      guard let element = FieldType(inner) else { return nil }
      self = .array(element)
    } else if let inner = Self.argument(of: "set", in: description) {
      guard let element = FieldType(inner) else { return nil }
      self = .set(element)
    } else if let inner = Self.argument(of: "dictionary", in: description) {
      // The first comma ends the key. Key types whose name has a comma are not supported:
      // `FieldSchema` rejects a type that does not parse back to itself.
      let parts = inner.split(separator: ",", maxSplits: 1)
      guard parts.count == 2, let key = FieldType(parts[0]), let value = FieldType(parts[1])
      else { return nil }
      self = .dictionary(key, value)
    } else if description.hasPrefix("embedded ") {
      self = .embedded(String(description.dropFirst("embedded ".count)))
    } else {
      return nil
    }
  }

  private static func argument(
    of name: String,
    in description: some StringProtocol
  ) -> String? {
    guard description.hasPrefix(name + "<"), description.hasSuffix(">") else { return nil }
    return String(description.dropFirst(name.count + 1).dropLast())
  }
}
