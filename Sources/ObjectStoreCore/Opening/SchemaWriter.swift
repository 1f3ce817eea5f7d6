internal import LMDB

/// Updates the stored schema to the program's models, in one transaction.
struct SchemaWriter {
  let models: [any Model.Type]
  let options: StoreOptions
  let log: StoreLog?

  /// An index that the transaction has built, logged after the commit.
  private struct BuiltIndex {
    let model: String
    let fields: [String]
    let duration: Duration
  }

  /// Updates the schema.
  ///
  /// Returns false, without a change, if a conversion to another layout is not complete.
  func run(in environment: Environment) throws -> Bool {
    try advanceTransactionNumber(in: environment)
    var transaction = try environment.beginWrite()
    if try transaction.isEmpty() { try requireNew(environment, transaction) }
    let metadata = Metadata(database: try transaction.createDatabase(TableName.store))
    guard try metadata.conversions(in: transaction).isEmpty else { return false }
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
    // Another process may have migrated the store to a later version since it was examined.
    guard version <= options.schemaVersion else { return true }
    let isNewer = version < options.schemaVersion
    if isNewer {
      if epoch > 0 { try beginSteps(after: version, metadata, in: &transaction) }
      try metadata.set(options.schemaVersion, for: MetadataKey.schemaVersion, in: &transaction)
    }
    let seed: UInt64 = try metadata.integer(MetadataKey.seed, in: transaction) ?? 0
    var built: [BuiltIndex] = []
    for model in models {
      built += try prepare(model, metadata, seed: seed, dropsIndexes: isNewer, in: &transaction)
    }
    let newEpoch = try metadata.advanceEpoch(in: &transaction)
    try transaction.commit()
    for index in built {
      log?.didBuildIndex(of: index.model, fields: index.fields, duration: index.duration)
    }
    log?.didChangeSchema(version: options.schemaVersion, epoch: newEpoch)
    return true
  }

  /// Begins the steps that are applied when objects are read.
  private func beginSteps(
    after version: UInt32,
    _ metadata: Metadata,
    in transaction: inout WriteTransaction
  ) throws {
    // The program could not read these objects, and the previous program not the later version.
    for name in models.map({ $0.schema.name }) {
      let outdated = try metadata.outdatedLayouts(of: name, in: transaction)
      try StoreOpening.requireSteps(for: outdated, of: name, upTo: version, options)
    }
    guard let upgrade = options.upgrade, options.needsSteps(after: version) else { return }
    let own = options.schemaVersion
    // Those at open have been applied, unless the store has changed since.
    if let reason = try upgrade.obstacle(
      toConvertingAfter: version,
      upTo: own,
      models,
      metadata,
      in: transaction
    ) {
      throw StoreError(
        .busy,
        "another program has changed the store while it was opened: open it again (\(reason))"
      )
    }
    try upgrade.beginConverting(after: version, upTo: own, models, metadata, in: &transaction)
  }

  /// Advances the transaction number of a new store to the hundreds.
  ///
  /// LMDB stores the list of free pages in roughly as many entries as there were commits. In a
  /// store with few commits the entries are long, and each commit rewrites the whole list (decision
  /// 0015). The store is still empty, and the next commit is durable, so these commits need no
  /// sync.
  private func advanceTransactionNumber(in environment: Environment) throws {
    while true {
      var transaction = try environment.beginWrite()
      guard try transaction.isEmpty() else { return }
      try requireNew(environment, transaction)
      guard transaction.id <= Self.firstCommit else { return }
      let database = try transaction.createDatabase(TableName.store)
      try transaction.removeAll(in: database, andDatabase: true)
      try transaction.commit(.deferred)
    }
  }

  private static let firstCommit = 256

  /// Fails unless an empty file is that of a new store.
  ///
  /// If the lock file has the number of an earlier commit, LMDB shows that commit as the last one,
  /// also to a write. A schema written there would replace all data.
  private func requireNew(
    _ environment: Environment,
    _ transaction: borrowing WriteTransaction
  ) throws {
    let last = try environment.lastTransactionIDInFile()
    // The file of a migration begins with the number of the store's last commit, and without pages.
    let statistics = try environment.statistics()
    let hasPages = statistics.usedSize > 2 * statistics.pageSize
    guard last == transaction.id &- 1, last <= Self.firstCommit || !hasPages else {
      throw StoreError(
        .damaged,
        """
        \(environment.path) has \(last) commits, but its last one appears to be empty; no schema \
        was written: end all programs that use the store, delete lock.mdb and open it again
        """
      )
    }
  }

