package import LMDB
package import SystemInterface

/// Opens a store: its folder, its environment and its schema.
package struct StoreOpening {
  let environment: Environment
  let isReadOnly: Bool
  let schema: StoreSchema

  /// Serializes transactions that open databases.
  ///
  /// LMDB permits only one at a time in a process (`mdb_dbi_open`).
  package static let databaseOpeningLock = Mutex(())

  let isInMemory: Bool
  let log: StoreLog?

  init(path: String, models: [any Model.Type], options: StoreOptions) throws {
    let start = ContinuousClock.now
    var options = options
    if options.immutable { options.access = .readOnly }
    try StoreFolder.prepare(path, access: options.access)
    if let rule = options.compaction, options.access != .readOnly {
      Compaction(path: path, rule: rule).runBeforeOpening(options.logger.map { StoreLog($0) })
    }
    var environmentOptions = EnvironmentOptions(
      isReadOnly: options.access == .readOnly,
      isImmutable: options.immutable,
      checksPages: options.checksPages
    )
    if let mapSize = options.mapSize { environmentOptions.mapSize = mapSize }
    if options.access == .create {
      _ = try translating("creating a store in \(path)") {
        try NewDataFile.createIfMissing(in: path) { folder in
          let environment = try Environment.open(folder, options: environmentOptions)
          let log = options.logger.map { StoreLog($0) }
          try Self.writeSchema(of: environment, models: models, options: options, log)
        }
      }
    }
    let environment = try Self.openMigrated(path, models, options, environmentOptions)
    try self.init(environment, models: models, options: options, isInMemory: false, since: start)
  }

  /// Opens an existing store, which is migrated first if its version needs a step.
  private static func openMigrated(
    _ path: String,
    _ models: [any Model.Type],
    _ options: StoreOptions,
    _ environmentOptions: EnvironmentOptions
  ) throws -> Environment {
    do {
      let environment = try open(path, environmentOptions)
      guard options.access != .readOnly, try needsStep(environment, models, options) else {
        return environment
      }
    }
    // Now the store is closed, which the migration requires.
    try translating("migrating \(path)") {
      try options.upgrade?.migrate(path, models, options, options.logger.map { StoreLog($0) })
    }
    return try open(path, environmentOptions)
  }

  private static func open(_ path: String, _ options: EnvironmentOptions) throws -> Environment {
    try translating("opening \(path)") {
      do {
        return try Environment.open(path, options: options)
      } catch let error as LMDBError
        where error.code == .busy && Environment.isOpenReadOnly(path)
      {
        throw StoreError(
          .busy,
          """
          opening \(path): this process already has the store open read-only; close it \
          first, or open it for writing there too
          """,
          cause: error
        )
      }
    }
  }

  /// Whether a store has a version that needs a step before it can be used.
  private static func needsStep(
    _ environment: Environment,
    _ models: [any Model.Type],
    _ options: StoreOptions
  ) throws -> Bool {
    guard let upgrade = options.upgrade else { return false }
    return try translating("opening \(environment.path)") {
      try databaseOpeningLock.withLock { _ in
        let transaction = try environment.beginRead()
        guard let database = try transaction.openDatabase(TableName.store) else { return false }
        let metadata = Metadata(database: database)
        // A store of version 0 has no entry for it.
        let version: UInt32 =
          try metadata.integer(MetadataKey.schemaVersion, in: transaction) ?? 0
        guard options.needsSteps(after: version) else { return false }
        let obstacle = try upgrade.obstacle(
          toConvertingAfter: version,
          upTo: options.schemaVersion,
          models,
          metadata,
          in: transaction
        )
        return obstacle != nil
      }
    }
  }

  /// Creates a store in memory, which is lost when the environment is closed.
  init(inMemory models: [any Model.Type], options: StoreOptions) throws {
    let start = ContinuousClock.now
    var environmentOptions = EnvironmentOptions()
    if let mapSize = options.mapSize { environmentOptions.mapSize = mapSize }
    let environment = try translating("creating a store in memory") {
      try Environment.openInMemory(options: environmentOptions)
    }
    try self.init(environment, models: models, options: options, isInMemory: true, since: start)
  }

  private init(
    _ environment: Environment,
    models: [any Model.Type],
    options: StoreOptions,
    isInMemory: Bool,
    since start: ContinuousClock.Instant
  ) throws {
    precondition(
      Set(models.map { $0.schema.name }).count == models.count,
      "two models have the same name"
    )
    let path = environment.path
    let log = options.logger.map { StoreLog($0) }
    self.log = log
    self.isInMemory = isInMemory
    self.environment = environment
    (isReadOnly, schema) = try translating("opening \(path)") {
      let state = try Self.examine(environment, models: models, options: options)
      if state.needsChange, options.access != .readOnly, !state.isTooNew {
        if state.isEmpty, !isInMemory { try StoreFolder.syncDirectoryEntries(ofStore: path) }
        try Self.writeSchema(of: environment, models: models, options: options, log)
      }
      let schema = try Self.readSchema(of: environment, models: models, options: options, log)
      try Self.requireMigrated(schema.version, options)
      let isTooNew = schema.version > options.schemaVersion
      if isTooNew, options.access != .readOnly {
        log?.didFindLaterVersion(path, stored: schema.version, own: options.schemaVersion)
      }
      return (options.access == .readOnly || isTooNew, schema)
    }
    log?.didOpen(
      environment,
      models: models.map { $0.schema.name },
      isReadOnly: isReadOnly,
      since: start
    )
  }

  /// Updates the stored schema to the models, and completes all conversions to other layouts.
  package static func writeSchema(
    of environment: Environment,
    models: [any Model.Type],
    options: StoreOptions,
    _ log: StoreLog?
  ) throws {
    try finishConversions(in: environment)
    try beginSchemaChange(of: environment, models: models, options: options, log)
    guard try finishConversions(in: environment) else { return }
    // The program may write hot fields in the new layout, which the converted records do not have.
    try beginSchemaChange(of: environment, models: models, options: options, log)
  }

  /// Updates the stored schema to the models, without converting objects to another layout.
  static func beginSchemaChange(
    of environment: Environment,
    models: [any Model.Type],
    options: StoreOptions,
    _ log: StoreLog? = nil
  ) throws {
    let writer = SchemaWriter(models: models, options: options, log: log)
    while try !growingMap({
      try databaseOpeningLock.withLock { _ in try writer.run(in: environment) }
    }) {
      // Another program has begun a conversion, which must not see a change of the schema.
      try finishConversions(in: environment)
    }
  }

  /// Completes all conversions, and returns whether there was one.
  @discardableResult
  private static func finishConversions(in environment: Environment) throws -> Bool {
    var hasConverted = false
    while try growingMap({ try LayoutConversion.step(in: environment) }) != .nothing {
      hasConverted = true
    }
    return hasConverted
  }

  /// Repeats a write that fills the map; each attempt starts with a map twice as large.
  package static func growingMap<R>(_ body: () throws -> R) throws -> R {
    for _ in 0..<16 {
      do {
        return try body()
      } catch let error as LMDBError where error.code == .mapFull {
        continue
      }
    }
    return try body()
  }

  /// The result of comparing a store with the program's models.
  private struct State {
    var isTooNew = false
    var needsChange = false
    /// Whether the store has never been written to.
    var isEmpty = false
  }

  private static func examine(
    _ environment: Environment,
    models: [any Model.Type],
    options: StoreOptions
  ) throws -> State {
    try databaseOpeningLock.withLock { _ in
      let transaction = try environment.beginRead()
      guard let database = try transaction.openDatabase(TableName.store) else {
        guard try transaction.isEmpty() else {
          throw StoreError(
            .damaged,
            "\(environment.path) is not a store of this library, or its table '\(TableName.store)' is missing"
          )
        }
        guard options.access == .create else {
          throw StoreError(
            .notFound,
            "\(environment.path) is empty: open it with access 'create' to create a store"
          )
        }
        return State(needsChange: true, isEmpty: true)
      }
      let metadata = Metadata(database: database)
      let format = try metadata.integer(MetadataKey.format, as: UInt32.self, in: transaction)
      guard let format else {
        throw StoreError(
          .damaged,
          "\(environment.path): the description of the store is incomplete"
        )
      }
      try requireKnownFormat(format, environment.path)
      let version =
        try metadata.integer(MetadataKey.schemaVersion, as: UInt32.self, in: transaction) ?? 0
      var state = State(
        isTooNew: version > options.schemaVersion,
        needsChange: try version < options.schemaVersion
          || transaction.openDatabase(TableName.history, keys: .integers) == nil
          || !metadata.conversions(in: transaction).isEmpty
      )
      for model in models where !state.needsChange {
        state.needsChange = try needsChange(model.schema, metadata, in: transaction)
      }
      return state
    }
  }

  /// Throws if a later version has changed the storage format.
  package static func requireKnownFormat(_ format: UInt32, _ path: String) throws {
    let known = MetadataKey.currentFormat
    guard format > known else { return }
    throw StoreError(
      .tooNew,
      """
      \(path) has storage format \(format), but this program supports formats up to \(known): \
      update this program
      """
    )
  }

  /// Throws if a later version has changed the storage format of a store, whose description may be
  /// damaged.
  static func requireKnownFormat(_ environment: Environment) throws {
    try databaseOpeningLock.withLock { _ in
      let transaction = try environment.beginRead()
      guard let database = try transaction.openDatabase(TableName.store) else { return }
      let metadata = Metadata(database: database)
      guard let format: UInt32 = try? metadata.integer(MetadataKey.format, in: transaction) else {
        return
      }
      try requireKnownFormat(format, environment.path)
    }
  }

  private static func needsChange(
    _ schema: ModelSchema,
    _ metadata: Metadata,
    in transaction: borrowing ReadTransaction
  ) throws -> Bool {
    let layouts = try metadata.layouts(of: schema.name, in: transaction)
    guard layouts.contains(RecordLayout(schema, storage: layouts.storage)) else { return true }
    let indexes =
      try metadata.indexes(of: schema.name, in: transaction)
      + metadata.indexBuilds(of: schema.name, in: transaction).map(\.index)
    let defaults = try metadata.defaults(of: schema.name, in: transaction)
    let update = defaults.updated(by: schema, layouts: layouts, storedLayouts: layouts.count)
    guard update.defaults == defaults else { return true }
    let outdated = try metadata.outdatedLayouts(of: schema.name, in: transaction)
    guard schema.indexes.allSatisfy({ $0.isCovered(by: indexes) || outdated.delays($0) }) else {
      return true
    }
    if !schema.columns.isEmpty, (layouts.storage ?? schema.layout) == .sequential {
      let columns = try metadata.columns(of: schema.name, in: transaction)
      let isComplete = schema.columns.allSatisfy { column in
        columns.contains(column) || outdated.delays(fieldWithID: column.fieldID)
      }
      guard isComplete else { return true }
    }
    guard !schema.references.isEmpty else { return false }
    let rules = try metadata.references(in: transaction)
    return !schema.references.allSatisfy { rule in
      rules.contains { $0.model == rule.model && $0.fieldID == rule.fieldID }
        || outdated.delays(fieldWithID: rule.fieldID)
    }
  }
}
