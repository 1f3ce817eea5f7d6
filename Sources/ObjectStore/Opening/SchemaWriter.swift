internal import LMDB

/// Brings what the store says of the program's models up to date, in one transaction.
struct SchemaWriter {
  let models: [any Model.Type]
  let options: StoreOptions
  let log: StoreLog?

  /// An index that the transaction has built, told of once it is committed.
  private struct BuiltIndex {
    let model: String
    let fields: [String]
    let duration: Duration
  }

  func run(in environment: Environment) throws {
    try countCommits(in: environment)
    var transaction = try environment.beginWrite()
    let metadata = Metadata(database: try transaction.makeDatabase(TableName.store))
    try HistoryTable.make(in: &transaction)
    let epoch = try metadata.integer(MetadataKey.epoch, as: UInt64.self, in: transaction) ?? 0
    if epoch == 0 {
      try metadata.set(MetadataKey.currentFormat, for: MetadataKey.format, in: &transaction)
      try metadata.set(
        UInt64.random(in: .min ... .max),
        for: MetadataKey.seed,
        in: &transaction
      )
    }
    let version =
      try metadata.integer(MetadataKey.schemaVersion, as: UInt32.self, in: transaction) ?? 0
    // Another program may have been quicker, and newer.
    guard version <= options.schemaVersion else { return }
    let isNewer = version < options.schemaVersion
    if isNewer {
      try metadata.set(options.schemaVersion, for: MetadataKey.schemaVersion, in: &transaction)
    }
    let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction) ?? 0
    var built: [BuiltIndex] = []
    for model in models {
      built += try prepare(model, metadata, seed: seed, dropsIndexes: isNewer, in: &transaction)
    }
    try metadata.set(epoch + 1, for: MetadataKey.epoch, in: &transaction)
    try transaction.commit()
    for index in built {
      log?.didBuildIndex(of: index.model, fields: index.fields, duration: index.duration)
    }
    log?.didChangeSchema(version: options.schemaVersion, epoch: epoch + 1)
  }

  /// Has the commits of a new store begin at a number in the hundreds.
  ///
  /// LMDB keeps the list of free pages in about as many entries as there were commits, so in a store of
  /// few commits they are long; then each commit reads and writes the whole list (decision 0015).
  /// The store is empty yet, and what follows is synced.
  private func countCommits(in environment: Environment) throws {
    while true {
      var transaction = try environment.beginWrite()
      guard try transaction.isEmpty(), transaction.id <= Self.firstCommit else { return }
      let database = try transaction.makeDatabase(TableName.store)
      try transaction.removeAll(in: database, andDatabase: true)
      try transaction.commit(.deferred)
    }
  }

  private static let firstCommit = 256

  private func prepare<M: Model>(
    _ model: M.Type,
    _ metadata: Metadata,
    seed: UInt64,
    dropsIndexes: Bool,
    in transaction: inout WriteTransaction
  ) throws -> [BuiltIndex] {
    let schema = model.schema
    let own = RecordLayout(schema)
    let records = try transaction.makeDatabase(TableName.records(schema.name), keys: .integers)
    let hot = try transaction.makeDatabase(TableName.hot(schema.name), keys: .integers)
    let keys = try transaction.makeDatabase(TableName.keys(schema.name), keys: .integers)

    var layouts = try metadata.layouts(of: schema.name, in: transaction)
    for layout in layouts {
      try StoreOpening.requireSameTypes(layout, own, model: schema.name)
    }
    if !layouts.contains(own) {
      guard layouts.count < Metadata.mostLayouts else {
        throw StoreError(.other, "the store has 65534 layouts of \(schema.name) already")
      }
      layouts.append(own)
      let key = MetadataKey.layout(schema.name, layouts.count)
      try metadata.set(own.encoded, for: key, in: &transaction)
    }
    var built: [BuiltIndex] = []
    let existing = try metadata.indexes(of: schema.name, in: transaction)
    for index in schema.indexes
    where !(dropsIndexes ? existing.contains(index) : index.isServed(by: existing)) {
      let start = ContinuousClock.now
      let database = try transaction.makeDatabase(TableName.index(schema.name, index.id))
      // One of the same fields that was not unique, say.
      try transaction.removeAll(in: database)
      let tables = ModelTables(
        schema,
        records: records,
        hot: hot,
        keys: keys,
        indexes: [(index, database)],
        layouts: layouts,
        hashSeed: seed
      )
      try IndexBuilder(tables: tables, index: tables.indexes[0]).run(in: &transaction)
      let key = MetadataKey.index(schema.name, index.id)
      try metadata.set(index.encoded, for: key, in: &transaction)
      let fields = index.parts.compactMap { part in
        own.position(ofID: part.fieldID).map { own.fields[$0].name }
      }
      let duration = start.duration(to: .now)
      built.append(BuiltIndex(model: schema.name, fields: fields, duration: duration))
    }
    try prepareReferences(schema, metadata, dropsRules: dropsIndexes, in: &transaction)
    // An older program may still want an index that this one does not know; only a newer schema
    // may drop it.
    guard dropsIndexes else { return built }
    for index in existing where !schema.indexes.contains(where: { $0.id == index.id }) {
      let key = Array(MetadataKey.index(schema.name, index.id).utf8)
      try transaction.delete(key.span, in: metadata.database)
      let database = try transaction.makeDatabase(TableName.index(schema.name, index.id))
      try transaction.removeAll(in: database)
    }
    return built
  }

  /// As with indexes, only a newer schema changes a rule that is there, or drops it.
  private func prepareReferences(
    _ schema: ModelSchema,
    _ metadata: Metadata,
    dropsRules: Bool,
    in transaction: inout WriteTransaction
  ) throws {
    let existing = try metadata.references(in: transaction).filter { $0.model == schema.name }
    for rule in schema.references
    where dropsRules || !existing.contains(where: { $0.fieldID == rule.fieldID }) {
      let key = MetadataKey.reference(schema.name, rule.fieldID)
      try metadata.set(rule.encoded, for: key, in: &transaction)
    }
    guard dropsRules else { return }
    for rule in existing where !schema.references.contains(where: { $0.fieldID == rule.fieldID }) {
      let key = Array(MetadataKey.reference(schema.name, rule.fieldID).utf8)
      try transaction.delete(key.span, in: metadata.database)
    }
  }
}
