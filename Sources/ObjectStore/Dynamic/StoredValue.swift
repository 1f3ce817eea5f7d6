#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The value of a field, for whoever does not have the model's Swift type: tools, migrations,
/// exports.
///
/// It says nothing of its width: the field's ``FieldType`` does.
public indirect enum StoredValue: Sendable, Hashable {
  /// One entry of a dictionary.
  public struct Entry: Sendable, Hashable {
    /// The entry's key.
    public var key: StoredValue
    /// The entry's value.
    public var value: StoredValue

    /// Makes an entry.
    public init(key: StoredValue, value: StoredValue) {
      self.key = key
      self.value = value
    }
  }

  /// No value, of an optional field.
  case null
  /// A truth value.
  case bool(Bool)
  /// A signed integer of 8 to 64 bits.
  case signed(Int64)
  /// An unsigned integer of 8 to 64 bits.
  case unsigned(UInt64)
  /// A number of type `float`.
  case float(Float)
  /// A number of type `double`.
  case double(Double)
  /// A moment.
  case date(Date)
  /// A decimal number.
  case decimal(Decimal)
  /// An identifier.
  case uuid(UUID)
  /// A text.
  case string(String)
  /// Bytes.
  case data(Data)
  /// The elements of a list.
  case array([StoredValue])
  /// The elements of a set, in the order in which the store has them.
  case set([StoredValue])
  /// The entries of a dictionary, in the order in which the store has them.
  case dictionary([Entry])
  /// The bytes of a value that writes itself; only its own type can read them.
  case embedded(Data)

  /// Whether there is no value.
  public var isNull: Bool { self == .null }
}

extension StoredValue: CustomStringConvertible {
  /// The value as a person reads it: bytes as hexadecimal digits, moments as seconds since 2001.
  public var description: String {
    switch self {
    case .null: "nil"
    case .bool(let value): "\(value)"
    case .signed(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .float(let value): "\(value)"
    case .double(let value): "\(value)"
    case .date(let value): "\(value.timeIntervalSinceReferenceDate) s"
    case .decimal(let value): "\(value)"
    case .uuid(let value): value.uuidString
    case .string(let value): value
    case .data(let value), .embedded(let value): Hexadecimal.encode(value)
    case .array(let elements), .set(let elements): "\(elements)"
    case .dictionary(let entries):
      "[\(entries.map { "\($0.key): \($0.value)" }.joined(separator: ", "))]"
    }
  }
}
