internal import LMDB
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Opens a store: the folder, the environment, and what the store must know of the models.
struct StoreOpening {
  let environment: Environment
  let isReadOnly: Bool
  let schema: StoreSchema

  /// LMDB lets one transaction of a process open databases at a time.
  static let openingDatabases = Guarded(())

  let isInMemory: Bool
  let log: StoreLog?

  init(path: String, models: [any Model.Type], options: StoreOptions) throws {
    let start = ContinuousClock.now
    try StoreFolder.prepare(path, access: options.access)
    if let rule = options.compaction, options.access != .readOnly {
      Compaction(path: path, rule: rule, log: options.logger.map { StoreLog($0) }).runIfNeeded()
    }
    var environmentOptions = EnvironmentOptions(
      isReadOnly: options.access == .readOnly,
      checksPages: options.checksPages
    )
    if let mapSize = options.mapSize { environmentOptions.mapSize = mapSize }
    if options.access == .create {
      try translating("making a store in \(path)") {
        try NewDataFile.makeIfMissing(in: path) { folder in
          let environment = try Environment.open(folder, options: environmentOptions)
          let log = options.logger.map { StoreLog($0) }
          try Self.writeSchema(of: environment, models: models, options: options, log)
        }
      }
    }
    let environment = try translating("opening \(path)") {
      do {
        return try Environment.open(path, options: environmentOptions)
      } catch let error as LMDBError
        where error.code == .busy && Environment.isOpenForReadingAlone(path)
      {
        throw StoreError(
          .busy,
          """
          opening \(path): this process has the store open for reading alone; let go of that one \
          first, or open it for writing there too
          """,
          cause: error
        )
      }
    }
    try self.init(environment, models: models, options: options, isInMemory: false, since: start)
  }

