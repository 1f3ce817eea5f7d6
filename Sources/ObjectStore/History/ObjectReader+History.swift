internal import LMDB

extension ObjectReader where Self: ~Copyable {
  /// The point of the history that the transaction sees: all that was committed before.
  ///
  /// - Throws: ``StoreError`` with `damaged`, or `notFound` when the store is open for reading and
  ///   has no history.
  /// - Complexity: O(log n) in the commits of the history.
  public func historyToken() throws -> HistoryToken {
    guard let token = try source.historyToken() else {
      throw StoreError(.notFound, "the store has no history: open it for writing once")
    }
    return token
  }

  /// What has happened to the objects of a model since a token, as of this transaction.
  ///
  /// Commits of every process count. In a write, what it changed so far is among it.
  ///
  /// - Throws: ``StoreError`` with `damaged`, `unknownModel`, or `tooNew` when a later version of
  ///   this program has written a history that this one cannot read.
  /// - Complexity: O(c + k log n) for the changes c since the token, of which k are of this model.
  public func changes<M: Model>(
    since token: HistoryToken,
    of model: M.Type
  ) throws -> HistoryAnswer<M> {
    guard let now = try source.historyToken() else { return .expired }
    var answer = ObjectChanges<M>(token: now)
    guard let reader = unsafe try source.reader(of: model) else { return .changes(answer) }
    guard let changes = unsafe try source.changes(since: token, of: reader.tables), !changes.isWhole
    else { return .expired }
    for (id, change) in changes.objects.sorted(by: { $0.key < $1.key }) {
      guard change.kind != .deleted else {
        answer.deleted.append(try M.primaryKey(fromStored: change.key, objectID: id))
        continue
      }
      guard let record = unsafe try reader.record(id) else {
        throw StoreError(
          .damaged,
          "object \(id) of \(M.schema.name) has a history and is not there"
        )
      }
      let object: M = unsafe try reader.decode(record, id)
      if change.kind == .inserted {
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

  /// What has happened to the objects of a model since a token; `nil` when the history does not
  /// reach so far.
  func changes(since token: HistoryToken, of tables: ModelTables) throws -> CoalescedChanges? {
    guard let history = schema.history, unsafe try history.reaches(token, in: transaction) else {
      return nil
    }
    var changes = CoalescedChanges()
    unsafe try history.forEach(
      after: token.number,
      of: tables.name,
      in: unsafe transaction
    ) { _, entry in
      for model in entry.models { changes.add(model.changes(for: tables)) }
    }
    for (changed, log) in state?.changesFromOutermost.models ?? [] where changed === tables {
      changes.add(CoalescedChanges(log))
    }
    return changes
  }
}

extension HistoryEntry.ModelEntry {
  /// The changes, with the fields counted as the program's schema does.
  func changes(for tables: ModelTables) -> CoalescedChanges {
    guard layoutNumber != tables.current?.number else { return changes }
    var own = CoalescedChanges()
    if changes.isWhole { own.addWhole() }
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
