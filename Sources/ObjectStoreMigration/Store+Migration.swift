internal import LMDB
public import ObjectStoreCore
internal import SystemInterface

/// The result of a rehearsal of a migration.
public struct MigrationRehearsal: Sendable, Hashable {
  /// The schema version of the store.
  public let from: UInt32
  /// The schema version after the migration.
  public let to: UInt32
  /// The summaries of the steps that were applied; empty if none is needed.
  ///
  /// If the store already has the schema version of the program, those that convert objects when they
  /// are read; ``from`` and ``to`` are then equal.
  public internal(set) var steps: [String] = []
  /// The number of objects to which the steps were applied: all of the store, or those that are still
  /// to be converted when they are read.
  public internal(set) var objectCount = 0
  /// The first objects that cannot be migrated, in the order of the store.
  public internal(set) var failures: [MigrationFailure] = []
  /// The number of objects that cannot be migrated.
  public internal(set) var failureCount = 0
  /// The time that the migration took.
  public internal(set) var duration = Duration.zero
  /// The size of the new file, in bytes; 0 if the steps are applied when objects are read.
  public internal(set) var fileSize: Int64 = 0
  /// The greatest memory of the process during the migration, without mapped files, in bytes; `nil`
  /// if the system does not tell.
  public internal(set) var peakMemory: Int64?

  init(from: UInt32, to: UInt32) {
    self.from = from
    self.to = to
  }
}

/// The schema version of a store, and the migration that led to it.
public struct MigrationStatus: Sendable, Hashable {
  /// The schema version.
  public let version: UInt32
  /// The schema version before the last migration with steps; `nil` if there was none.
  public let previousVersion: UInt32?
  /// The file before that migration; `nil` if it does not exist.
  public let previousFile: String?
  /// The size of that file, in bytes.
  public let previousFileSize: Int64
  /// The models whose objects are converted when they are read; see ``Store/conversions()``.
  public let conversions: [ConversionProgress]
  /// Whether a migration was interrupted; the next program that has its steps continues it.
  public let isInterrupted: Bool
}

/// The result of undoing a migration.
public struct RollbackReport: Sendable, Hashable {
  /// The number of objects of a model that were changed since the migration.
  public struct Changes: Sendable, Hashable {
    /// The number of objects that were added and still exist.
    public var inserted = 0
    /// The number of objects that were changed.
    public var updated = 0
    /// The number of objects that were deleted.
    public var deleted = 0
  }

  /// The schema version of the store now.
  public let version: UInt32
  /// What was written since the migration, and is not in the store any more, by the names of the
  /// models.
  public let lost: [String: Changes]
  /// Whether ``lost`` is complete.
  ///
  /// The history tells what was written, and it is limited; see ``StoreOptions/historyLimit``.
  public let isComplete: Bool
  /// The file with everything that was written.
  public let migratedFile: String
}

extension Store {
  /// Executes the steps of a migration on a snapshot of a store, without changing it.
  ///
  /// Also those that are applied when objects are read. If their conversion has begun, applies them
  /// to the objects that are still to be converted, and stores nothing.
  ///
  /// Programs that have the store open can read and write meanwhile. Their commits do not reuse
  /// pages that are freed until the rehearsal ends, so the file may grow. Needs as much space on the
  /// disk as the migration. A migration of the same objects gives the same result.
  ///
  /// ```swift
  /// let rehearsal = try Store.rehearseMigration(at: folder, models: [Author.self], options: options)
  /// for failure in rehearsal.failures { print(failure) }
  /// ```
  ///
  /// - Parameters:
  ///   - path: The folder of the store.
  ///   - models: The models of the program after the migration.
  ///   - options: The schema version and the migration of the program.
  ///   - failureLimit: The maximum length of the list of failures. All failures are counted.
  /// - Returns: The objects that cannot be migrated, and what the migration costs.
  /// - Throws: ``StoreError`` with `notFound`, `damaged`, `diskFull`, or as a read.
  public static func rehearseMigration(
    at path: String,
    models: [any Model.Type],
    options: StoreOptions,
    failureLimit: Int = 100
  ) throws -> MigrationRehearsal {
    try rehearseMigration(
      at: path,
      models: models,
      options: options,
      failureLimit: failureLimit
    ) { _ in }
  }

