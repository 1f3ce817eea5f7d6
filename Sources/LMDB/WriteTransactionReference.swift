internal import CLMDB

/// An unowned reference to an open write transaction.
///
/// Unsafe to use after that transaction ends, on another thread than its own, and while a value of
/// it is borrowed.
@unsafe
package struct WriteTransactionReference: Transaction {
  package let raw: OpaquePointer
  // The transaction retains the environment.
  private unowned(unsafe) let owner: Environment

  /// The environment that the transaction writes.
  package var environment: Environment { unsafe owner }

  /// Creates a reference to `transaction`, which must outlive it.
  package init(_ transaction: borrowing WriteTransaction) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = transaction.environment
  }

  /// Creates a reference from one to a write transaction, which must outlive it.
  package init(_ transaction: TransactionReference) {
    unsafe raw = unsafe transaction.raw
    unsafe owner = unsafe transaction.environment
  }

  /// Sets the value of `key`; see ``WriteTransaction/put(_:for:in:)``.
  ///
  /// The corresponding C function is `mdb_put`.
  package func put(
    _ value: UnsafeRawBufferPointer,
    for key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) {
    assert(unsafe database.environment == owner.identity)
    do throws(LMDBError) {
      _ = unsafe try databasePut(raw, database.handle, key, value, flags: 0)
    } catch {
      throw unsafe owner.handleWriteFailure(error)
    }
  }

  /// Appends an entry, and returns whether it did: if `key` is not greater than every other key,
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
      throw unsafe owner.handleWriteFailure(error)
    }
  }

  /// Removes `key`, and returns whether it existed.
  ///
  /// The corresponding C function is `mdb_del`.
  @discardableResult
  package func delete(
    _ key: UnsafeRawBufferPointer,
    in database: Database
  ) throws(LMDBError) -> Bool {
    assert(unsafe database.environment == owner.identity)
    do throws(LMDBError) {
      return unsafe try databaseDelete(raw, database.handle, key)
    } catch {
      throw unsafe owner.handleWriteFailure(error)
    }
  }
}
