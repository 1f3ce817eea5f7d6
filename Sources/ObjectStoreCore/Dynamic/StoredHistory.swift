internal import LMDB
internal import SystemInterface

/// The changes of one commit, without the Swift types of its models.
///
/// ```swift
/// for commit in try store.storedHistory(since: token)?.commits ?? [] {
///   for changes in commit.changes { print(commit.number, changes.model, changes.deleted) }
/// }
/// ```
public struct StoredCommit: Sendable, Hashable {
  /// The changes of the objects of one model.
  public struct Changes: Sendable, Hashable {
    /// The name of the model.
    public var model: String
    /// The primary keys of inserted objects.
    public var inserted: [StoredValue] = []
    /// The primary keys of changed objects, and the names of the fields that were written with
    /// another value.
    public var updated: [Update] = []
    /// The primary keys of deleted objects.
    public var deleted: [StoredValue] = []
    /// Whether any object of the model may have changed, because the commit changed too many objects
    /// to record each of them, or a later one has deleted such objects.
    public var coversAllObjects = false

    /// Creates changes.
    package init(
      model: String,
      inserted: [StoredValue] = [],
      updated: [Update] = [],
      deleted: [StoredValue] = [],
      coversAllObjects: Bool = false
    ) {
      self.model = model
      self.inserted = inserted
      self.updated = updated
      self.deleted = deleted
      self.coversAllObjects = coversAllObjects
    }
  }

  /// The change of an object that existed before.
  public struct Update: Sendable, Hashable {
    /// The primary key of the object.
    public var key: StoredValue
    /// The names of the fields that were written with another value, in the order of the model.
    ///
    /// The 64th field of a model and all after it are tracked together. Empty if an object with the
    /// same key replaced the previous one.
    public var fields: [String]

    /// Creates a change.
    package init(key: StoredValue, fields: [String]) {
      self.key = key
      self.fields = fields
    }
  }

  /// The number of the commit.
  public var number: UInt64
  /// The changes by model, sorted by its name.
  public var changes: [Changes]

  /// Creates a commit.
  package init(number: UInt64, changes: [Changes]) {
    self.number = number
    self.changes = changes
  }
}

/// The commits since a position in a store's history; see ``Store/storedHistory(since:)``.
///
/// ```swift
/// while let history = try store.storedHistory(since: token) {
///   for commit in history.commits { print(commit.number) }
///   token = history.token
/// }
/// ```
public struct StoredHistory: Sendable, Hashable {
  /// The commits that changed objects, in their order.
  public var commits: [StoredCommit]
  /// The position after these commits, from which to request the next ones.
  public var token: HistoryToken
}

extension Store {
  /// Returns each commit since a token, by all processes, without the Swift types of the models.
  ///
  /// ``changes(since:of:)`` returns the net changes of one model instead.
  ///
  /// ```swift
  /// guard let history = try store.storedHistory(since: token) else { return }
  /// for commit in history.commits { print(commit.number, commit.changes.map(\.model)) }
  /// ```
  ///
  /// - Parameter token: The position after which the commits are returned.
  /// - Returns: The commits; `nil` if the history does not have all of them, because the token is too
  ///   old or belongs to another copy of the store.
  /// - Throws: ``StoreError`` with `damaged` if the history or an object cannot be read, or `tooNew`
  ///   if a later version of the library wrote the history.
  /// - Complexity: O(c log n) for c changes and n objects. All changes are in memory;
  ///   ``StoreOptions/historyLimit`` bounds them.
  public func storedHistory(since token: HistoryToken) throws -> StoredHistory? {
    try readStored { transaction, schema in
      guard let history = schema.history, try history.reaches(token, in: transaction) else {
        return nil
      }
      var entries: [(number: UInt64, entry: HistoryEntry)] = []
      try history.forEach(after: token.number, in: transaction) { entries.append(($0, $1)) }
      return StoredHistory(
        commits: try Self.commits(of: entries, schema, in: transaction),
        token: try history.end(in: transaction).token
      )
    }
  }

  /// Returns the last commits that changed objects, oldest first, without the Swift types of the models.
  ///
  /// - Parameters:
  ///   - count: The numbers of commits to look at; commits that changed no object are not in the
  ///     history.
  ///   - maximumChanges: The number of changed objects after which earlier commits are left out.
  /// - Returns: The commits; empty if the history is off.
  /// - Throws: As ``storedHistory(since:)``.
  package func lastStoredCommits(
    _ count: UInt64,
    maximumChanges: Int = 10_000
  ) throws -> [StoredCommit] {
    try readStored { transaction, schema in
      guard let history = schema.history else { return [] }
      let end = try history.end(in: transaction).token.number
      guard end < .max else { return [] }
      var entries: [(number: UInt64, entry: HistoryEntry)] = []
      try history.forEach(after: end > count ? end - count : 0, in: transaction) {
        entries.append(($0, $1))
      }
      var changes = 0
      let kept = entries.reversed().prefix { _, entry in
        changes += entry.models.reduce(0) { $0 + $1.changes.objects.count }
        return changes <= maximumChanges
      }
      return try Self.commits(of: kept.reversed(), schema, in: transaction)
    }
  }

