/// What happens to an object when one to which it refers is deleted.
///
/// It belongs to the field that holds the reference, as in SQL: `@OnDelete(.cascade)` on the customer
/// of an order deletes the orders of a customer who is deleted. The store keeps the rule, so that it
/// binds programs of other models too.
public enum DeleteRule: UInt8, Sendable, Hashable, CaseIterable {
  /// The reference goes: an optional one becomes `nil`, an array or a set loses the element.
  ///
  /// The default where it is possible.
  case nullify = 1
  /// The object that refers is deleted too, and so on.
  case cascade = 2
  /// The object may not be deleted while another refers to it that is not deleted with it.
  ///
  /// The default of a reference that is not optional.
  case deny = 3
  /// Nothing: the reference may name what is not there, also when it is written.
  case keep = 4
}

/// What a field says of the objects to which it refers.
public struct ReferenceSchema: Sendable, Hashable {
  /// The model to which the field refers.
  public let target: any Model.Type
  /// What happens when the object is deleted to which the field refers.
  public let onDelete: DeleteRule

  /// Whether both have one target and one rule.
  public static func == (left: Self, right: Self) -> Bool {
    left.target == right.target && left.onDelete == right.onDelete
  }

  /// Mixes in the target and the rule.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(target))
    hasher.combine(onDelete)
  }
}

/// A type of which a field refers to objects.
protocol ReferenceFieldValue: FieldValue {
  static var target: any Model.Type { get }
  static var isCollection: Bool { get }
}

extension Reference: ReferenceFieldValue {
  static var target: any Model.Type { Target.self }
  static var isCollection: Bool { false }
}

/// ``Reference`` alone, whatever its target: a collection of collections is no field of references.
protocol SingleReference: ReferenceFieldValue {}

extension Reference: SingleReference {}

extension Array: ReferenceFieldValue where Element: SingleReference {
  static var target: any Model.Type { Element.target }
  static var isCollection: Bool { true }
}

extension Set: ReferenceFieldValue where Element: SingleReference {
  static var target: any Model.Type { Element.target }
  static var isCollection: Bool { true }
}

extension ReferenceSchema {
  /// What a field of that type refers to; `nil` when it refers to nothing.
  ///
  /// - Precondition: `rule` is one that the type can follow.
  static func describe<Value: FieldValue>(
    _ type: Value.Type,
    field: String,
    isOptional: Bool,
    rule: DeleteRule?
  ) -> ReferenceSchema? {
    guard let reference = type as? any ReferenceFieldValue.Type else {
      precondition(
        rule == nil,
        "the field \(field) is no reference, so that nothing it refers to can be deleted"
      )
      return nil
    }
    let canNullify = isOptional || reference.isCollection
    precondition(
      rule != .nullify || canNullify,
      "the field \(field) must be optional or a collection to lose its reference"
    )
    return ReferenceSchema(
      target: reference.target,
      onDelete: rule ?? (canNullify ? .nullify : .deny)
    )
  }
}
