internal import LMDB

extension ObjectReader where Self: ~Copyable {
  /// Returns the position in the history that this transaction reads.
  ///
  /// In a write, the token does not include the write's own changes.
  ///
  /// - Throws: ``StoreError`` with `damaged` when the history cannot be read, or `notFound` when
  ///   the store is read-only and has no history.
  /// - Complexity: O(log n) in the number of commits in the history.
  public func historyToken() throws -> HistoryToken {
    guard let token = try source.historyToken() else {
      throw StoreError(.notFound, "the store has no history: open it once for writing to create it")
    }
    return token
  }

  /// Returns the changes of a model's objects since a token, as of this transaction.
  ///
  /// The changes include commits of all processes and, in a write, its own changes so far. The
  /// returned token does not include a write's own changes: a request from it returns them again.
  ///
  /// - Throws: ``StoreError`` with `damaged` when the history or an object cannot be read,
  ///   `unknownModel` when the store was not opened with the model, or `tooNew` when a later
  ///   version of the library wrote the history.
  /// - Complexity: O(c + k log n) for c changes since the token, of which k are of this model, and
  ///   n objects.
  public func changes<M: Model>(
    since token: HistoryToken,
    of model: M.Type
  ) throws -> HistoryResult<M> {
    try changes(since: token, of: model, atMost: .max)
  }

  /// Returns the changes of a model's objects since a token, or `expired` if there are too many.
  ///
  /// The size of the history is checked before it is read, so the cost and the memory are bounded.
  ///
  /// - Parameters:
  ///   - token: The position after which the changes are returned.
  ///   - model: The model.
  ///   - limit: The maximum number of changed objects.
  /// - Returns: The changes.
  /// - Throws: As ``changes(since:of:)``.
  package func changes<M: Model>(
    since token: HistoryToken,
    of model: M.Type,
    atMost limit: Int
  ) throws -> HistoryResult<M> {
    guard let now = try source.historyToken() else { return .expired }
    // An entry has the keys of deleted objects, and a few bytes for each other one.
    let byteLimit = limit.multipliedReportingOverflow(by: 64)
    if !byteLimit.overflow, try source.historySize(since: token) ?? 0 > byteLimit.partialValue {
      return .expired
    }
    var answer = ObjectChanges<M>(token: now)
    guard let reader = unsafe try source.reader(of: model) else { return .changes(answer) }
    guard let changes = unsafe try source.changes(since: token, of: reader.tables),
      !changes.coversAllObjects, changes.objects.count <= limit
    else { return .expired }
    for (id, change) in changes.objects.sorted(by: { $0.key < $1.key }) {
      guard change.kind != .deleted else {
        answer.deleted.append(try M.primaryKey(fromStored: change.key, objectID: id))
        continue
      }
      guard let record = unsafe try reader.record(id) else {
        throw StoreError(
          .damaged,
          "object \(id) of \(M.schema.name) is in the history but not in the store"
        )
      }
      let object: M = unsafe try reader.decode(record, id)
      if change.kind == .replaced, unsafe try !reader.isKey(change.key, of: record, id) {
        // Another object took the id, because their keys have the same hash.
        answer.deleted.append(try M.primaryKey(fromStored: change.key, objectID: id))
        answer.inserted.append(object)
      } else if change.kind == .inserted {
        answer.inserted.append(object)
      } else {
        answer.updated.append(.init(object: object, fields: ChangedFields(bits: change.fields)))
      }
    }
    return .changes(answer)
  }
}

extension ReaderSource {
  func historyToken() throws -> HistoryToken? {
    unsafe try schema.history?.end(in: transaction).token
  }

  /// The size of the history after a token in bytes; `nil` when the history does not have all of it.
  func historySize(since token: HistoryToken) throws -> UInt64? {
    guard let history = schema.history else { return nil }
    return unsafe try history.size(after: token, in: transaction)
  }

  /// Calls `body` with each entry of the history after a token that changes a model, and its commit.
  ///
  /// - Returns: False without a call if the history does not have all of them.
  func forEachEntry(
    since token: HistoryToken,
    of model: String,
    _ body: (UInt64, HistoryEntry) throws -> Void
  ) throws -> Bool {
    guard let history = schema.history, unsafe try history.reaches(token, in: transaction) else {
      return false
    }
    unsafe try history.forEach(after: token.number, of: model, in: unsafe transaction, body)
    return true
  }

  /// The changes since a token; `nil` when the history does not have all of them.
  func changes(since token: HistoryToken, of tables: ModelTables) throws -> CoalescedChanges? {
    var changes = CoalescedChanges()
    let isComplete = try forEachEntry(since: token, of: tables.name) { _, entry in
      for model in entry.models { changes.add(model.changes(for: tables)) }
    }
    guard isComplete else { return nil }
    for (changed, log) in state?.changesFromOutermost.models ?? [] where changed === tables {
      changes.add(CoalescedChanges(log))
    }
    return changes
  }
}

extension HistoryEntry.ModelEntry {
  /// The changes, with fields at their positions in the program's schema.
  func changes(for tables: ModelTables) -> CoalescedChanges {
    guard layoutNumber != tables.current?.number else { return changes }
    var own = CoalescedChanges()
    if changes.coversAllObjects { own.coverAllObjects() }
    for (id, change) in changes.objects {
      var change = change
      change.fields = tables.ownFields(change.fields, ofLayout: layoutNumber)
      own.add(change, to: id)
    }
    return own
  }
}

extension Model {
  fileprivate static func primaryKey(
    fromStored bytes: [UInt8],
    objectID: UInt64
  ) throws -> PrimaryKey {
    do {
      return try unsafe bytes.withUnsafeBytes { bytes throws(RecordError) in
        var reader = unsafe ByteReader(bytes)
        return try PrimaryKey(from: &reader)
      }
    } catch let error as RecordError {
      throw StoreError(error, model: schema.name, objectID: objectID)
    }
  }
}

extension Store {
  /// Returns the current position in the store's history.
  ///
  /// - Throws: ``StoreError`` as ``ObjectReader/historyToken()``.
  /// - Complexity: O(log n) in the number of commits in the history.
  public func historyToken() throws -> HistoryToken {
    try read { try $0.historyToken() }
  }

  /// Returns the changes of a model's objects since a token, by all processes.
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
  /// ``StoreOptions/historyLimit`` sets the length of the history.
  ///
  /// - Throws: ``StoreError`` as ``ObjectReader/changes(since:of:)``.
  public func changes<M: Model>(
    since token: HistoryToken,
    of model: M.Type
  ) throws -> HistoryResult<M> {
    try read { try $0.changes(since: token, of: model) }
  }
}