  private static func commits(
    of entries: [(number: UInt64, entry: HistoryEntry)],
    _ schema: StoredSchema,
    in transaction: borrowing ReadTransaction
  ) throws -> [StoredCommit] {
    var keys = ChangedKeys(schema)
    // From the last commit on: the key of an object that was deleted is in a later commit.
    var commits: [StoredCommit] = []
    for (number, entry) in entries.reversed() {
      let changes = try entry.models.map { try keys.changes(of: $0, in: transaction) }
      commits.append(
        StoredCommit(number: number, changes: changes.sorted { $0.model < $1.model })
      )
    }
    return commits.reversed()
  }
}

/// Finds the primary keys of the objects that the history names by their ids.
///
/// Commits must be given from the last one to the first one.
private struct ChangedKeys {
  private struct ObjectID: Hashable {
    var model: String
    var id: UInt64
  }

  private let schema: StoredSchema
  /// The keys that objects had after the commit that is given next, if a later one changed them.
  private var later: [ObjectID: StoredValue] = [:]
  /// The models of which a later commit may have deleted any object without its key.
  private var covered: Set<String> = []

  init(_ schema: StoredSchema) { self.schema = schema }

  mutating func changes(
    of entry: HistoryEntry.ModelEntry,
    in transaction: borrowing ReadTransaction
  ) throws -> StoredCommit.Changes {
    var changes = StoredCommit.Changes(model: entry.model)
    changes.coversAllObjects = entry.changes.coversAllObjects
    guard let model = schema.model(entry.model),
      let field = model.fields.first(where: \.isPrimaryKey)
    else {
      // The model was removed or renamed since.
      changes.coversAllObjects = true
      return changes
    }
    defer { if entry.changes.coversAllObjects { covered.insert(entry.model) } }
    for (id, change) in entry.changes.objects.sorted(by: { $0.key < $1.key }) {
      let object = ObjectID(model: entry.model, id: id)
      switch change.kind {
      case .inserted:
        guard let key = try key(of: object, model, field, transaction) else {
          changes.coversAllObjects = true
          continue
        }
        changes.inserted.append(key)
      case .updated:
        guard let key = try key(of: object, model, field, transaction) else {
          changes.coversAllObjects = true
          continue
        }
        changes.updated.append(
          StoredCommit.Update(
            key: key,
            fields: model.names(of: change.fields, inLayout: entry.layoutNumber)
          )
        )
      case .deleted:
        let key = try model.key(change.key, field, id)
        changes.deleted.append(key)
        later[object] = key
      case .replaced:
        let previous = try model.key(change.key, field, id)
        let key = try key(of: object, model, field, transaction)
        if key == nil { changes.coversAllObjects = true }
        if let key, key == previous {
          changes.updated.append(StoredCommit.Update(key: key, fields: []))
        } else {
          // Another object took the id, because their keys have the same hash.
          changes.deleted.append(previous)
          if let key { changes.inserted.append(key) }
        }
        later[object] = previous
      }
    }
    return changes
  }

  /// Returns the key that an object had after the commit; `nil` if a later one has deleted it without
  /// its key.
  private func key(
    of object: ObjectID,
    _ model: StoredSchema.Entry,
    _ field: StoredModel.Field,
    _ transaction: borrowing ReadTransaction
  ) throws -> StoredValue? {
    if let key = later[object] { return key }
    let key = try model.tables.withRecord(object.id, in: transaction) { record in
      try model.value(ofFieldWithID: field.id, in: record, object.id)
    }
    guard key != nil || covered.contains(object.model) else {
      throw StoreError(
        .damaged,
        "object \(object.id) of \(object.model) is in the history but not in the store"
      )
    }
    return key
  }
}

extension StoredSchema.Entry {
  /// Decodes the stored bytes of a primary key.
  fileprivate func key(
    _ bytes: [UInt8],
    _ field: StoredModel.Field,
    _ id: UInt64
  ) throws -> StoredValue {
    do throws(RecordError) {
      return try bytes.withRawSpan { bytes throws(RecordError) in
        try StoredValue(bytes, type: field.type)
      }
    } catch {
      throw StoreError(error, model: tables.name, objectID: id)
    }
  }

  /// The current names of changed fields, given as the bits of their positions in a layout.
  fileprivate func names(of bits: UInt64, inLayout number: UInt16) -> [String] {
    guard layouts.indices.contains(Int(number) - 1) else { return [] }
    return layouts[Int(number) - 1].fields.enumerated().compactMap { position, field in
      guard bits & FieldBit.ofField(at: position) != 0 else { return nil }
      return names[field.id] ?? field.name
    }
  }
}
