internal import LMDB
internal import ObjectStoreCore
internal import ObjectStoreMaintenance
internal import SystemInterface

/// A migration of all objects of a store into another file, in transactions of bounded size.
///
/// Each transaction also advances a cursor in the new file, so that the next program continues
/// after a kill.
struct MigrationRun {
  /// The number of bytes of records from which on a transaction has enough objects.
  private static let batchSize = 8 << 20

  private let source: Environment
  private let target: Environment
  private let plan: MigrationPlan
  private let models: [any Model.Type]
  private let options: StoreOptions
  private let batchCount: Int
  private let progress: (@Sendable (MigrationProgress) -> Void)?
  /// The number of failures that are kept; `nil` if the first one ends the migration.
  private let failureLimit: Int?
  private(set) var failures: [MigrationFailure] = []
  private(set) var failureCount = 0
  private(set) var objectCount = 0
  /// The greatest anonymous memory of the process after a batch, in bytes.
  private(set) var peakMemory: Int64?

  init(
    _ source: Environment,
    into target: Environment,
    steps: [MigrationStep],
    models: [any Model.Type],
    options: StoreOptions,
    failureLimit: Int? = nil
  ) {
    self.source = source
    self.target = target
    plan = MigrationPlan(steps: steps)
    self.models = models
    self.options = options
    batchCount = options.migration?.batchCount ?? 1
    progress = options.migration?.progress
    self.failureLimit = failureLimit
  }

  /// Migrates all objects.
  ///
  /// - Parameters:
  ///   - fingerprint: A digest of the store, the steps and the program.
  ///   - previousFile: The name under which the previous file is kept; empty if it is not.
  /// - Throws: ``StoreError`` with `migrationFailed`, unless failures are kept; or as a write.
  mutating func run(fingerprint: UInt64, previousFile: String) throws {
    try Store.readStored(source) { transaction, schema in
      try run(schema, transaction, fingerprint, previousFile)
    }
  }

  private mutating func run(
    _ schema: StoredSchema,
    _ transaction: borrowing ReadTransaction,
    _ fingerprint: UInt64,
    _ previousFile: String
  ) throws {
    let references = try schema.metadata.references(in: transaction)
    let stored =
      try options.migration?.resultHeader.map {
        try JSONLinesSchema(json: JSONParser.parse($0)).models
      } ?? plan.migrate(JSONLinesSchema(schema, references).models)
    var defaults: [String: StoredDefaults] = [:]
    for entry in schema.models {
      guard let name = plan.name(of: entry.tables.name) else { continue }
      defaults[name] = entry.defaults
    }
    var target = MigrationTarget(
      declared: models.map { $0.schema },
      stored: stored,
      defaults: defaults
    )
    let cursor = try begin(MigrationCursor(fingerprint: fingerprint), stored, defaults, schema)
    try migrate(from: cursor, &target, schema, transaction)
    try finish(schema, transaction, previousFile)
  }

  // MARK: The new file

  /// Returns the cursor of the new file; describes the models in it if it is empty.
  private func begin(
    _ start: MigrationCursor,
    _ stored: [JSONLinesSchema.Model],
    _ defaults: [String: StoredDefaults],
    _ source: StoredSchema
  ) throws -> MigrationCursor {
    if let cursor = try MigrationCursor.stored(in: target) { return cursor }
    var options = options
    // Filled indexes are built faster at the end, in sorted runs.
    options.indexBuilding = .inBackground(above: -1)
    try StoreOpening.writeSchema(of: target, models: models, options: options, nil)
    let declared = Set(models.map { $0.schema.name })
    let additions = stored.filter { !declared.contains($0.name) }.map { model in
      StoredSchemaWriter.Addition(
        model: model.name,
        layouts: [
          RecordLayout(
            fields: model.layoutFields(model.fields.map(\.field)),
            storage: model.storage
          )
        ],
        indexes: model.indexes,
        columns: model.columns,
        references: model.references
      )
    }
    let writer = StoredSchemaWriter(environment: target, schemaVersion: options.schemaVersion)
    if !additions.isEmpty { try writer.add(additions) }
    let created = try StoredSchema(target)
    let metadata = created.metadata
    var transaction = try target.beginWrite()
    for model in created.models {
      // The defaults of the store stay, unless a step has changed the type of the field.
      var values = model.defaults
      for (id, value) in defaults[model.tables.name] ?? [:]
      where model.fields.contains(where: { $0.id == id && $0.type == value.type }) {
        values[id] = StoredDefault(type: value.type, bytes: value.bytes)
      }
      try metadata.set(values, of: model.tables.name, in: &transaction)
    }
    // An application may have derived values from the seed.
    try metadata.set(source.seed, for: MetadataKey.seed, in: &transaction)
    try metadata.set(start.encoded, for: MigrationCursor.key, in: &transaction)
    try transaction.commit()
    return start
  }

  // MARK: Objects