  private func prepare<M: Model>(
    _ model: M.Type,
    _ metadata: Metadata,
    seed: UInt64,
    dropsIndexes: Bool,
    in transaction: inout WriteTransaction
  ) throws -> [BuiltIndex] {
    let schema = model.schema
    var layouts = try metadata.layouts(of: schema.name, in: transaction)
    if layouts.isEmpty { try metadata.requireNoOtherForm(of: schema.name, in: transaction) }
    let storedLayouts = layouts.count
    let own = RecordLayout(schema, storage: layouts.storage)
    let names = ModelTableNames(schema.name, own.storage)
    let records = try transaction.createDatabase(names.records, keys: .integers)
    let hot = try transaction.createDatabase(names.hot, keys: .integers)
    let keys = try transaction.createDatabase(names.keys, keys: .integers)

    for layout in layouts {
      try StoreOpening.requireSameTypes(layout, own, model: schema.name)
    }
    if !layouts.contains(own) {
      guard layouts.count < Metadata.maximumLayoutCount else {
        throw StoreError(
          .other,
          "cannot add a layout of \(schema.name): the store already has the maximum of 65534"
        )
      }
      layouts.append(own)
      let key = MetadataKey.layout(schema.name, layouts.count)
      try metadata.set(own.encoded, for: key, in: &transaction)
    }
    let stale = try prepareDefaults(
      schema,
      metadata,
      layouts: layouts,
      storedLayouts: storedLayouts,
      in: &transaction
    )
    var built: [BuiltIndex] = []
    let existing = try metadata.indexes(of: schema.name, in: transaction)
    let builds = try metadata.indexBuilds(of: schema.name, in: transaction)
    let objectCount = try transaction.count(of: records)
    let outdated = try metadata.outdatedLayouts(of: schema.name, in: transaction)
    for index in wantedIndexes(schema, dropped: stale.indexes, dropsOthers: dropsIndexes)
    where !(dropsIndexes ? existing.contains(index) : index.isCovered(by: existing))
      && !outdated.delays(index)
    {
      if let build = builds.first(where: { $0.index.id == index.id }) {
        if build.index == index { continue }
        try build.cancel(metadata, in: &transaction)
      }
      if !index.isUnique, existing.contains(where: { $0.id == index.id && $0.parts == index.parts })
      {
        // A unique index has the same entries.
        let key = MetadataKey.index(schema.name, index.id)
        try metadata.set(index.encoded, for: key, in: &transaction)
        continue
      }
      if options.indexBuilding.isDeferred(index, of: schema, objectCount: objectCount) {
        try IndexBuild(model: schema.name, index: index).begin(metadata, in: &transaction)
        continue
      }
      let start = ContinuousClock.now
      let database = try transaction.createDatabase(names.index(index.id))
      // A previous index over the same fields may exist, for example one that was not unique.
      try transaction.removeAll(in: database)
      let tables = ModelTables(
        schema,
        records: records,
        hot: hot,
        keys: keys,
        indexes: [(index, database)],
        layouts: layouts,
        defaults: stale.defaults,
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
    // Columns group objects by their ids, which are scattered if the model is stored by key.
    let others = dropsIndexes ? [] : stale.columns.filter { !schema.columns.contains($0) }
    for column in own.storage == .byKey ? [] : schema.columns + others
    where try !metadata.columns(of: schema.name, in: transaction).contains(column)
      && !outdated.delays(fieldWithID: column.fieldID)
    {
      let start = ContinuousClock.now
      let columns = [try metadata.addColumn(column, of: schema.name, in: &transaction)]
      let tables = ModelTables(
        schema,
        records: records,
        hot: hot,
        keys: keys,
        indexes: [],
        columns: columns,
        layouts: layouts,
        defaults: stale.defaults,
        hashSeed: seed
      )
      try ColumnBuilder(tables: tables, column: tables.columns[0]).run(in: &transaction)
      let name = own.position(ofID: column.fieldID).map { own.fields[$0].name }
      let duration = start.duration(to: .now)
      built.append(
        BuiltIndex(model: schema.name, fields: name.map { [$0] } ?? [], duration: duration)
      )
    }
    try prepareReferences(schema, metadata, outdated, dropsRules: dropsIndexes, in: &transaction)
    // Older programs may need an index that this one does not declare, so only a later schema
    // version may drop it.
    guard dropsIndexes else { return built }
    for build in builds where !schema.indexes.contains(build.index) {
      try build.cancel(metadata, in: &transaction)
    }
    for index in existing where !schema.indexes.contains(where: { $0.id == index.id }) {
      let key = Array(MetadataKey.index(schema.name, index.id).utf8)
      try transaction.delete(key.span, in: metadata.database)
      let database = try transaction.createDatabase(names.index(index.id))
      try transaction.removeAll(in: database)
    }
    for column in try metadata.columns(of: schema.name, in: transaction)
    where own.storage != schema.layout || !schema.columns.contains(column) {
      let key = Array(MetadataKey.index(schema.name, column.id).utf8)
      try transaction.delete(key.span, in: metadata.database)
      let name = TableName.column(schema.name, column.fieldID)
      try transaction.removeAll(in: transaction.createDatabase(name, keys: .integers))
    }
    if own.storage != schema.layout {
      // The conversion does not copy them. They begin again in the other layout.
      for build in try metadata.indexBuilds(of: schema.name, in: transaction) {
        try build.cancel(metadata, in: &transaction)
      }
      let conversion = LayoutConversion(model: schema.name, target: schema.layout)
      try conversion.begin(metadata, in: &transaction)
    }
    return built
  }

  /// Returns the indexes that the store is to have: those of the program, and those of other programs
  /// that were dropped to be built again.
  private func wantedIndexes(
    _ schema: ModelSchema,
    dropped: [IndexDescription],
    dropsOthers: Bool
  ) -> [IndexDescription] {
    guard !dropsOthers else { return schema.indexes }
    let own = schema.indexes.map { index in dropped.first { index.isCovered(by: [$0]) } ?? index }
    return own + dropped.filter { index in !own.contains { $0.id == index.id } }
  }

  /// Writes the reference rules of a model.
  ///
  /// As with indexes, only a later schema version changes or drops an existing rule.
  private func prepareReferences(
    _ schema: ModelSchema,
    _ metadata: Metadata,
    _ outdated: OutdatedLayouts,
    dropsRules: Bool,
    in transaction: inout WriteTransaction
  ) throws {
    let existing = try metadata.references(in: transaction).filter { $0.model == schema.name }
    for rule in schema.references
    where (dropsRules || !existing.contains(where: { $0.fieldID == rule.fieldID }))
      && !outdated.delays(fieldWithID: rule.fieldID)
    {
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
