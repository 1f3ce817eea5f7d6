/// Bytes that are not what the schema promises.
public struct RecordError: Error, Sendable, Hashable {
  /// The kinds of damage.
  public enum Code: String, Sendable, Hashable {
    /// The record ends before one of its parts does.
    case truncated
    /// The checksum does not fit the bytes.
    case checksumMismatch
    /// A field that must be there is not.
    case missingField
    /// A field's bytes are no value of its type.
    case invalidValue
    /// The record names a layout that the store does not have.
    case unknownLayout
    /// The record's coding is of a later version than this program knows.
    case unknownCoding
    /// The part of the record that changes often is not there.
    case missingHotPart
  }

  /// What is wrong.
  public var code: Code
  /// The field, where one is concerned.
  public var field: String?

  /// Describes damage.
  public init(_ code: Code, field: String? = nil) {
    self.code = code
    self.field = field
  }
}

extension RecordError: CustomStringConvertible {
  /// The kind of damage and the field.
  public var description: String {
    let text =
      switch code {
      case .truncated: "the record is cut off"
      case .checksumMismatch: "the checksum does not fit the record"
      case .missingField: "a field is missing that has no default"
      case .invalidValue: "a field's bytes are no value of its type"
      case .unknownLayout: "the record has a layout that the store does not describe"
      case .unknownCoding: "the record was written by a later version"
      case .missingHotPart: "the hot part of the record is missing"
      }
    return field.map { "\(text) (\($0))" } ?? text
  }
}
