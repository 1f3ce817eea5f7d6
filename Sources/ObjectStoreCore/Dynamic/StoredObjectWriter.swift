package import LMDB

/// Writes objects without their Swift types, in one transaction.
///
/// Each object is written with exactly the fields it has: in an existing layout that has the same
/// fields, or else in a new layout that is added to the store.
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
      let schema = try schemaWithLayouts(for: objects, failed: failed)
      var transaction = try environment.beginWrite()
      let epoch: UInt64? = try schema.metadata.integer(MetadataKey.epoch, in: transaction)
      guard epoch == schema.epoch else { continue }
      try schema.metadata.requireVersion(upTo: schemaVersion, in: transaction)
      var session = Session(schema: schema, conflict: conflict, uniqueFields: uniqueFields)
      var outcomes: [Outcome] = []
      outcomes.reserveCapacity(objects.count)
      for (number, object) in objects.enumerated() {
        do {
          outcomes.append(try session.write(object, in: &transaction))
        } catch {
          failed(number)
          throw error
        }
      }
      let entries = try session.finish(historyLimit, in: &transaction)
      try check(Written(outcomes: outcomes, schema: schema), transaction)
      let number = transaction.id
      try transaction.commit()
      if !entries.isEmpty { didCommit(number, entries) }
      return outcomes
    }
  }

  /// Adds the layouts that the objects need and returns the schema of the store.
  private func schemaWithLayouts(
    for objects: [StoredObject],
    failed: (Int) -> Void
  ) throws -> StoredSchema {
    let schema = try StoredSchema(environment)
    var additions: [String: StoredSchemaWriter.Addition] = [:]
    for (number, object) in objects.enumerated() {
      guard let entry = schema.model(object.model) else {
        failed(number)
        throw StoreError(.unknownModel, "the store has no model \(object.model)")
      }
      var addition =
        additions[object.model] ?? StoredSchemaWriter.Addition(model: object.model)
      guard object.layoutIndex(in: entry.layouts + addition.layouts) == nil else { continue }
      do {
        addition.layouts.append(try object.newLayout(after: entry))
      } catch {
        failed(number)
        throw error
      }
      additions[object.model] = addition
    }
    guard !additions.isEmpty else { return schema }
    let ordered = additions.values.sorted { $0.model < $1.model }
    try StoredSchemaWriter(environment: environment, schemaVersion: schemaVersion).add(ordered)
    return try StoredSchema(environment)
  }

  /// The writers of one transaction.
  ///
  /// A writer writes one layout. Each model has at most one writer at a time, for the layout used
  /// last.
  private struct Session {
    let schema: StoredSchema
    let conflict: Conflict
    private let uniqueFields: [String: Set<UInt32>]
    private let writing: StoreSchema
    private var writers: [String: (layout: Int, writer: ModelWriter)] = [:]
    /// The changes of writers that are no longer used.
    private var changes: [(ModelTables, ChangeLog)] = []

    init(schema: StoredSchema, conflict: Conflict, uniqueFields: [String: Set<UInt32>]) {
      self.schema = schema
      self.conflict = conflict
      self.uniqueFields = uniqueFields
      writing = schema.forWriting
    }

    mutating func write(
      _ object: StoredObject,
      in transaction: inout WriteTransaction
    ) throws -> Outcome {
      let writer = try writer(for: object, in: &transaction)
      if let found = unsafe try writer.find(writer.encodedKey, in: transaction) {
        switch conflict {
        case .skip: return .skipped
        case .fail:
          throw StoreError(
            .duplicateKey,
            "an object of \(object.model) with the same primary key exists"
          )
        case .replace:
          return try writer.replace(found, in: &transaction) ? .updated : .unchanged
        }
      }
      try writer.add(preferring: object.id, in: &transaction)
      return .inserted
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

    /// Returns the writer for the object's layout, with the object encoded.
    private mutating func writer(
      for object: StoredObject,
      in transaction: inout WriteTransaction
    ) throws -> ModelWriter {
      guard let entry = schema.model(object.model),
        let index = object.layoutIndex(in: entry.layouts)
      else { throw StoreError(.unknownModel, "the store has no model \(object.model)") }
      let layout = entry.layouts[index]
      let writer: ModelWriter
      if let last = writers[object.model], last.layout == index {
        writer = last.writer
      } else {
        // The new writer must see everything that the previous one has buffered.
        try retire(object.model, in: &transaction)
        let tables = entry.tables(writing: layout, unique: uniqueFields[object.model] ?? [])
        guard let current = tables.current else {
          throw StoreError(.damaged, "a layout of \(object.model) is missing")
        }
        writer = ModelWriter(tables, current: current, schema: writing)
        writers[object.model] = (index, writer)
      }
      writer.encoder.start()
      for field in layout.fields {
        guard let value = object.field(field.id)?.value else { continue }
        do throws(RecordError) {
          writer.encoder.encode(stored: try value.bytes(as: field.type))
        } catch {
          throw StoreError(
            .schemaMismatch,
            "the value of \(object.model).\(field.name) is not of type \(field.type)"
          )
        }
      }
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

extension StoredObject {
  fileprivate func field(_ id: UInt32) -> Field? { fields.first { $0.id == id } }

  /// The index of the newest layout that fits the object.
  ///
  /// A layout fits when it has exactly the object's fields, and is optional where the object has
  /// `nil`. Layouts from before a migration are not used: a later one would not convert the object.
  fileprivate func layoutIndex(in layouts: [RecordLayout]) -> Int? {
    layouts.lastIndex { layout in
      layout.fields.count == fields.count && !OutdatedLayouts.isMarked(layout)
        && layout.fields.allSatisfy { field in
          guard let own = self.field(field.id) else { return false }
          return own.type == field.type && (field.isOptional || !own.value.isNull)
        }
    }
  }

  /// Returns a layout for the object; the newest layout that has a field describes it.
  fileprivate func newLayout(after entry: StoredSchema.Entry) throws -> RecordLayout {
    guard Set(fields.map(\.id)).count == fields.count,
      Set(fields.map(\.name)).count == fields.count
    else { throw StoreError(.schemaMismatch, "an object of \(model) has a duplicate field") }
    let known = entry.fields.filter { field in fields.contains { $0.id == field.id } }
    guard known.contains(where: \.isPrimaryKey) else {
      throw StoreError(.schemaMismatch, "an object of \(model) has no primary key")
    }
    var described: [RecordLayout.Field] = []
    for field in fields {
      guard var own = known.first(where: { $0.id == field.id }), own.type == field.type else {
        throw StoreError(
          .schemaMismatch,
          "the store has no field \(field.name) of \(model), or has it with another type"
        )
      }
      guard !own.isPrimaryKey || !field.value.isNull else {
        throw StoreError(.schemaMismatch, "the primary key of an object of \(model) is nil")
      }
      own.isOptional = own.isOptional || field.value.isNull
      // Field names must be unique in a layout: on a conflict, keep the object's name of the field.
      if known.contains(where: { $0.id != own.id && $0.name == own.name }) { own.name = field.name }
      described.append(RecordLayout.Field(own))
    }
    return RecordLayout(fields: described, storage: entry.tables.storage)
  }
}

extension RecordEncoder {
  /// Encodes the next field from already encoded bytes, or as `nil`.
  ///
  /// - Precondition: For a field of fixed width, `bytes` has that width.
  package mutating func encode(stored bytes: [UInt8]?) {
    guard let bytes else { return encodeNil() }
    unsafe bytes.withUnsafeBytes { unsafe encode($0) }
  }
}
