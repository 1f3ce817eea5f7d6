package import LMDB
public import Logging
public import ObjectStoreCore

extension Migration: SchemaUpgrade {
  package func hasSteps(after stored: UInt32, upTo own: UInt32) -> Bool {
    !steps(after: stored, upTo: own).isEmpty
  }

  package func changes(_ model: String, after stored: UInt32, upTo own: UInt32) -> Bool {
    steps(after: stored, upTo: own).contains { step in
      step.operations.contains { $0.changedFields?.model == model }
    }
  }

  package func obstacle(
    toConvertingAfter stored: UInt32,
    upTo own: UInt32,
    _ models: [any Model.Type],
    _ metadata: Metadata,
    in transaction: borrowing some Transaction & ~Copyable
  ) throws -> String? {
    let steps = steps(after: stored, upTo: own)
    return try StepsWhenRead.obstacle(to: steps, models, metadata, in: transaction)
  }

  package func beginConverting(
    after stored: UInt32,
    upTo own: UInt32,
    _ models: [any Model.Type],
    _ metadata: Metadata,
    in transaction: inout WriteTransaction
  ) throws {
    let steps = steps(after: stored, upTo: own)
    try StepsWhenRead.begin(steps, after: stored, models, metadata, in: &transaction)
  }

  package func conversion(
    of layout: RecordLayout,
    _ outdated: OutdatedLayouts.Version,
    to own: RecordLayout,
    _ schema: ModelSchema,
    version: UInt32,
    defaults: StoredDefaults
  ) -> RecordConversion {
    RecordConverter(
      schema,
      own: own,
      layout: layout,
      version: outdated,
      steps: steps(after: outdated.version, upTo: version),
      defaults: defaults
    ).conversion
  }

  package func migrate(
    _ path: String,
    _ models: [any Model.Type],
    _ options: StoreOptions,
    _ log: StoreLog?
  ) throws {
    try StoreMigrator(path: path, models: models, options: options).run(log)
  }
}

extension StoreOptions {
  /// The steps that lead older stores to ``schemaVersion``; `nil` if they need none.
  ///
  /// Opening a store of an earlier version for writing applies them first, except for those that are
  /// applied when objects are read (``MigrationStep/Mode/whenRead``), which a program that only reads
  /// needs too. Ignored when options are compared.
  public var migration: Migration? {
    get { upgrade as? Migration }
    set { upgrade = newValue }
  }

  /// Creates options with a migration.
  ///
  /// The defaults create or open a store for reading and writing.
  public init(
    access: Access = .create,
    immutable: Bool = false,
    schemaVersion: UInt32 = 1,
    mapSize: Int? = nil,
    historyLimit: HistoryLimit = .standard,
    compaction: CompactionRule? = nil,
    checksPages: Bool = false,
    indexBuilding: IndexBuilding = .standard,
    migration: Migration?,
    logger: Logger? = nil
  ) {
    self.init(
      access: access,
      immutable: immutable,
      schemaVersion: schemaVersion,
      mapSize: mapSize,
      historyLimit: historyLimit,
      compaction: compaction,
      checksPages: checksPages,
      indexBuilding: indexBuilding,
      logger: logger
    )
    self.migration = migration
  }
}
