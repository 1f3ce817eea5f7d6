extension ObjectStore {
  /// The point of the history at which the store is now.
  ///
  /// - Throws: ``StoreError`` as ``ObjectReader/historyToken()``.
  public func historyToken() throws -> HistoryToken {
    try read { try $0.historyToken() }
  }

  /// What has happened to the objects of a model since a token, by any process.
  ///
  /// ```swift
  /// switch try store.changes(since: token, of: Note.self) {
  /// case .changes(let changes):
  ///   for key in changes.deleted { index.remove(key) }
  ///   for note in changes.inserted + changes.updated.map(\.object) { index.add(note) }
  ///   token = changes.token
  /// case .expired:
  ///   try store.read { tx in
  ///     index.rebuild(from: try tx.fetch(Note.all))
  ///     token = try tx.historyToken()
  ///   }
  /// }
  /// ```
  ///
  /// How far back the history reaches is a matter of ``StoreOptions/historyLimit``.
  ///
  /// - Throws: ``StoreError`` as ``ObjectReader/changes(since:of:)``.
  public func changes<M: Model>(
    since token: HistoryToken,
    of model: M.Type
  ) throws -> HistoryAnswer<M> {
    try read { try $0.changes(since: token, of: model) }
  }
}