  /// Makes a store that is gone with the environment.
  init(inMemory models: [any Model.Type], options: StoreOptions) throws {
    let start = ContinuousClock.now
    var environmentOptions = EnvironmentOptions()
    if let mapSize = options.mapSize { environmentOptions.mapSize = mapSize }
    let environment = try translating("making a store in memory") {
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
      "two models have one name"
    )
    let path = environment.path
    let log = options.logger.map { StoreLog($0) }
    self.log = log
    self.isInMemory = isInMemory
    self.environment = environment
    (isReadOnly, schema) = try translating("opening \(path)") {
      let state = try Self.examine(environment, models: models, options: options)
      if state.needsChange, options.access != .readOnly, !state.isTooNew {
        if state.isEmpty, !isInMemory { try StoreFolder.syncNames(ofStore: path) }
        try Self.writeSchema(of: environment, models: models, options: options, log)
      }
      let schema = try Self.readSchema(of: environment, models: models, log)
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

  private static func writeSchema(
    of environment: Environment,
    models: [any Model.Type],
    options: StoreOptions,
    _ log: StoreLog?
  ) throws {
    try openingDatabases.withLock { _ in
      let writer = SchemaWriter(models: models, options: options, log: log)
      for _ in 0..<16 {
        do {
          return try writer.run(in: environment)
        } catch let error as LMDBError where error.code == .mapFull {
          // A new index can be large; the next try has twice the room.
        }
      }
      try writer.run(in: environment)
    }
  }

  /// What a store lacks before the program can use it.
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
    try openingDatabases.withLock { _ in
      let transaction = try environment.beginRead()
      guard let database = try transaction.openDatabase(TableName.store) else {
        guard try transaction.isEmpty() else {
          throw StoreError(
            .damaged,
            "\(environment.path) holds other data of LMDB, or its description is gone"
          )
        }
        guard options.access == .create else {
          throw StoreError(.notFound, "\(environment.path) is empty: there is no store")
        }
        return State(needsChange: true, isEmpty: true)
      }
      let metadata = Metadata(database: database)
      let format = try metadata.integer(MetadataKey.format, as: UInt32.self, in: transaction)
      guard let format else {
        throw StoreError(.damaged, "\(environment.path): its description is not complete")
      }
      guard format <= MetadataKey.currentFormat else {
        let known = MetadataKey.currentFormat
        throw StoreError(
          .tooNew,
          "\(environment.path) has storage format \(format); this program knows up to \(known)"
        )
      }
      let version =
        try metadata.integer(MetadataKey.schemaVersion, as: UInt32.self, in: transaction) ?? 0
      var state = State(
        isTooNew: version > options.schemaVersion,
        needsChange: try version < options.schemaVersion
          || transaction.openDatabase(TableName.history, keys: .integers) == nil
      )
      for model in models where !state.needsChange {
        state.needsChange = try lacks(model.schema, metadata, in: transaction)
      }
      return state
    }
  }

  private static func lacks(
    _ schema: ModelSchema,
    _ metadata: Metadata,
    in transaction: borrowing ReadTransaction
  ) throws -> Bool {
    let layouts = try metadata.layouts(of: schema.name, in: transaction)
    guard layouts.contains(RecordLayout(schema)) else { return true }
    let indexes = try metadata.indexes(of: schema.name, in: transaction)
    guard schema.indexes.allSatisfy({ $0.isServed(by: indexes) }) else { return true }
    guard !schema.references.isEmpty else { return false }
    let rules = try metadata.references(in: transaction)
    return !schema.references.allSatisfy { rule in
      rules.contains { $0.model == rule.model && $0.fieldID == rule.fieldID }
    }
  }

  /// Reads what the store says of the models, and opens their databases.
  static func readSchema(
    of environment: Environment,
    models: [any Model.Type],
    _ log: StoreLog? = nil
  ) throws -> StoreSchema {
    try openingDatabases.withLock { _ in
      let transaction = try environment.beginRead()
      guard let database = try transaction.openDatabase(TableName.store) else {
        throw StoreError(.damaged, "\(environment.path): the table that describes it is gone")
      }
      let metadata = Metadata(database: database)
      guard
        let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction),
        let epoch: UInt64 = try metadata.integer(MetadataKey.epoch, in: transaction)
      else {
        throw StoreError(.damaged, "\(environment.path): its description is not complete")
      }
      let version: UInt32? = try metadata.integer(MetadataKey.schemaVersion, in: transaction)
      let entries = try models.map { model in
        StoreSchema.Entry(
          model: model,
          tables: try readTables(model.schema, metadata, seed: seed, log, in: transaction)
        )
      }
      let references = try ReferenceGraph(entries, metadata, in: transaction)
      let history = try transaction.openDatabase(TableName.history, keys: .integers)
      try transaction.keepDatabases()
      return StoreSchema(
        metadata: metadata,
        history: history.map { HistoryTable(database: $0) },
        epoch: epoch,
        seed: seed,
        version: version ?? 0,
        models: entries,
        references: references
      )
    }
  }

  /// `nil` when the store has never seen the model.
  private static func readTables(
    _ schema: ModelSchema,
    _ metadata: Metadata,
    seed: UInt64,
    _ log: StoreLog?,
    in transaction: borrowing ReadTransaction
  ) throws -> ModelTables? {
    let layouts = try metadata.layouts(of: schema.name, in: transaction)
    let own = RecordLayout(schema)
    for layout in layouts { try requireSameTypes(layout, own, model: schema.name) }
    guard
      let records = try transaction.openDatabase(TableName.records(schema.name), keys: .integers),
      let hot = try transaction.openDatabase(TableName.hot(schema.name), keys: .integers),
      let keys = try transaction.openDatabase(TableName.keys(schema.name), keys: .integers)
    else { return nil }
    var indexes: [(IndexDescription, Database)] = []
    for index in try metadata.indexes(of: schema.name, in: transaction) {
      let name = TableName.index(schema.name, index.id)
      guard let database = try transaction.openDatabase(name) else {
        throw StoreError(.damaged, "the index \(name) is gone")
      }
      indexes.append((index, database))
    }
    return ModelTables(
      schema,
      records: records,
      hot: hot,
      keys: keys,
      indexes: indexes,
      layouts: layouts,
      hashSeed: seed,
      log: log
    )
  }

  static func requireSameTypes(
    _ stored: RecordLayout,
    _ own: RecordLayout,
    model: String
  ) throws {
    for field in own.fields {
      guard let position = stored.position(ofID: field.id) else {
        guard !field.isPrimaryKey else {
          throw StoreError(
            .schemaMismatch,
            "the store keeps \(model) under another primary key"
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
          give it another id, or migrate
          """
        )
      }
    }
  }
}