  /// Executes the steps as ``rehearseMigration(at:models:options:failureLimit:)``, and lends the
  /// folder with the new file to `examine` before it is deleted.
  package static func rehearseMigration(
    at path: String,
    models: [any Model.Type],
    options: StoreOptions,
    failureLimit: Int,
    examine: (_ path: String) throws -> Void
  ) throws -> MigrationRehearsal {
    let migrator = StoreMigrator(
      path: path,
      models: ModelSchema.withTargets(models),
      options: options
    )
    return try translating("rehearsing the migration of \(path)") {
      try migrator.rehearse(failureLimit: failureLimit, examine: examine)
    }
  }

  /// Returns the schema version of a store and its last migration, without its models.
  ///
  /// - Throws: ``StoreError`` with `notFound` or `damaged`, or as a read.
  public static func migrationStatus(at path: String) throws -> MigrationStatus {
    try translating("reading \(path)") {
      let environment = try Environment.open(path, options: EnvironmentOptions(isReadOnly: true))
      return try readStored(environment) { transaction, schema in
        let record = try schema.metadata.migrationRecord(in: transaction)
        let file = record.flatMap { $0.previousFile.isEmpty ? nil : "\(path)/\($0.previousFile)" }
        let size = file.flatMap { try? FileSize.of($0) }
        return MigrationStatus(
          version: schema.version,
          previousVersion: record?.from,
          previousFile: size == nil ? nil : file,
          previousFileSize: size ?? 0,
          conversions: try schema.conversions(in: transaction),
          isInterrupted: exists(at: MigrationFiles(path: path).folder)
        )
      }
    }
  }

  /// Restores the file of a store before its last migration.
  ///
  /// What was written since is not in the store any more. The migrated file stays in the folder as
  /// `data.mdb.rolled-back`, or with a number after it if there is one from an earlier rollback. The
  /// numbers of commits continue after those of the migrated file. A program with the steps migrates the store again when it opens it, so run the previous version.
  ///
  /// ```swift
  /// let report = try Store.rollBackMigration(at: folder)
  /// print("version \(report.version), lost: \(report.lost)")
  /// ```
  ///
  /// - Parameter path: The folder of the store. No program may have it open.
  /// - Returns: The version of the restored store, and what was written since the migration.
  /// - Throws: ``StoreError`` with `notFound` if there is no previous file, `busy`, `damaged`, or
  ///   `permissionDenied`. The store is then unchanged.
  public static func rollBackMigration(at path: String) throws -> RollbackReport {
    try translating("rolling back \(path)") {
      try Environment.withExclusiveAccess(to: path) {
        let (record, lost, last) = try readStored(try Environment.openClaimed(path)) {
          transaction,
          schema in
          let record = try schema.metadata.migrationRecord(in: transaction)
          let lost = try record.flatMap { try changes(since: $0, schema, transaction) }
          return (record, lost, transaction.id)
        }
        guard let record else {
          throw StoreError(
            .notFound,
            "\(path) was not migrated by a step, or the migration was already rolled back"
          )
        }
        guard !record.previousFile.isEmpty,
          (try? FileSize.of("\(path)/\(record.previousFile)")) != nil
        else {
          throw StoreError(.notFound, "\(path) has no file from before its last migration")
        }
        let files = MigrationFiles(path: path)
        let migratedFile = try files.restore(record.previousFile, after: last)
        return RollbackReport(
          version: record.from,
          lost: lost ?? [:],
          isComplete: lost != nil,
          migratedFile: migratedFile
        )
      }
    }
  }

  /// Returns the changes since a migration by model; `nil` if the history does not have all of them.
  private static func changes(
    since record: MigrationRecord,
    _ schema: StoredSchema,
    _ transaction: borrowing ReadTransaction
  ) throws -> [String: RollbackReport.Changes]? {
    guard let history = schema.history,
      try history.floor(in: transaction).number == record.commit
    else { return nil }
    var all: [String: RollbackReport.Changes] = [:]
    for name in schema.models.map(\.tables.name) {
      var coalesced = CoalescedChanges()
      try history.forEach(after: record.commit, of: name, in: transaction) { _, entry in
        for model in entry.models { coalesced.add(model.changes) }
      }
      guard !coalesced.coversAllObjects else { return nil }
      var changes = RollbackReport.Changes()
      for change in coalesced.objects.values {
        switch change.kind {
        case .inserted: changes.inserted += 1
        case .updated, .replaced: changes.updated += 1
        case .deleted: changes.deleted += 1
        }
      }
      if changes != RollbackReport.Changes() { all[name] = changes }
    }
    return all
  }
}
