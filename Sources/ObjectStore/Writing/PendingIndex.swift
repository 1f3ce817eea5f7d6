internal import LMDB

/// An index as one write changes it.
///
/// Changes are put off and stored in the order of the index, but for a unique one, in which each is
/// looked for before the next.
final class PendingIndex {
  private let database: Database
  private let isUnique: Bool
  private let entries = InPlace(PendingEntries())

  init(_ index: ModelTables.Index) {
    database = index.database
    isUnique = index.description.isUnique
  }

  func add(_ key: UnsafeRawBufferPointer, in transaction: inout WriteTransaction) throws {
    guard isUnique else { return unsafe try put(off: key, isAdded: true, in: transaction) }
    let nothing = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    unsafe try transaction.put(nothing, for: key, in: database)
  }

  func remove(_ key: UnsafeRawBufferPointer, in transaction: inout WriteTransaction) throws {
    guard isUnique else { return unsafe try put(off: key, isAdded: false, in: transaction) }
    _ = unsafe try transaction.delete(key, in: database)
  }

  private func put(
    off key: UnsafeRawBufferPointer,
    isAdded: Bool,
    in transaction: borrowing WriteTransaction
  ) throws {
    if entries.value.isFull { unsafe try flush(in: WriteTransactionReference(transaction)) }
    unsafe entries.value.append(key, isAdded: isAdded)
  }

  func flush(in transaction: WriteTransactionReference) throws {
    unsafe try entries.value.flush(to: database, in: transaction)
  }
}
