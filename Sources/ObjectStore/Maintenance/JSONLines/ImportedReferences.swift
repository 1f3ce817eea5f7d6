internal import LMDB

/// The references of imported objects that named nothing so far.
struct ImportedReferences {
  /// The bytes of a primary key.
  private struct Target: Hashable {
    var model: String
    var key: [UInt8]
  }

  private struct Open {
    var line: Int
    var model: String
    var field: FollowedReference
    /// Those of one field.
    var targets: [Target]
  }

  private var open: [Open] = []

  static let longestList = 100

  /// Notes which references of objects that were just written name nothing.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  mutating func note(
    _ objects: [(object: StoredObject, line: Int)],
    _ references: FollowedReferences,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws {
    for (object, line) in objects {
      for field in references.fields[object.model] ?? [] {
        guard let value = object.fields.first(where: { $0.id == field.fieldID })?.value else {
          continue
        }
        var targets: [Target] = []
        for key in Self.keys(value, field) where try !Self.isThere(key, field, in: transaction) {
          targets.append(Target(model: field.target.name, key: key))
        }
        guard !targets.isEmpty else { continue }
        open.append(Open(line: line, model: object.model, field: field, targets: targets))
      }
    }
  }

  /// Adds those that still name nothing to the report.
  ///
  /// - Throws: ``StoreError`` with `damaged`.
  func finish(
    _ references: FollowedReferences,
    in transaction: borrowing some Transaction & ~Copyable,
    _ report: inout ImportReport
  ) throws {
    // Many may name one object.
    var known: [Target: Bool] = [:]
    for item in open {
      let field = references.fields[item.model]?.first { $0.fieldID == item.field.fieldID }
      guard let field else { continue }
      let missing = try item.targets.first { target in
        if let isThere = known[target] { return !isThere }
        let isThere = try Self.isThere(target.key, field, in: transaction)
        known[target] = isThere
        return !isThere
      }
      guard let missing else { continue }
      report.danglingReferenceCount += 1
      guard report.danglingReferences.count < Self.longestList else { continue }
      report.danglingReferences.append(
        ImportReport.DanglingReference(
          line: item.line,
          model: item.model,
          field: field.fieldName,
          target: missing.model,
          key: StoredReferences.text(of: missing.key, type: field.keyType)
        )
      )
    }
  }

  /// The keys in a field; none of a value that is no reference, which the writer refuses.
  private static func keys(_ value: StoredValue, _ field: FollowedReference) -> [[UInt8]] {
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

  private static func isThere(
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
