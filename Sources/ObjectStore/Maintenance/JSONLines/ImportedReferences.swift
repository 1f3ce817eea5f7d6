internal import LMDB

/// The references of imported objects that named nothing so far.
struct ImportedReferences {
  private struct Field: Hashable {
    var object: AwaitedObjects.Key
    var id: UInt32
  }

  private struct Open {
    var line: Int
    var model: String
    var field: FollowedReference
    /// Those of one field.
    var targets: [AwaitedObjects.Key]
  }

  /// By the field, which a later line may change again.
  private var open: [Field: Open] = [:]

  static let longestList = 100

  /// An object that was just written.
  struct Written {
    var object: StoredObject
    var key: AwaitedObjects.Key
    var line: Int
  }

  /// Notes which references of objects name nothing.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func note(
    _ objects: [Written],
    _ references: FollowedReferences,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws {
    for written in objects {
      let model = written.object.model
      for field in references.fields[model] ?? [] {
        guard let value = written.object.fields.first(where: { $0.id == field.fieldID })?.value
        else { continue }
        var targets: [AwaitedObjects.Key] = []
        for key in Self.keys(value, field) where try !Self.isThere(key, field, in: transaction) {
          targets.append(AwaitedObjects.Key(model: field.target.name, bytes: key))
        }
        open[Field(object: written.key, id: field.fieldID)] =
          targets.isEmpty
          ? nil : Open(line: written.line, model: model, field: field, targets: targets)
      }
    }
  }

  /// Those that still name nothing: how many fields, and the first of them.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  func dangling(
    _ references: FollowedReferences,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> (count: Int, list: [ImportReport.DanglingReference]) {
    var count = 0
    var list: [ImportReport.DanglingReference] = []
    // Many may name one object.
    var known: [AwaitedObjects.Key: Bool] = [:]
    let inOrder = open.values.sorted { ($0.line, $0.field.fieldID) < ($1.line, $1.field.fieldID) }
    for item in inOrder {
      let field = references.fields[item.model]?.first { $0.fieldID == item.field.fieldID }
      guard let field else { continue }
      let missing = try item.targets.first { target in
        if let isThere = known[target] { return !isThere }
        let isThere = try Self.isThere(target.bytes, field, in: transaction)
        known[target] = isThere
        return !isThere
      }
      guard let missing else { continue }
      count += 1
      guard list.count < Self.longestList else { continue }
      list.append(
        ImportReport.DanglingReference(
          line: item.line,
          model: item.model,
          field: field.fieldName,
          target: missing.model,
          key: StoredReferences.text(of: missing.bytes, type: field.keyType)
        )
      )
    }
    return (count, list)
  }

  /// What the object refers to, and through which field.
  static func targets(
    of object: StoredObject,
    _ references: FollowedReferences
  ) -> [(key: AwaitedObjects.Key, field: FollowedReference)] {
    (references.fields[object.model] ?? []).flatMap { field in
      let value = object.fields.first { $0.id == field.fieldID }?.value
      return (value.map { keys($0, field) } ?? []).map { bytes in
        (AwaitedObjects.Key(model: field.target.name, bytes: bytes), field)
      }
    }
  }

  /// The keys in a field; none of a value that is no reference, which the writer refuses.
  static func keys(_ value: StoredValue, _ field: FollowedReference) -> [[UInt8]] {
    let elements: [StoredValue]
    switch value {
    case .array(let own) where field.isCollection: elements = own
    case .set(let own) where field.isCollection: elements = own
    default: elements = [value]
    }
    return elements.compactMap { element in
      (try? element.bytes(as: field.keyType)).flatMap { $0 }
    }
  }

  static func isThere(
    _ key: [UInt8],
    _ field: FollowedReference,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> Bool {
    let targets = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: field.target
    )
    return try unsafe key.withUnsafeBytes { unsafe try targets.objectID(of: $0) != nil }
  }
}
