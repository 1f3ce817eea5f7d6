/// The effect of deleting an object on the objects that refer to it.
///
/// The rule belongs to the field that holds the reference, as in an SQL foreign key:
/// `@OnDelete(.cascade)` on an order's customer deletes the orders when the customer is deleted.
/// The rule is stored in the database, so programs that declare only other models obey it too.
///
/// ```swift
/// @Model struct OrderLine {
///   @PrimaryKey var id: Int
///   @OnDelete(.cascade) var order: Reference<Order>  // Deleted with its order.
///   @OnDelete(.deny) var article: Reference<Article>  // An article in use cannot be deleted.
///   @OnDelete(.nullify) var voucher: Reference<Voucher>?
/// }
/// ```
public enum DeleteRule: UInt8, Sendable, Hashable, CaseIterable {
  /// Removes the reference: an optional field becomes `nil`; an array or a set loses the element.
  ///
  /// The default for optional references and collections.
  case nullify = 1
  /// Deletes the referring object too, and so on for objects that refer to it.
  case cascade = 2
  /// Refuses the deletion with ``StoreError/Code/referenced``, unless the referring object is
  /// deleted in the same cascade.
  ///
  /// The default for a reference that is not optional.
  case deny = 3
  /// Leaves the reference unchanged and unchecked: it may refer to an object that does not exist.
  case keep = 4
}

/// The target and the delete rule of a reference field.
public struct ReferenceSchema: Sendable, Hashable {
  /// The model to which the field refers.
  public let target: any Model.Type
  /// The effect on the referring object when the target is deleted.
  public let onDelete: DeleteRule

  /// Returns whether both have the same target and the same rule.
  public static func == (left: Self, right: Self) -> Bool {
    left.target == right.target && left.onDelete == right.onDelete
  }

  /// Hashes the target and the rule.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(target))
    hasher.combine(onDelete)
  }
}

/// The type of a reference field: a reference, or an array or a set of references.
protocol ReferenceFieldValue: FieldValue {
  static var target: any Model.Type { get }
  static var isCollection: Bool { get }
}

extension Reference: ReferenceFieldValue {
  static var target: any Model.Type { Target.self }
  static var isCollection: Bool { false }
}

/// A ``Reference`` to any target.
///
/// It constrains collection elements, so that nested collections are not reference fields.
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
  /// Returns the reference schema of a field type; `nil` when it is not a reference field.
  ///
  /// - Precondition: `rule` is one that the type supports.
  static func describe<Value: FieldValue>(
    _ type: Value.Type,
    field: String,
    isOptional: Bool,
    rule: DeleteRule?
  ) -> ReferenceSchema? {
    guard let reference = type as? any ReferenceFieldValue.Type else {
      precondition(
        rule == nil,
        "the field \(field) is not a reference, so it cannot have a delete rule"
      )
      return nil
    }
    let canNullify = isOptional || reference.isCollection
    precondition(
      rule != .nullify || canNullify,
      "the field \(field) must be optional or a collection to use the rule nullify"
    )
    return ReferenceSchema(
      target: reference.target,
      onDelete: rule ?? (canNullify ? .nullify : .deny)
    )
  }
}

/// The stored rule of a reference field.
package struct ReferenceRule: Sendable, Hashable {
  /// The model that has the field.
  package var model: String
  package var fieldID: UInt32
  /// The model to which the field refers.
  package var target: String
  package var onDelete: DeleteRule

  package init(model: String, fieldID: UInt32, target: String, onDelete: DeleteRule) {
    self.model = model
    self.fieldID = fieldID
    self.target = target
    self.onDelete = onDelete
  }

  /// Returns whether both rules are for the same field.
  package func isOfField(of other: ReferenceRule) -> Bool {
    model == other.model && fieldID == other.fieldID
  }
}

extension ReferenceRule {
  /// Sorts models so that each comes after the models to which it refers, and otherwise in the
  /// given order.
  ///
  /// In a cycle of references, one model comes before its target.
  package static func targetsFirst(_ models: [String], _ rules: [ReferenceRule]) -> [String] {
    let targets = Dictionary(grouping: rules, by: \.model).mapValues { $0.map(\.target) }
    let known = Set(models)
    var ordered: [String] = []
    var visited: Set<String> = []
    // The recursion is at most as deep as there are models, which LMDB's limit on databases bounds.
    func append(_ model: String) {
      guard known.contains(model), visited.insert(model).inserted else { return }
      for target in (targets[model] ?? []).sorted() { append(target) }
      ordered.append(model)
    }
    models.forEach(append)
    return ordered
  }
}

extension ModelSchema {
  /// The rules of the model's reference fields.
  package var references: [ReferenceRule] {
    fields.compactMap { field in
      field.reference.map { reference in
        ReferenceRule(
          model: name,
          fieldID: field.id,
          target: reference.target.schema.name,
          onDelete: reference.onDelete
        )
      }
    }
  }

  /// Returns the models and all models to which they refer, directly or indirectly.
  ///
  /// A program must declare the targets of its references to check that they exist.
  package static func withTargets(_ models: [any Model.Type]) -> [any Model.Type] {
    var all = models
    var names = Set(models.map { $0.schema.name })
    var next = 0
    while next < all.count {
      for target in all[next].schema.fields.compactMap(\.reference?.target)
      where names.insert(target.schema.name).inserted {
        all.append(target)
      }
      next += 1
    }
    return all
  }
}

// MARK: Stored form

extension ReferenceRule {
  private static let codingVersion: UInt8 = 1

  /// The stored form, kept under ``MetadataKey/reference(_:_:)``.
  var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.write(Self.codingVersion)
    writer.write(onDelete.rawValue)
    writer.writeSized(target)
    return writer.bytes
  }

  package init(
    model: String,
    fieldID: UInt32,
    encoded reader: inout ByteReader
  ) throws(RecordError) {
    guard
      try reader.read(UInt8.self) == Self.codingVersion,
      let rule = DeleteRule(rawValue: try reader.read())
    else { throw RecordError(.unknownCoding) }
    self.model = model
    self.fieldID = fieldID
    onDelete = rule
    target = try reader.readSized()
  }
}
