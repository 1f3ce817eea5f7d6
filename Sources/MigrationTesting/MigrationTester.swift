internal import Foundation
public import ObjectStore
public import ObjectStoreMigration
internal import Synchronization

/// Tests the migrations of a program.
///
/// Each check makes its stores in a temporary folder, and throws a ``MigrationTestFailure`` that says
/// what is wrong. It works with any test library:
///
/// ```swift
/// let tester = MigrationTester(models: [Note.self], options: Note.storeOptions)
///
/// @Test(arguments: [0, 1, 10_000]) func migrates(count: Int) throws {
///   try tester.check(.generated(from: SchemaFolder("Migrations"), release: 1, count: count))
/// }
/// ```
public struct MigrationTester: Sendable {
  private let models: [any Model.Type]
  private let options: StoreOptions

  /// Creates a tester.
  ///
  /// - Parameters:
  ///   - models: The models of the program.
  ///   - options: The options with which the program opens its store: the schema version and the
  ///     migration.
  public init(models: [any Model.Type], options: StoreOptions) {
    self.models = models
    self.options = options
  }

  /// Makes all checks that need only a fixture.
  ///
  /// - Parameter fixture: The store to migrate.
  /// - Throws: ``MigrationTestFailure``, or the error of a migration.
  public func check(_ fixture: MigrationFixture) throws {
    try checkResult(fixture)
    try checkRehearsal(fixture)
    try checkRollback(fixture)
    try checkKills(fixture)
  }

  // MARK: Checks

  /// Checks that a store can be migrated, that every object of the program's models can be read, and
  /// that the store is valid.
  ///
  /// - Parameters:
  ///   - fixture: The store to migrate.
  ///   - examine: Further checks of the migrated store.
  /// - Throws: ``MigrationTestFailure``, or the error of the migration or of `examine`.
  public func checkResult(
    _ fixture: MigrationFixture,
    _ examine: (Store) throws -> Void = { _ in }
  ) throws {
    try withFixture(fixture) { path, _ in
      let store = try open(path)
      guard !store.isReadOnly else {
        throw MigrationTestFailure("the store has a later schema version than the program")
      }
      try store.finishIndexBuilds()
      for model in models { try readAll(model, in: store) }
      if let problem = try store.verify().problems.first {
        throw MigrationTestFailure("the migrated store is damaged: \(problem)")
      }
      try examine(store)
    }
  }

  /// Checks that a rehearsal finds no failure, changes nothing, and has the result of the migration.
  ///
  /// - Parameters:
  ///   - fixture: The store to migrate.
  ///   - memoryLimit: The memory that the migration may need, without mapped files, in bytes; `nil`
  ///     for no limit. Not checked where the system does not tell it.
  /// - Throws: ``MigrationTestFailure``, or the error of the migration.
  public func checkRehearsal(_ fixture: MigrationFixture, memoryLimit: Int64? = nil) throws {
    try withFixture(fixture) { path, folder in
      let before = try data(path)
      let result = folder + "/rehearsed"
      let rehearsal = try Store.rehearseMigration(
        at: path,
        models: models,
        options: options,
        failureLimit: 1
      ) { try Store.copy($0, to: result) }
      guard try data(path) == before else {
        throw MigrationTestFailure("the rehearsal has changed the store")
      }
      if let failure = rehearsal.failures.first { throw MigrationTestFailure("\(failure)") }
      if let memory = rehearsal.peakMemory, let memoryLimit, memory > memoryLimit {
        throw MigrationTestFailure(
          "the migration needs \(memory >> 20) MiB of memory, more than \(memoryLimit >> 20)"
        )
      }
      _ = try open(path)
      guard !rehearsal.steps.isEmpty else { return }
      try compare(result, path, "the rehearsal")
    }
  }

  /// Checks that a rollback restores the file to the byte, and that the store can be migrated again.
  ///
  /// - Parameter fixture: The store to migrate.
  /// - Throws: ``MigrationTestFailure``, or the error of the migration.
  public func checkRollback(_ fixture: MigrationFixture) throws {
    try withFixture(fixture) { path, folder in
      guard try needsStep(path) else { return }
      let before = try data(path)
      _ = try open(path)
      let migrated = folder + "/migrated"
      try Store.copy(path, to: migrated)
      let report = try Store.rollBackMigration(at: path)
      guard try data(path) == before else {
        throw MigrationTestFailure("the rollback has not restored the store")
      }
      guard report.lost.isEmpty else {
        throw MigrationTestFailure("the rollback reports changes of \(report.lost.keys.sorted())")
      }
      _ = try open(path)
      try compare(path, migrated, "the migration after a rollback")
    }
  }

