internal import LMDB

/// Sees to it that what the records of one model refer to is there when the write ends.
///
/// Objects may be added in any order: a reference to one that is not there yet is looked at again
/// at the end.
struct ReferenceCheck {
  private let fields: [ReferenceGraph.Outgoing]
  /// Objects with references that named nothing when they were written; the fields as
  /// ``ChangeLog/Change/fields``.
  private var unresolved: [UInt64: UInt64] = [:]

  init(_ fields: [ReferenceGraph.Outgoing]) {
    self.fields = fields
  }

  var isEmpty: Bool { fields.isEmpty }

  /// Whether references are still to be looked at again.
  var hasUnresolved: Bool { !unresolved.isEmpty }

  /// Notes a record that was written, of which those fields are new.
  mutating func didWrite(
    _ record: borrowing RecordView,
    _ id: UInt64,
    fields changed: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws {
    for field in fields {
      let bit = ChangeLog.bit(ofFieldAt: field.position)
      guard changed & bit != 0 else { continue }
      if try Self.missingKey(in: record, field, in: transaction) != nil {
        unresolved[id, default: 0] |= bit
      }
    }
  }

  /// Refuses references that still name nothing.
  ///
  /// What the write has deleted since, or changed, is read as it is now.
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
      for field in fields where changed & ChangeLog.bit(ofFieldAt: field.position) != 0 {
        guard let key = try Self.missingKey(in: record, field, in: transaction) else { continue }
        throw StoreError(
          .danglingReference,
          """
          \(try Self.name(of: record, tables)) refers in \(field.fieldName) to \
          \(field.rule.target) \(StoredReferences.text(of: key, type: field.keyType)), which is \
          not there: add it in the same write
          """
        )
      }
    } catch let error as RecordError {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }

  /// A key in the field that no object has.
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

  /// The model and the primary key, for a message.
  static func name(of record: borrowing RecordView, _ tables: ModelTables) throws -> String {
    let position = tables.primaryKeyPosition
    guard
      case .present(let key) = unsafe try record.content(at: position),
      let type = tables.current?.fields[position].type
    else { return tables.name }
    return "\(tables.name) \(unsafe StoredReferences.text(of: key, type: type))"
  }
}
