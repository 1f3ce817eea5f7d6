internal import LMDB

extension StoreTransaction {
  /// Runs `body` in a write inside this one: when it throws, what it wrote is undone alone.
  ///
  /// ```swift
  /// try store.write { tx in
  ///   try tx.insert(order)
  ///   do {
  ///     try tx.nested { tx in for line in lines { try tx.insert(line) } }
  ///   } catch let error as StoreError where error.code == .duplicateKey {
  ///     // The order stays, without any of its lines.
  ///   }
  /// }
  /// ```
  ///
  /// Nothing is visible to others, or durable, before the outermost write is. It may nest to any
  /// depth. Costs some microseconds, and a copy of each page that both writes change.
  ///
  /// - Throws: what `body` throws; ``StoreError`` with `other` when `body` returned although a
  ///   write of it had failed for want of room or because of damage: it is undone then.
  public mutating func nested<R>(
    _ body: (inout StoreTransaction) throws -> R
  ) throws -> R {
    // The nested write reads what lies in the tables, and may change it.
    try state.flush(in: &transaction)
    let child = WriteState(state.schema, parent: state)
    let result = try translating("a nested write") {
      try transaction.nested { raw in
        var lent = StoreTransaction(transaction: raw, state: child)
        let result = Result {
          let result = try body(&lent)
          try child.flush(in: &lent.transaction)
          try child.finishReferences(in: lent.transaction)
          return result
        }
        raw = lent.ended()
        return try result.get()
      }
    }
    state.join(child)
    return result
  }

  private consuming func ended() -> WriteTransaction { transaction }
}
