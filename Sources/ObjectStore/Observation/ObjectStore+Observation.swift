extension ObjectStore {
  /// Observes the result of a query: what it is now, and then each time that it changes.
  ///
  /// ```swift
  /// for try await change in store.observe(Note.where { $0.isPinned }) {
  ///   list.update(change.snapshot, change.deletions, change.insertions, change.modifications)
  /// }
  /// ```
  ///
  /// Commits of other processes count as those of this one. Costs of a commit what it changed, not
  /// how large the result is; but a query with a limit, an offset or an order by a computed value,
  /// or one that is further behind than the history reaches, is run again. Only the first look
  /// reads the result.
  ///
  /// An order that objects get by changed fields moves them: a move is a deletion and an insertion.
  ///
  /// The sequence keeps the store open. It ends with `nil` when the task is cancelled or after
  /// ``endObservations()``, and with ``StoreError`` when reading fails.
  public func observe<M: Model>(_ query: Query<M>) -> ResultChanges<M> {
    ResultChanges(store: self, query: query, fields: .max)
  }

  /// Observes the result of a query, without the modifications that change none of those fields.
  ///
  /// Each snapshot still has the objects as they are.
  ///
  /// - Parameters:
  ///   - query: Which objects.
  ///   - fields: Columns of the model: `[\.state, \.title]`.
  /// - Returns: As ``observe(_:)``.
  /// - Precondition: Each key path is that of a column.
  public func observe<M: Model>(
    _ query: Query<M>,
    fields: [PartialKeyPath<M.Columns>]
  ) -> ResultChanges<M> {
    let bits = ChangedFields<M>(positions: fields.map(M.position)).bits
    return ResultChanges(store: self, query: query, fields: bits)
  }

  /// Observes the object of a primary key: what it is now, and then each time that it changes,
  /// comes or goes.
  ///
  /// - Parameters:
  ///   - model: The object's type.
  ///   - key: Its primary key; there need not be such an object yet.
  /// - Returns: As ``observe(_:)``.
  public func observe<M: Model>(_ model: M.Type, _ key: M.PrimaryKey) -> ObservedChanges<M> {
    ObservedChanges(store: self, key: key)
  }

  /// Ends every observation that was begun with this store value, now and for ever.
  ///
  /// For an orderly end: loops over changes return, and let go of the store.
  public func endObservations() {
    feed.close()
  }
}
