internal import LMDB

// The parts of a record besides its cold part: references, the hot part, and index entries.

extension ModelWriter {
  // MARK: References

  func checkReferences(
    of id: UInt64,
    fields: UInt64,
    in transaction: borrowing WriteTransaction
  ) throws {
    guard !work.value.references.isEmpty else { return }
    unsafe try work.value.references.didWrite(encodedRecord, id, fields: fields, in: transaction)
  }

  /// Whether a written record had a reference without a target when it was written.
  var hasUnresolvedReferences: Bool { work.value.references.hasUnresolved }

  /// Throws if a written record still has a reference without a target.
  func finishReferences(in transaction: borrowing WriteTransaction) throws {
    guard !work.value.references.isEmpty else { return }
    unsafe try work.value.references.finish(reader(in: transaction), in: transaction)
  }

  // MARK: Parts

  func putHotPart(of id: UInt64, in transaction: inout WriteTransaction) throws {
    unsafe try hot.set(
      encoder.hot.buffer,
      layoutNumber: current.number,
      of: id,
      in: &transaction
    )
  }

  func removeValue(
    of id: UInt64,
    in database: Database,
    _ transaction: inout WriteTransaction
  ) throws {
    _ = try unsafe withUnsafeBytes(of: id) { unsafe try transaction.delete($0, in: database) }
  }

  // MARK: Indexes

  func checkUniqueness(in transaction: borrowing WriteTransaction) throws {
    for number in 0..<work.value.entries.added.count {
      let index = tables.maintainedIndexes[work.value.entries.indexOfAdded(number)]
      guard index.description.isUnique else { continue }
      unsafe try UniqueIndex(tables: tables, index: index)
        .check(work.value.entries.added[number], in: transaction)
    }
  }

  func writeEntries(in transaction: inout WriteTransaction) throws {
    for number in 0..<work.value.entries.removed.count {
      let index = deferred[work.value.entries.indexOfRemoved(number)]
      unsafe try index.remove(work.value.entries.removed[number], in: &transaction)
    }
    for number in 0..<work.value.entries.added.count {
      let index = deferred[work.value.entries.indexOfAdded(number)]
      unsafe try index.add(work.value.entries.added[number], in: &transaction)
    }
  }
}
