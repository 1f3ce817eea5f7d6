package import LMDB

/// The check that the targets of one model's references exist when a write transaction ends.
///
/// Objects may be added in any order: a reference whose target does not exist yet is checked again
/// at the end of the transaction.
package struct ReferenceCheck {
  private let fields: [ReferenceGraph.Outgoing]
  /// The objects written with references to missing targets, and the fields concerned as a
  /// ``ChangeLog/Change/fields`` bit set.
  private var unresolved: [UInt64: UInt64] = [:]

  init(_ fields: [ReferenceGraph.Outgoing]) {
    self.fields = fields
  }

  var isEmpty: Bool { fields.isEmpty }

  /// Whether any reference must be checked again.
  var hasUnresolved: Bool { !unresolved.isEmpty }

  /// Checks a written record; `changed` is the bit set of its new or changed fields.
  mutating func didWrite(
    _ record: borrowing RecordView,
    _ id: UInt64,
    fields changed: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws {
    for field in fields {
      let bit = FieldBit.ofField(at: field.position)
      guard changed & bit != 0 else { continue }
      if try Self.missingKey(in: record, field, in: transaction) != nil {
        unresolved[id, default: 0] |= bit
      }
    }
  }

  /// Checks the remaining references again.
  ///
  /// Objects are read in their current state, because the transaction may have changed or deleted
  /// them since.
  ///
  /// - Throws: ``StoreError`` with `danglingReference`.
  func finish(_ reader: ModelReader, in transaction: borrowing WriteTransaction) throws {
    for (id, changed) in unresolved.sorted(by: { $0.key < $1.key }) {
      guard let record = unsafe try reader.record(id) else { continue }
      try finish(record, id, fields: changed, unsafe reader.tables, in: transaction)
    }
  }

  private func finish(
    _ record: borrowing RecordView,
    _ id: UInt64,
    fields changed: UInt64,
    _ tables: ModelTables,
    in transaction: borrowing WriteTransaction
  ) throws {
    do {
      for field in fields where changed & FieldBit.ofField(at: field.position) != 0 {
        guard let key = try Self.missingKey(in: record, field, in: transaction) else { continue }
        throw StoreError(
          .danglingReference,
          """
          \(try Self.name(of: record, tables)) refers in \(field.fieldName) to \
          \(field.rule.target) \(StoredReferences.text(of: key, type: field.keyType)), which does \
          not exist: add it in the same transaction
          """
        )
      }
    } catch let error as RecordError {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }

  /// Returns a key in the field for which no object exists.
  private static func missingKey(
    in record: borrowing RecordView,
    _ field: ReferenceGraph.Outgoing,
    in transaction: borrowing WriteTransaction
  ) throws -> [UInt8]? {
    let targets = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: field.target
    )
    var missing: [UInt8]?
    unsafe try StoredReferences.forEachKey(
      in: unsafe record.content(at: field.position),
      type: field.keyType,
      isCollection: field.isCollection
    ) { key in
      guard missing == nil, unsafe try targets.objectID(of: key) == nil else { return }
      missing = unsafe Array(key)
    }
    return missing
  }

  /// Returns the model and the primary key of a record, for a message.
  static func name(of record: borrowing RecordView, _ tables: ModelTables) throws -> String {
    let position = tables.primaryKeyPosition
    guard
      case .present(let key) = unsafe try record.content(at: position),
      let type = tables.current?.fields[position].type
    else { return tables.name }
    return "\(tables.name) \(unsafe StoredReferences.text(of: key, type: type))"
  }
}

/// A reference field whose targets must exist, read from the stored schema.
///
/// It does not need the Swift type of the model.
package struct EnforcedReference {
  package let fieldID: UInt32
  package let fieldName: String
  /// The type of one reference's key.
  package let keyType: FieldType
  package let isCollection: Bool
  package let target: ModelTables

  /// Calls `body` for each key in the field of a record for which no object exists.
  ///
  /// - Throws: ``RecordError`` when the field cannot be decoded; ``StoreError`` with `damaged` when
  ///   the lookup of a target fails; the error of `body`.
  package func forEachMissingKey(
    of record: borrowing RecordView,
    in transaction: borrowing some Transaction & ~Copyable,
    _ body: () throws -> Void
  ) throws {
    let targets = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: target
    )
    unsafe try StoredReferences.forEachKey(
      in: record.content(ofID: fieldID),
      type: keyType,
      isCollection: isCollection
    ) { key in
      if unsafe try targets.objectID(of: key) == nil { try body() }
    }
  }
}

/// The reference fields of all models of a store whose targets must exist.
package struct EnforcedReferences {
  /// The fields, keyed by model name.
  package private(set) var fields: [String: [EnforcedReference]] = [:]
  /// Stored rules that cannot be enforced: the model, and the reason.
  package private(set) var problems: [(model: String, reason: String)] = []

  package init(
    _ schema: StoredSchema,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws {
    for rule in try schema.metadata.references(in: transaction) {
      let entry = schema.model(rule.model)
      guard let field = entry?.fields.first(where: { $0.id == rule.fieldID }) else {
        problems.append(
          (rule.model, "there is a reference rule for field \(rule.fieldID), which does not exist")
        )
        continue
      }
      guard let target = schema.model(rule.target) else {
        problems.append(
          (rule.model, "\(field.name) refers to \(rule.target), a model that does not exist")
        )
        continue
      }
      let keyType = field.type.indexedElement ?? field.type
      guard target.fields.contains(where: { $0.isPrimaryKey && $0.type == keyType }) else {
        problems.append(
          (rule.model, "\(field.name) does not have the type of the primary key of \(rule.target)")
        )
        continue
      }
      guard rule.onDelete != .keep else { continue }
      fields[rule.model, default: []].append(
        EnforcedReference(
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
