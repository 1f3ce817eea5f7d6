internal import LMDB

/// A store as of one commit, lent to the closure of a read.
public struct Snapshot: ObjectReader, ~Copyable, Sendable {
  private let transaction: ReadTransaction
  private let schema: StoreSchema

  init(transaction: consuming ReadTransaction, schema: StoreSchema) {
    self.transaction = transaction
    self.schema = schema
  }

  /// The store's own side of the transaction.
  public var source: ReaderSource { ReaderSource(transaction, schema) }

  /// The number of the commit; see ``ObjectStore/changeCount()``.
  public var changeCount: UInt64 { transaction.id }
}
