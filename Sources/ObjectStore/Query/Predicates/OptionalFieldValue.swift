/// A column's type that may hold `nil` or not, so that one set of operators serves both.
public protocol OptionalFieldValue: Sendable {
  /// The type of the value that is there.
  associatedtype Wrapped: FieldValue
  /// The value, or `nil`.
  var fieldValue: Wrapped? { get }
}

extension Optional: OptionalFieldValue where Wrapped: FieldValue {
  /// The value, or `nil`.
  public var fieldValue: Wrapped? { self }
}