  /// Checks that a kill after any write of the migration leaves the old store, and that the next
  /// program completes the migration.
  ///
  /// The files of the store are copied after each commit, as a kill would leave them. The objects are
  /// migrated in about 20 transactions.
  ///
  /// - Parameter fixture: The store to migrate.
  /// - Throws: ``MigrationTestFailure``, or the error of the migration.
  public func checkKills(_ fixture: MigrationFixture) throws {
    try withFixture(fixture) { path, folder in
      guard try needsStep(path) else { return }
      let before = try data(path)
      let copies = Mutex<Result<[String], any Error>>(.success([]))
      var options = options
      let count = try Store(at: path, models: [], options: StoreOptions(access: .readOnly))
        .storedModels().reduce(0) { $0 + $1.objectCount }
      options.migration?.batchCount = max(count / 20, 1)
      options.migration?.didWrite = {
        copies.withLock { copies in
          copies = Result {
            let known = try copies.get()
            let copy = "\(folder)/kill-\(known.count)"
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            return known + [copy]
          }
        }
      }
      _ = try Store(at: path, models: models, options: options)
      options.migration?.didWrite = nil
      for copy in try copies.withLock({ try $0.get() }) {
        guard try data(copy) == before else {
          throw MigrationTestFailure("the migration changes the store before it is complete")
        }
        _ = try Store(at: copy, models: models, options: options)
        try compare(copy, path, "the migration after a kill")
        try FileManager.default.removeItem(atPath: copy)
      }
    }
  }

  /// Checks that migrating release by release has the same result as migrating at once.
  ///
  /// - Parameters:
  ///   - fixture: The store to migrate.
  ///   - releases: The folder with a release of each schema version between that of the fixture and
  ///     that of the program.
  /// - Throws: ``MigrationTestFailure``, or the error of a migration.
  public func checkPaths(_ fixture: MigrationFixture, releases: SchemaFolder) throws {
    try withFixture(fixture) { path, folder in
      let version = try Store.migrationStatus(at: path).version
      let byRelease = folder + "/by-release"
      try Store.copy(path, to: byRelease)
      let all = try releases.releases().map(\.schema)
      for step in options.migration?.steps ?? []
      where step.version > version && step.version < options.schemaVersion {
        guard let schema = all.last(where: { $0.version == step.version }) else {
          throw MigrationTestFailure("\(releases.path) has no release of version \(step.version)")
        }
        var own = options
        own.schemaVersion = step.version
        own.migration?.resultHeader = schema.exportHeader.bytes
        _ = try Store(at: byRelease, models: [], options: own)
      }
      _ = try open(byRelease)
      _ = try open(path)
      try compare(byRelease, path, "the migration by releases")
    }
  }

  // MARK: Steps of the checks

  private func open(_ path: String) throws -> Store {
    try Store(at: path, models: models, options: options)
  }

  private func needsStep(_ path: String) throws -> Bool {
    let version = try Store.migrationStatus(at: path).version
    return options.migration?.steps.contains {
      $0.version > version && $0.version <= options.schemaVersion
    } ?? false
  }

  private func readAll<M: Model>(_ model: M.Type, in store: Store) throws {
    do {
      try store.read { tx in try tx.forEach(M.all) { _ in true } }
    } catch {
      throw MigrationTestFailure("an object of \(M.schema.name) cannot be read: \(error)")
    }
  }

  /// Returns a digest of the store's file.
  private func data(_ path: String) throws -> Int {
    guard let file = FileHandle(forReadingAtPath: path + "/data.mdb") else {
      throw MigrationTestFailure("\(path) has no file")
    }
    var hasher = Hasher()
    while let bytes = try file.read(upToCount: 1 << 20), !bytes.isEmpty { hasher.combine(bytes) }
    return hasher.finalize()
  }

  private func compare(_ path: String, _ expected: String, _ what: String) throws {
    let difference = try StoreContents(ofStoreAt: path)
      .difference(from: StoreContents(ofStoreAt: expected))
    if let difference {
      throw MigrationTestFailure("\(what) has another result: \(difference)")
    }
  }

  /// Lends `body` the store of a fixture and a temporary folder for others.
  private func withFixture(
    _ fixture: MigrationFixture,
    _ body: (_ path: String, _ folder: String) throws -> Void
  ) throws {
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "migration-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/store"
    try fixture.make(at: path)
    try body(path, folder)
  }
}
