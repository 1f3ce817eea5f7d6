/// An error in the bytes of a record: damage, or a format that this version cannot read.
///
/// Reading through an ``ObjectReader`` wraps it in a ``StoreError`` as its cause. A custom
/// ``FieldValue`` throws it from ``FieldValue/init(from:)``, usually with `invalidValue`.
public struct RecordError: Error, Sendable, Hashable {
  /// The kinds of error.
  public enum Code: String, Sendable, Hashable {
    /// The bytes end inside a value.
    case truncated
    /// The checksum does not match the bytes.
    case checksumMismatch
    /// The record has no value for a field that is not optional and has no default.
    case missingField
    /// The bytes of a field do not encode a value of its type.
    case invalidValue
    /// The record refers to a layout that the store does not describe.
    case unknownLayout
    /// A later version of the library wrote the record.
    case unknownCoding
    /// The record's hot part, which holds the fields marked as hot, is missing.
    case missingHotPart
  }

  /// The kind of error.
  public var code: Code
  /// The name of the field, if the error concerns a single field.
  public var field: String?

  /// Creates an error with a code and, optionally, the name of a field.
  public init(_ code: Code, field: String? = nil) {
    self.code = code
    self.field = field
  }
}

extension RecordError: CustomStringConvertible {
  /// A sentence about the error, followed by the name of the field in parentheses.
  public var description: String {
    let message =
      switch code {
      case .truncated: "the record is truncated"
      case .checksumMismatch: "the checksum does not match the record"
      case .missingField: "the record has no value for a required field"
      case .invalidValue: "a field's bytes do not encode a value of its type"
      case .unknownLayout: "the record refers to a layout that the store does not describe"
      case .unknownCoding: "the record was written by a later version"
      case .missingHotPart: "the hot part of the record is missing"
      }
    return field.map { "\(message) (\($0))" } ?? message
  }
}
