internal import LMDB

/// Finds the objects that name another in one of their fields.
struct Referrers {
  let field: ReferenceGraph.Incoming

  /// The ids of the objects whose field names the object of that primary key, in their order.
  ///
  /// - Complexity: O(log n) for the index, and O(k) for the k objects.
  func ids(
    naming key: [UInt8],
    in transaction: borrowing WriteTransaction
  ) throws -> [UInt64] {
    let index = field.index
    guard let part = index.parts.first else { return [] }
    let prefix = unsafe key.withUnsafeBytes { key in
      unsafe KeyEncoding.key(
        for: key,
        type: part.elementType,
        longestContent: index.longestContent
      )
    }
    var ids: [UInt64] = []
    let cursor = unsafe try transaction.cursor(on: index.database)
    var entry = unsafe try prefix.withUnsafeBytes { unsafe try cursor.first(atOrAfter: $0) }
    while let found = unsafe entry, unsafe found.key.starts(with: prefix) {
      guard let id = unsafe KeyEncoding.objectID(of: found.key) else {
        throw StoreError(.damaged, "an entry of an index of \(field.rule.model) is cut off")
      }
      ids.append(id)
      unsafe entry = unsafe try cursor.next()
    }
    guard !isExact(part, key) else { return ids }
    return try ids.filter { try names(key, part, $0, in: transaction) }
  }

  /// Whether an index key says all there is to know of the value.
  ///
  /// Not so of long texts, which are cut, and of numbers with a fraction, of which 0 and -0 are the
  /// same there and two primary keys.
  private func isExact(_ part: ModelTables.Index.Part, _ key: [UInt8]) -> Bool {
    switch part.form {
    case .plain, .unsigned, .signed: true
    case .number: false
    // Each byte takes two at most.
    case .text: key.count * 2 <= field.index.longestContent
    }
  }

  /// Whether the record itself names the object; that of a model which the program does not know is
  /// believed to.
  private func names(
    _ key: [UInt8],
    _ part: ModelTables.Index.Part,
    _ id: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws -> Bool {
    guard let tables = field.referrer?.tables else { return true }
    let reader = unsafe ModelReader(
      transaction: TransactionReference(transaction),
      tables: tables
    )
    guard let record = unsafe try reader.record(id) else { return false }
    var isNamed = false
    do {
      unsafe try StoredReferences.forEachKey(
        in: unsafe part.content(in: record),
        type: part.elementType,
        isCollection: field.index.collectionPart != nil
      ) { other in
        if unsafe other.elementsEqual(key) { isNamed = true }
      }
    } catch let error as RecordError {
      throw StoreError(error, model: tables.name, objectID: id)
    }
    return isNamed
  }
}
