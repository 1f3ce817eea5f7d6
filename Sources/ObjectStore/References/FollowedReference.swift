internal import LMDB

/// A field whose references must name objects, as the store describes it: for whoever does not have
/// the model's type.
struct FollowedReference {
  let fieldID: UInt32
  let fieldName: String
  /// The type of one reference.
  let keyType: FieldType
  let isCollection: Bool
  let target: ModelTables

  /// Calls `body` with each key in the field that no object has.
  ///
  /// - Throws: ``RecordError`` when the field cannot be read; ``StoreError`` with `damaged` when what
  ///   leads to the target cannot be.
  func forEachMissingKey(
    in content: RecordView.Content,
    _ transaction: TransactionReference,
    _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws {
    let targets = unsafe ModelReader(transaction: transaction, tables: target)
    unsafe try StoredReferences.forEachKey(
      in: content,
      type: keyType,
      isCollection: isCollection
    ) { key in
      if unsafe try targets.objectID(of: key) == nil { unsafe try body(key) }
    }
  }
}

/// The fields of all models of a store whose references must name objects.
struct FollowedReferences {
  /// By the name of the model.
  private(set) var fields: [String: [FollowedReference]] = [:]
  /// Rules that cannot be followed: the model, and why.
  private(set) var problems: [(model: String, reason: String)] = []

  init(_ schema: StoredSchema, in transaction: borrowing some Transaction & ~Copyable) throws {
    for rule in try schema.metadata.references(in: transaction) {
      let entry = schema.model(rule.model)
      guard let field = entry?.fields.first(where: { $0.id == rule.fieldID }) else {
        problems.append(
          (rule.model, "a reference is described of field \(rule.fieldID), which is not there")
        )
        continue
      }
      guard let target = schema.model(rule.target) else {
        problems.append(
          (rule.model, "\(field.name) refers to \(rule.target), a model that is not there")
        )
        continue
      }
      let keyType = field.type.indexedElement ?? field.type
      guard target.fields.contains(where: { $0.isPrimaryKey && $0.type == keyType }) else {
        problems.append((rule.model, "\(field.name) is no primary key of \(rule.target)"))
        continue
      }
      guard rule.onDelete != .keep else { continue }
      fields[rule.model, default: []].append(
        FollowedReference(
          fieldID: rule.fieldID,
          fieldName: field.name,
          keyType: keyType,
          isCollection: field.type.indexedElement != nil,
          target: target.tables
        )
      )
    }
  }
}
