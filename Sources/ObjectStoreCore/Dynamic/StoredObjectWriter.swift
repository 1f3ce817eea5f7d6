package import LMDB

/// Writes objects without their Swift types, in one transaction.
///
/// The fields that an object omits are completed as ``CompletedObject`` says, so that objects of one
/// model share a layout; see ``maximumExactLayouts``. An object is written in an existing layout that
/// has exactly its fields, or else in a new layout that is added to the store.
package struct StoredObjectWriter {
  /// The policy for an object whose primary key already exists.
  package enum Conflict {
    case replace
    case fail
    case skip
  }

  /// The result for one object.
  package enum Outcome: Hashable {
    case inserted
    case updated
    case unchanged
    case skipped
  }

  package let environment: Environment
  package let conflict: Conflict
  /// The ids of fields, by model, whose indexes reject equal values although they are not unique.
  package var uniqueFields: [String: Set<UInt32>] = [:]
  /// The number of layouts of a model up to which objects are written without the fields that they
  /// omit.
  ///
  /// Layouts are never removed, and each costs time when a store is opened. Zero completes all objects.
  package var maximumExactLayouts = 0
  /// The version of the program's schema; a store with a later version is not written to.
  package let schemaVersion: UInt32
  package let historyLimit: HistoryLimit
  /// Called after each commit that changed objects, with its number and its changes.
  package let didCommit: (UInt64, [HistoryEntry.ModelEntry]) -> Void

  package init(
    environment: Environment,
    conflict: Conflict,
    uniqueFields: [String: Set<UInt32>] = [:],
    schemaVersion: UInt32,
    historyLimit: HistoryLimit,
    didCommit: @escaping (UInt64, [HistoryEntry.ModelEntry]) -> Void
  ) {
    self.environment = environment
    self.conflict = conflict
    self.uniqueFields = uniqueFields
    self.schemaVersion = schemaVersion
    self.historyLimit = historyLimit
    self.didCommit = didCommit
  }

  /// The state of a write that is about to commit.
  package struct Written {
    package var outcomes: [Outcome]
    package var schema: StoredSchema
  }

  /// Writes all of the objects or none, and returns the outcome for each.
  ///
  /// `failed` is called with the index of an object that cannot be written, before its error is
  /// thrown. `check` is called before the commit and throws to abort it. When the map is full, the
  /// write is repeated, and with it the call of `check`.
  package func write(
    _ objects: [StoredObject],
    failed: (Int) -> Void,
    check: (Written, borrowing WriteTransaction) throws -> Void
  ) throws -> [Outcome] {
    for _ in 0..<16 {
      do {
        return try attempt(objects, failed: failed, check: check)
      } catch let error as LMDBError where error.code == .mapFull {
        // The next `beginWrite()` enlarges the map.
      }
    }
    return try attempt(objects, failed: failed, check: check)
  }

  private func attempt(
    _ objects: [StoredObject],
    failed: (Int) -> Void,
    check: (Written, borrowing WriteTransaction) throws -> Void
  ) throws -> [Outcome] {
    while true {
      switch try writeOnce(objects, failed: failed, check: check) {
      case .written(let outcomes): return outcomes
      case .outdated: break
      case .lacking(let layouts):
        let additions = layouts.sorted { $0.key < $1.key }
          .map { StoredSchemaWriter.Addition(model: $0.key, layouts: $0.value) }
        try StoredSchemaWriter(environment: environment, schemaVersion: schemaVersion)
          .add(additions)
      }
    }
  }

  /// The result of a transaction.
  private enum Attempt {
    case written([Outcome])
    /// Nothing was written, because another process has changed the schema.
    case outdated
    /// Nothing was written, because the store lacks layouts, by model.
    case lacking([String: [RecordLayout]])
  }

  private func writeOnce(
    _ objects: [StoredObject],
    failed: (Int) -> Void,
    check: (Written, borrowing WriteTransaction) throws -> Void
  ) throws -> Attempt {
    let schema = try StoredSchema(environment)
    var transaction = try environment.beginWrite()
    let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
    guard epoch == schema.epoch else { return .outdated }
    try schema.metadata.requireVersion(upTo: schemaVersion, in: transaction)
    var session = Session(
      schema: schema,
      conflict: conflict,
      uniqueFields: uniqueFields,
      maximumExactLayouts: maximumExactLayouts
    )
    var outcomes: [Outcome] = []
    outcomes.reserveCapacity(objects.count)
    for (number, object) in objects.enumerated() {
      do {
        if let outcome = try session.write(object, in: &transaction) { outcomes.append(outcome) }
      } catch {
        failed(number)
        throw error
      }
    }
    guard session.lacking.isEmpty else { return .lacking(session.lacking) }
    let entries = try session.finish(historyLimit, in: &transaction)
    try check(Written(outcomes: outcomes, schema: schema), transaction)
    let number = transaction.id
    try transaction.commit()
    if !entries.isEmpty { didCommit(number, entries) }
    return .written(outcomes)
  }

  /// The writers of one transaction.
  ///
  /// A writer writes one layout. Each model has at most one writer at a time, for the layout used
  /// last.
  private struct Session {
    let schema: StoredSchema
    let conflict: Conflict
    private let maximumExactLayouts: Int
    private let uniqueFields: [String: Set<UInt32>]
    private let writing: StoreSchema
    private var writers: [String: (layout: Int, writer: ModelWriter)] = [:]
    /// The layouts that the store lacks for the objects, by model.
    ///
    /// Once there is one, nothing more is written.
    private(set) var lacking: [String: [RecordLayout]] = [:]
    /// The changes of writers that are no longer used.
    private var changes: [(ModelTables, ChangeLog)] = []

    init(
      schema: StoredSchema,
      conflict: Conflict,
      uniqueFields: [String: Set<UInt32>],
      maximumExactLayouts: Int
    ) {
      self.schema = schema
      self.maximumExactLayouts = maximumExactLayouts
      self.conflict = conflict
      self.uniqueFields = uniqueFields
      writing = schema.forWriting
    }

    /// Writes an object, unless a layout is lacking for it or for one before.
    ///
    /// - Returns: The outcome; `nil` if nothing was written, which ends the transaction.
    mutating func write(
      _ object: StoredObject,
      in transaction: inout WriteTransaction
    ) throws -> Outcome? {
      guard let entry = schema.model(object.model) else {
        throw StoreError(.unknownModel, "the store has no model \(object.model)")
      }
      let added = lacking[object.model] ?? []
      let layouts = added.isEmpty ? entry.layouts : entry.layouts + added
      let last = entry.layouts.last { !OutdatedLayouts.isMarked($0) }
      var completed = CompletedObject(object)
      let isExact =
        maximumExactLayouts > 0
        && (layouts.count < maximumExactLayouts || completed.layoutIndex(in: layouts) != nil)
      if let last, !isExact {
        let missing = completed.missing(from: last)
        if !missing.isEmpty {
          let found = try stored(missing, of: completed.key(in: entry), entry, in: &transaction)
          if found != nil, let outcome = try outcome(ofKnown: object, entry) { return outcome }
          completed.add(missing, stored: found ?? [:], in: entry)
        }
      }
      guard let index = completed.layoutIndex(in: layouts) else {
        let layout = try completed.newLayout(in: entry, after: last)
        lacking[object.model, default: []].append(layout)
        return nil
      }
      guard lacking.isEmpty else { return nil }
      let writer = try writer(of: entry, index, in: &transaction)
      try completed.encode(in: entry.layouts[index], to: &writer.encoder)
      if let found = try writer.findEncoded(in: transaction) {
        if let outcome = try outcome(ofKnown: object, entry) { return outcome }
        return try writer.replace(found, in: &transaction) ? .updated : .unchanged
      }
      try writer.add(preferring: object.id, in: &transaction)
      return .inserted
    }

    /// The outcome for an object whose primary key exists; `nil` if it is replaced.
    private func outcome(
      ofKnown object: StoredObject,
      _ entry: StoredSchema.Entry
    ) throws -> Outcome? {
      switch conflict {
      case .replace: return nil
      case .skip: return .skipped
      case .fail:
        let field = entry.fields.first(where: \.isPrimaryKey)
        let key = object.fields.first { $0.id == field?.id }?.value
        throw StoreError(
          .duplicateKey,
          "an object of \(object.model) with the same primary key exists"
            + (key.map { ": \($0)" } ?? "")
        )
      }
    }

    /// Returns the encoded values of some fields in the object with a primary key, by field id,
    /// without those that it lacks; `nil` if there is no such object.
    private mutating func stored(
      _ fields: [RecordLayout.Field],
      of key: [UInt8],
      _ entry: StoredSchema.Entry,
      in transaction: inout WriteTransaction
    ) throws -> [UInt32: [UInt8]?]? {
      let last = writers[entry.tables.name]?.layout
      let writer = try writer(
        of: entry,
        last ?? entry.layouts.count - 1,
        in: &transaction
      )
      guard let found = try writer.find(key, in: transaction) else { return nil }
      guard conflict == .replace else { return [:] }
      var values: [UInt32: [UInt8]?] = [:]
      do throws(RecordError) {
        for field in fields { values[field.id] = try found.record.bytes(ofID: field.id) }
      } catch {
        throw StoreError(error, model: entry.tables.name, objectID: found.id)
      }
      return values
    }

    /// Writes everything the writers have buffered, appends the changes to the history, and returns
    /// them.
    mutating func finish(
      _ limit: HistoryLimit,
      in transaction: inout WriteTransaction
    ) throws -> [HistoryEntry.ModelEntry] {
      for name in writers.keys.sorted() { try retire(name, in: &transaction) }
      let entries = ChangesByModel(changes).historyEntries
      guard let history = schema.history, !entries.isEmpty else { return entries }
      if limit.isOff {
        try history.stop(in: &transaction)
      } else {
        try history.append(entries, limit: limit, in: &transaction)
      }
      return entries
    }

    /// Flushes and removes the model's writer.
    private mutating func retire(
      _ model: String,
      in transaction: inout WriteTransaction
    ) throws {
      guard let writer = writers.removeValue(forKey: model)?.writer else { return }
      try writer.flush(in: &transaction)
      changes.append((writer.tables, writer.changes))
    }

    /// Returns the writer for a layout of a model, by its index.
    private mutating func writer(
      of entry: StoredSchema.Entry,
      _ index: Int,
      in transaction: inout WriteTransaction
    ) throws -> ModelWriter {
      let model = entry.tables.name
      if let last = writers[model], last.layout == index { return last.writer }
      // The new writer must see everything that the previous one has buffered.
      try retire(model, in: &transaction)
      let tables = entry.tables(writing: entry.layouts[index], unique: uniqueFields[model] ?? [])
      guard let current = tables.current else {
        throw StoreError(.damaged, "a layout of \(model) is missing")
      }
      let writer = ModelWriter(tables, current: current, schema: writing)
      writers[model] = (index, writer)
      return writer
    }
  }
}

extension StoredSchema.Entry {
  /// The tables for a writer of the layout, which treats the indexes of some fields as unique ones.
  ///
  /// A unique index has the same entries.
  fileprivate func tables(writing layout: RecordLayout, unique: Set<UInt32>) -> ModelTables {
    ModelTables(
      tables.name,
      own: layout,
      records: tables.records,
      hot: tables.hot,
      keys: tables.keys,
      indexes: tables.indexes.map { index in
        var description = index.description
        if description.parts.count == 1, unique.contains(description.parts[0].fieldID) {
          description.isUnique = true
        }
        return (description, index.database)
      },
      buildingIndexes: tables.buildingIndexes.map { ($0.description, $0.database) },
      columns: tables.columns.map { ($0.description, $0.database) },
      layouts: layouts,
      defaults: defaults,
      hashSeed: tables.hashSeed
    )
  }
}