  private mutating func migrate(
    from start: MigrationCursor,
    _ models: inout MigrationTarget,
    _ schema: StoredSchema,
    _ transaction: borrowing ReadTransaction
  ) throws {
    var cursor = start
    var total = 0
    for entry in schema.models { total += try transaction.count(of: entry.tables.records) }
    var writer = MigrationWriter(target)
    let source = MigrationSource(schema, options)
    let first = schema.models.firstIndex { $0.tables.name == start.model } ?? 0
    for entry in schema.models[first...] {
      if entry.tables.name != start.model { cursor.next = 0 }
      cursor.model = entry.tables.name
      var isLast = false
      while !isLast {
        try Task.checkCancellation()
        let (batch, next) = try read(entry, from: cursor.next, transaction)
        isLast = next == nil
        cursor.next = next ?? .max
        // A count for display, and a damaged one must not end the process.
        cursor.objectCount &+= UInt64(batch.count)
        let entries = try entries(batch, source, transaction, &models)
        try writer.write(entries, models, cursor) { failure in
          try note(failure)
        }
        objectCount = Int(clamping: cursor.objectCount)
        if let memory = AnonymousMemory.current { peakMemory = max(peakMemory ?? 0, memory) }
        options.migration?.didWrite?()
        progress?(MigrationProgress(objectCount: objectCount, totalObjectCount: total))
      }
    }
  }

  private struct Source {
    let id: UInt64
    let object: MigratedObject
    /// The steps of the object, which may be of an earlier version than the store.
    let plan: MigrationPlan
  }

  /// Returns the next objects of a model, and the id to continue with.
  private func read(
    _ entry: StoredSchema.Entry,
    from start: UInt64,
    _ transaction: borrowing ReadTransaction
  ) throws -> (batch: [Source], next: UInt64?) {
    var batch: [Source] = []
    var size = 0
    var next: UInt64?
    var templates: [UInt16: (MigratedObject.Template, MigrationPlan)] = [:]
    try entry.tables.forEachRecord(in: transaction, from: start) { id, record in
      guard batch.count < batchCount, size < Self.batchSize else {
        next = id
        return false
      }
      do throws(RecordError) {
        let number = record.layoutNumber
        let (template, plan) =
          templates[number] ?? entry.template(of: record.layout, number, plan, options)
        templates[number] = (template, plan)
        let object = try MigratedObject(record, model: entry.tables.name, template)
        batch.append(Source(id: id, object: object, plan: plan))
      } catch {
        throw StoreError(error, model: entry.tables.name, objectID: id)
      }
      size += record.byteCount
      return true
    }
    return (batch, next)
  }

  /// Applies the steps to objects.
  private mutating func entries(
    _ batch: [Source],
    _ source: MigrationSource,
    _ transaction: borrowing ReadTransaction,
    _ models: inout MigrationTarget
  ) throws -> [MigrationTarget.Entry] {
    var entries: [MigrationTarget.Entry] = []
    entries.reserveCapacity(batch.count)
    for entry in batch {
      let origin = MigrationOrigin(object: entry.object, id: entry.id)
      do {
        let results = try entry.plan.migrate(entry.object) { key, step in
          try source.find(key, before: step, in: transaction)
        }
        for result in results { entries.append(try models.entry(result, from: origin)) }
      } catch let failure as MigrationPlan.Failure {
        try note(MigrationFailure(origin, step: failure.step, failure.error))
      } catch {
        try note(MigrationFailure(origin, step: nil, error))
      }
    }
    return entries
  }

  private mutating func note(_ failure: MigrationFailure) throws {
    guard let failureLimit else {
      throw StoreError(
        .migrationFailed,
        "the store cannot be migrated, and is unchanged: \(failure)",
        cause: failure
      )
    }
    failureCount += 1
    if failures.count < failureLimit { failures.append(failure) }
  }

  // MARK: The end

  /// Builds the indexes, checks the references, and completes the description of the new file.
  private mutating func finish(
    _ source: StoredSchema,
    _ previous: borrowing ReadTransaction,
    _ previousFile: String
  ) throws {
    var worker = IndexBuildWorker(target)
    while try worker.step() != .nothing { try Task.checkCancellation() }
    try checkReferences()
    let schema = try StoredSchema(target)
    var transaction = try target.beginWrite()
    for model in source.models.map(\.tables.name) {
      let counter = MetadataKey.counter(model)
      guard let name = plan.name(of: model),
        let last: UInt64 = try source.metadata.integer(counter, in: previous)
      else { continue }
      try schema.metadata.set(last, for: MetadataKey.counter(name), in: &transaction)
    }
    let key = Array(MigrationCursor.key.utf8)
    try transaction.delete(key.span, in: schema.metadata.database)
    let record = MigrationRecord(
      from: source.version,
      to: options.schemaVersion,
      commit: transaction.id,
      previousFile: previousFile
    )
    try schema.metadata.set(record.encoded, for: MigrationRecord.key, in: &transaction)
    try schema.history?.restart(in: &transaction)
    try transaction.commit()
    options.migration?.didWrite?()
  }

  private mutating func checkReferences() throws {
    var missing: [MigrationFailure] = []
    // A rehearsal continues without the objects that a step rejects.
    let cause = failures.isEmpty ? "is missing" : "is missing or was rejected"
    try Store.readStored(target) { transaction, schema in
      let references = try EnforcedReferences(schema, in: transaction)
      for entry in schema.models {
        guard let fields = references.fields[entry.tables.name], !fields.isEmpty else { continue }
        let name = entry.tables.name
        try entry.tables.forEachRecord(in: transaction) { id, record in
          for field in fields {
            try field.forEachMissingKey(of: record, in: transaction) {
              let reason =
                "\(field.fieldName) refers to an object of \(field.target.name) that \(cause)"
              missing.append(
                MigrationFailure(
                  model: name,
                  objectID: id,
                  primaryKey: entry.primaryKey(of: record, id),
                  step: nil,
                  reason: reason
                )
              )
            }
          }
          return missing.isEmpty || failureLimit != nil
        }
      }
    }
    for failure in missing { try note(failure) }
  }
}
