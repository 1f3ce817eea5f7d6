internal import LMDB

/// Writes objects that are known by their fields alone, in one transaction.
///
/// Each is written with just the fields that it has: in a layout of the store that has the same, or
/// in one that is added.
struct StoredObjectWriter {
  /// What happens to an object whose primary key is taken.
  enum Conflict {
    case replace
    case fail
    case skip
  }

  /// What has happened to one object.
  enum Outcome: Hashable {
    case inserted
    case updated
    case unchanged
    case skipped
  }

  let environment: Environment
  let conflict: Conflict
  /// The version of the program's schema: it leaves a store of a later one alone.
  let schemaVersion: UInt32
  let historyLimit: HistoryLimit
  /// Is told of each commit that changed objects: its number, and what it changed.
  let didCommit: (UInt64, [HistoryEntry.ModelEntry]) -> Void

  /// What a write has done when it is about to commit.
  struct Written {
    var outcomes: [Outcome]
    var schema: StoredSchema
  }

  /// Writes all of the objects or none; `failed` is told which one could not be, and `check` may
  /// refuse what was written, once for each try.
  func write(
    _ objects: [StoredObject],
    failed: (Int) -> Void,
    check: (Written, borrowing WriteTransaction) throws -> Void
  ) throws -> [Outcome] {
    for _ in 0..<16 {
      do {
        return try attempt(objects, failed: failed, check: check)
      } catch let error as LMDBError where error.code == .mapFull {
        // The next try has twice the room.
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
      var session = Session(schema: schema, conflict: conflict)
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

  /// The schema of the store, after it has a layout for each of the objects.
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

  /// The writers of one transaction: one at a time for each model, of the layout used last.
  private struct Session {
    let schema: StoredSchema
    let conflict: Conflict
    private let writing: StoreSchema
    private var writers: [String: (layout: Int, writer: ModelWriter)] = [:]
    /// What writers have changed that are not used any more.
    private var changes: [(ModelTables, ChangeLog)] = []

    init(schema: StoredSchema, conflict: Conflict) {
      self.schema = schema
      self.conflict = conflict
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
            "there is an object of \(object.model) with the same primary key"
          )
        case .replace:
          return try writer.replace(found, in: &transaction) ? .updated : .unchanged
        }
      }
      try writer.add(in: &transaction)
      return .inserted
    }

    /// Stores what was kept back, and remembers what has changed.
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

    private mutating func retire(
      _ model: String,
      in transaction: inout WriteTransaction
    ) throws {
      guard let writer = writers.removeValue(forKey: model)?.writer else { return }
      try writer.hot.flush(in: &transaction)
      unsafe try writer.flushPending(in: WriteTransactionReference(transaction))
      changes.append((writer.tables, writer.changes))
    }

    /// The writer, with the object in its encoder.
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
        // Two writers of one model must keep nothing back from each other.
        try retire(object.model, in: &transaction)
        let tables = entry.tables(writing: layout)
        guard let current = tables.current else {
          throw StoreError(.damaged, "a layout of \(object.model) is gone")
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
            "the value of \(object.model).\(field.name) is no \(field.type)"
          )
        }
      }
      return writer
    }
  }
}

extension StoredSchema.Entry {
  /// The tables for a writer of that layout.
  fileprivate func tables(writing layout: RecordLayout) -> ModelTables {
    ModelTables(
      tables.name,
      own: layout,
      records: tables.records,
      hot: tables.hot,
      keys: tables.keys,
      indexes: tables.indexes.map { ($0.description, $0.database) },
      layouts: layouts,
      hashSeed: tables.hashSeed
    )
  }
}

extension StoredObject {
  fileprivate func field(_ id: UInt32) -> Field? { fields.first { $0.id == id } }

  /// The newest layout with just the fields that the object has, and room for nil where it has it.
  fileprivate func layoutIndex(in layouts: [RecordLayout]) -> Int? {
    layouts.lastIndex { layout in
      layout.fields.count == fields.count
        && layout.fields.allSatisfy { field in
          guard let own = self.field(field.id) else { return false }
          return own.type == field.type && (field.isOptional || !own.value.isNull)
        }
    }
  }

  /// A layout for the object, its fields as the model's layouts have them.
  fileprivate func newLayout(after entry: StoredSchema.Entry) throws -> RecordLayout {
    guard Set(fields.map(\.id)).count == fields.count,
      Set(fields.map(\.name)).count == fields.count
    else { throw StoreError(.schemaMismatch, "an object of \(model) has a field twice") }
    let known = entry.fields.filter { field in fields.contains { $0.id == field.id } }
    guard known.contains(where: \.isPrimaryKey) else {
      throw StoreError(.schemaMismatch, "an object of \(model) has no primary key")
    }
    var described: [RecordLayout.Field] = []
    for field in fields {
      guard var own = known.first(where: { $0.id == field.id }), own.type == field.type else {
        throw StoreError(
          .schemaMismatch,
          "the field \(field.name) of \(model) is not in the store, or is there of another type"
        )
      }
      guard !own.isPrimaryKey || !field.value.isNull else {
        throw StoreError(.schemaMismatch, "the primary key of an object of \(model) is nil")
      }
      own.isOptional = own.isOptional || field.value.isNull
      // Two of one name cannot be in one layout.
      if known.contains(where: { $0.id != own.id && $0.name == own.name }) { own.name = field.name }
      described.append(RecordLayout.Field(own))
    }
    return RecordLayout(fields: described)
  }
}

extension RecordEncoder {
  /// Writes the next field from its bytes, which are a value of the field's type; `nil` for nil.
  mutating func encode(stored bytes: [UInt8]?) {
    guard let bytes else { return encodeNil() }
    let place = nextPlace()
    if place.isHot {
      hot.encode(stored: bytes, at: place)
    } else {
      cold.encode(stored: bytes, at: place)
    }
  }
}

extension ByteWriter {
  fileprivate mutating func encode(stored bytes: [UInt8], at place: FieldPlace) {
    let presence = unsafe buffer[place.presenceOffset]
    patch(presence | place.presenceMask, at: place.presenceOffset)
    if place.isFixed {
      precondition(bytes.count == place.width, "a value has another width than its type")
      unsafe bytes.withUnsafeBytes { unsafe overwrite($0, at: place.offset) }
    } else {
      write(bytes)
      endField(at: place)
    }
  }
}
