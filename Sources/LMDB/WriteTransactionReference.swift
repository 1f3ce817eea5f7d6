internal import CLMDB

/// A write transaction that somebody else keeps open: the writes of bytes, also those that were put
/// off.
///
/// Unsafe to use after that transaction ended, on another thread than its own, and while a value
/// of it is borrowed.
@unsafe
package struct WriteTransactionReference: Transaction {
  package let raw: OpaquePointer
  // Whoever keeps the transaction open keeps the environment.
  private unowned(unsafe) let owner: Environment

  /// The environment that the transaction writes.
  package var environment: Environment { unsafe owner }

  /// Refers to `transaction`, which must outlive the reference.
  package init(_ transaction: borrowing WriteTransaction) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = transaction.environment
  }

  /// Refers to what is a write transaction, which must outlive the reference.
  package init(_ transaction: TransactionReference) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = unsafe transaction.environment
  }

  /// Sets the value of `key`; see ``WriteTransaction/put(_:for:in:)``.
  package func put(
    _ value: UnsafeRawBufferPointer,
    for key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) {
    assert(unsafe database.environment == owner.identity)
    do throws(LMDBError) {
      _ = unsafe try databasePut(raw, database.handle, key, value, flags: 0)
    } catch {
      throw unsafe owner.examined(error)
    }
  }

  /// Adds `key` after every other; says whether it is greater than the last one, without which
  /// nothing is written.
  ///
  /// The corresponding C function is `mdb_put` with `MDB_APPEND`.
  package func append(
    _ value: UnsafeRawBufferPointer,
    for key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) -> Bool {
    assert(unsafe database.environment == owner.identity)
    do throws(LMDBError) {
      return unsafe try databasePut(raw, database.handle, key, value, flags: MDB_APPEND)
    } catch {
      throw unsafe owner.examined(error)
    }
  }

  /// Removes `key`; says whether it was there.
  @discardableResult
  package func delete(
    _ key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) -> Bool {
    assert(unsafe database.environment == owner.identity)
    do throws(LMDBError) {
      return unsafe try databaseDelete(raw, database.handle, key)
    } catch {
      throw unsafe owner.examined(error)
    }
  }
}
