internal import LMDB
internal import ObjectStoreCore

/// Writes migrated objects to the new file.
struct MigrationWriter {
  private let environment: Environment
  private var schema: StoredSchema?

  /// A combination of fields of a model.
  private struct Shape: Hashable {
    var model: Int
    var shape: Int
  }

  init(_ environment: Environment) { self.environment = environment }

  /// Writes objects and the position after them in one transaction.
  ///
  /// `failed` is called with each object that the store rejects, and throws to end the migration.
  mutating func write(
    _ entries: [MigrationTarget.Entry],
    _ models: MigrationTarget,
    _ cursor: MigrationCursor,
    failed: (MigrationFailure) throws -> Void
  ) throws {
    let schema = try schema(
      for: Set(entries.map { Shape(model: $0.model, shape: $0.shape) }),
      models
    )
    let failures = try StoreOpening.growingMap {
      var failures: [MigrationFailure] = []
      var transaction = try environment.beginWrite()
      var session = Session(schema, models)
      for entry in session.ordered(entries) {
        do {
          try session.write(entry, in: &transaction)
        } catch let error as StoreError where error.code == .duplicateKey {
          failures.append(MigrationFailure(entry.source, step: nil, error))
        }
      }
      try session.finish(in: &transaction)
      try schema.metadata.set(cursor.encoded, for: MigrationCursor.key, in: &transaction)
      try transaction.commit(.ordered)
      return failures
    }
    for failure in failures { try failed(failure) }
  }

  /// Returns the schema of the new file, which has the layouts of all shapes.
  private mutating func schema(
    for shapes: Set<Shape>,
    _ models: MigrationTarget
  ) throws -> StoredSchema {
    let current = try schema ?? StoredSchema(environment)
    schema = current
    var additions: [String: StoredSchemaWriter.Addition] = [:]
    for shape in shapes {
      let model = models.models[shape.model]
      let layout = model.shapes[shape.shape].layout
      guard current.model(model.name)?.layouts.contains(layout) != true else { continue }
      additions[model.name, default: StoredSchemaWriter.Addition(model: model.name)]
        .layouts.append(layout)
    }
    guard !additions.isEmpty else { return current }
    try StoredSchemaWriter(environment: environment, schemaVersion: .max)
      .add(additions.values.sorted { $0.model < $1.model })
    let changed = try StoredSchema(environment)
    schema = changed
    return changed
  }

  /// The writers of one transaction; each model has one at a time, for the shape used last.
  private struct Session {
    private let schema: StoredSchema
    private let models: MigrationTarget
    private var writers: [Int: (shape: Int, writer: ModelWriter)] = [:]

    init(_ schema: StoredSchema, _ models: MigrationTarget) {
      self.schema = schema
      self.models = models
    }

    /// Returns the objects in the order in which they are written fastest.
    func ordered(_ entries: [MigrationTarget.Entry]) -> [MigrationTarget.Entry] {
      guard entries.contains(where: { models.models[$0.model].storage == .byKey }) else {
        return entries
      }
      let orders = entries.map { entry -> UInt64 in
        let model = models.models[entry.model]
        guard model.storage == .byKey else { return 0 }
        let key = entry.object.fields[model.shapes[entry.shape].key]
        let hash = entry.object.withBytes(of: key) { XXHash64.hash($0, seed: schema.seed) }
        return hash.map(StorageLayout.homeID(ofHash:)) ?? 0
      }
      // Equal places keep their order.
      return entries.indices.sorted { (orders[$0], $0) < (orders[$1], $1) }.map { entries[$0] }
    }

    mutating func write(
      _ entry: MigrationTarget.Entry,
      in transaction: inout WriteTransaction
    ) throws {
      let writer = try writer(for: entry, in: &transaction)
      let shape = models.models[entry.model].shapes[entry.shape]
      writer.encoder.start()
      for position in shape.positions {
        let field = entry.object.fields[position]
        let isNil: Void? = entry.object.withBytes(of: field) { writer.encoder.encode(stored: $0) }
        if isNil == nil { writer.encoder.encodeNil() }
      }
      guard try writer.findEncoded(in: transaction) == nil else {
        throw StoreError(
          .duplicateKey,
          "another object of \(entry.object.model) has the same primary key"
        )
      }
      try writer.add(preferring: entry.source.id, in: &transaction)
    }

    mutating func finish(in transaction: inout WriteTransaction) throws {
      for (_, writer) in writers.values { try writer.flush(in: &transaction) }
    }

    private mutating func writer(
      for entry: MigrationTarget.Entry,
      in transaction: inout WriteTransaction
    ) throws -> ModelWriter {
      if let last = writers[entry.model] {
        if last.shape == entry.shape { return last.writer }
        // The new writer must see everything that the previous one has buffered.
        try last.writer.flush(in: &transaction)
      }
      let model = models.models[entry.model]
      let layout = model.shapes[entry.shape].layout
      guard let stored = schema.model(model.name) else {
        throw StoreError(.unknownModel, "the store has no model \(model.name)")
      }
      let tables = stored.tables
      let own = ModelTables(
        model.name,
        own: layout,
        records: tables.records,
        hot: tables.hot,
        keys: tables.keys,
        indexes: tables.indexes.map { ($0.description, $0.database) },
        // Those that are listed as being built are built at the end.
        columns: tables.columns.map { ($0.description, $0.database) },
        layouts: stored.layouts,
        defaults: stored.defaults,
        hashSeed: tables.hashSeed
      )
      guard let current = own.current else {
        throw StoreError(.damaged, "a layout of \(model.name) is missing")
      }
      let writer = ModelWriter(own, current: current, metadata: schema.metadata)
      writers[entry.model] = (entry.shape, writer)
      return writer
    }
  }
}
