/// The type of a field on disk.
public indirect enum FieldType: Sendable, Hashable {
  /// One byte, 0 or 1.
  case bool
  /// A signed integer of that many bits: 8, 16, 32 or 64. Little-endian, like everything fixed.
  case signed(bits: Int)
  /// An unsigned integer of that many bits: 8, 16, 32 or 64.
  case unsigned(bits: Int)
  /// IEEE 754 binary32.
  case float
  /// IEEE 754 binary64.
  case double
  /// Seconds since 2001-01-01T00:00:00Z, as IEEE 754 binary64.
  case date
  /// Sixteen bytes in the order of RFC 9562.
  case uuid
  /// A number of up to 39 decimal digits, in 19 bytes that sort as the numbers do.
  case decimal
  /// UTF-8, without a terminator.
  case string
  /// Any bytes.
  case data
  /// A list in order.
  case array(FieldType)
  /// A set, its elements sorted by their stored bytes, lengths included.
  case set(FieldType)
  /// A map, its entries sorted by their stored bytes, lengths included.
  case dictionary(FieldType, FieldType)
  /// A value type that writes itself, of that name.
  case embedded(String)

  /// The size of a value in bytes, or `nil` when it varies.
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

  /// The element type of a collection of which each element is indexed.
  var indexedElement: FieldType? {
    switch self {
    case .array(let element), .set(let element): element
    default: nil
    }
  }

  /// Whether an index can be kept over values of this type.
  var isIndexable: Bool {
    switch self {
    case .dictionary, .embedded: false
    case .array(let element), .set(let element):
      element.indexedElement == nil && element.isIndexable
    default: true
    }
  }
}

extension FieldType: CustomStringConvertible {
  /// The type's name in schemas and in the store, such as `int64` or `set<string>`.
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

  /// Reads a type's name; `nil` when it is none.
  public init?(_ description: some StringProtocol) {
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
      // Keys are scalars, so the first comma ends the key.
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
