package import LMDB
internal import SystemInterface

/// Reading the stored schema.
extension StoreOpening {
  /// Reads the stored schema and opens the databases of the models.
  package static func readSchema(
    of environment: Environment,
    models: [any Model.Type],
    options: StoreOptions,
    _ log: StoreLog? = nil
  ) throws -> StoreSchema {
    try databaseOpeningLock.withLock { _ in
      let transaction = try environment.beginRead()
      guard let database = try transaction.openDatabase(TableName.store) else {
        throw StoreError(.damaged, "\(environment.path): the table '\(TableName.store)' is missing")
      }
      let metadata = Metadata(database: database)
      guard
        let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction),
        let epoch: UInt64 = try metadata.integer(MetadataKey.epoch, in: transaction)
      else {
        throw StoreError(
          .damaged,
          "\(environment.path): the description of the store is incomplete"
        )
      }
      let version: UInt32 =
        try metadata.integer(MetadataKey.schemaVersion, in: transaction) ?? 0
      let entries = try models.map { model in
        let outdated = try metadata.outdatedLayouts(of: model.schema.name, in: transaction)
        try requireSteps(for: outdated, of: model.schema.name, upTo: version, options)
        return StoreSchema.Entry(
          model: model,
          tables: try readTables(
            model.schema,
            metadata,
            outdated,
            options,
            version: version,
            seed: seed,
            log,
            in: transaction
          )
        )
      }
      let references = try ReferenceGraph(entries, metadata, in: transaction)
      let history = try transaction.openDatabase(TableName.history, keys: .integers)
      try transaction.keepDatabases()
      return StoreSchema(
        metadata: metadata,
        historyTable: history,
        epoch: epoch,
        seed: seed,
        version: version,
        models: entries,
        references: references
      )
    }
  }

  /// Throws if the program lacks the steps that objects of earlier versions need when they are read.
  ///
  /// - Parameters:
  ///   - outdated: The layouts of these objects.
  ///   - model: The name of their model.
  ///   - stored: The schema version of the store.
  ///   - options: The schema version and the steps of the program.
  /// - Throws: ``StoreError`` with `tooNew` or `schemaMismatch`.
  package static func requireSteps(
    for outdated: OutdatedLayouts,
    of model: String,
    upTo stored: UInt32,
    _ options: StoreOptions
  ) throws {
    let versions = outdated.versions.map(\.version).sorted()
    // A later group exists because steps between the two versions have changed the model.
    for (version, next) in zip(versions, versions.dropFirst() + [stored]) {
      let objects = "objects of \(model) are stored as in schema version \(version)"
      guard stored <= options.schemaVersion else {
        throw StoreError(
          .tooNew,
          "\(objects), and steps of a later program convert them: update this program"
        )
      }
      guard options.upgrade?.changes(model, after: version, upTo: next) == true else {
        throw StoreError(
          .schemaMismatch,
          "\(objects), and this program has no step that leads from it to version \(next)"
        )
      }
    }
  }

  /// Returns the tables of a model; `nil` when the store has none for it.
  private static func readTables(
    _ schema: ModelSchema,
    _ metadata: Metadata,
    _ outdated: OutdatedLayouts,
    _ options: StoreOptions,
    version: UInt32,
    seed: UInt64,
    _ log: StoreLog?,
    in transaction: borrowing ReadTransaction
  ) throws -> ModelTables? {
    let layouts = try metadata.layouts(of: schema.name, in: transaction)
    let own = RecordLayout(schema, storage: layouts.storage)
    let advice = advice(version, options)
    for layout in layouts {
      try requireSameTypes(layout, own, model: schema.name, advice: advice)
    }
    let names = ModelTableNames(schema.name, own.storage)
    guard
      let records = try transaction.openDatabase(names.records, keys: .integers),
      let hot = try transaction.openDatabase(names.hot, keys: .integers),
      let keys = try transaction.openDatabase(names.keys, keys: .integers)
    else { return nil }
    let defaults = try metadata.defaults(of: schema.name, in: transaction)
    var conversions: [UInt16: RecordConversion] = [:]
    for group in outdated.versions {
      for number in group.layouts {
        guard layouts.indices.contains(Int(number) - 1) else {
          throw StoreError(.damaged, "layout \(number) of \(schema.name) is missing")
        }
        conversions[number] = options.upgrade?.conversion(
          of: layouts[Int(number) - 1],
          group,
          to: own,
          schema,
          version: version,
          defaults: defaults
        )
      }
    }
    return ModelTables(
      schema,
      records: records,
      hot: hot,
      keys: keys,
      indexes: try metadata.openIndexes(of: schema.name, names, in: transaction),
      buildingIndexes: try metadata.openBuildingIndexes(of: schema.name, names, in: transaction),
      columns: try metadata.openColumns(of: schema.name, in: transaction),
      layouts: layouts,
      defaults: defaults,
      outdated: outdated,
      conversions: conversions,
      hashSeed: seed,
      log: log
    )
  }

  private static let migratingAdvice = "open the store for writing, which migrates it"

  /// Throws if a program would read objects, without a conversion, that its steps are to convert.
  ///
  /// A program that opens the store for writing has migrated it by now.
  static func requireMigrated(_ stored: UInt32, _ options: StoreOptions) throws {
    guard options.needsSteps(after: stored) else { return }
    throw StoreError(
      .schemaMismatch,
      "the store has schema version \(stored), and steps lead to version \(options.schemaVersion): "
        + migratingAdvice
    )
  }

  /// Returns what to do if a model does not fit the store; `nil` if the versions do not tell.
  private static func advice(_ stored: UInt32, _ options: StoreOptions) -> String? {
    if stored > options.schemaVersion {
      return "a program with schema version \(stored) has migrated the store; update this program"
    }
    guard options.needsSteps(after: stored) else { return nil }
    return migratingAdvice
  }

  /// Throws if a stored layout and that of the program have different types for a field.
  ///
  /// `advice` says what to do about it, if that is known.
  static func requireSameTypes(
    _ stored: RecordLayout,
    _ own: RecordLayout,
    model: String,
    advice: String? = nil
  ) throws {
    for field in own.fields {
      guard let position = stored.position(ofID: field.id) else {
        guard !field.isPrimaryKey else {
          throw StoreError(
            .schemaMismatch,
            """
            the store has another primary key for \(model): \
            \(advice ?? "migrate the store")
            """
          )
        }
        continue
      }
      let other = stored.fields[position]
      guard other.type == field.type, other.isPrimaryKey == field.isPrimaryKey else {
        throw StoreError(
          .schemaMismatch,
          """
          the field \(field.name) of \(model) is \(field.type) here and \(other.type) in the store: \
          \(advice ?? "give the field another ID, or migrate the store")
          """
        )
      }
    }
  }
}
