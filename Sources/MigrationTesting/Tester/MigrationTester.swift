internal import Foundation
public import ObjectStore
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
    var options = options
    // A check converts the objects itself, at a known time.
    options.migration?.convertsInBackground = false
    self.options = options
  }

  /// Makes all checks that need only a fixture.
  ///
  /// - Parameter fixture: The store to migrate.
  /// - Throws: ``MigrationTestFailure``, or the error of a migration.
  public func check(_ fixture: MigrationFixture) throws {
    // To import or to generate the objects costs more than to copy their store.
    try withFixture(fixture) { path, _ in
      let store = MigrationFixture.store(at: path)
      try checkResult(store)
      try checkRehearsal(store)
      try checkRollback(store)
      try checkKills(store)
    }
  }

  // MARK: Checks

  /// Checks that a store can be migrated, that every object of the program's models can be read, and
  /// that the store is valid.
  ///
  /// Objects that steps convert when they are read are also read after all are converted.
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
      for model in models { try readAll(model, in: store) }
      if try !store.conversions().isEmpty {
        try store.finishConversions()
        for model in models { try readAll(model, in: store) }
      }
      try store.finishIndexBuilds()
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
      var hasResult = false
      let rehearsal = try Store.rehearseMigration(
        at: path,
        models: models,
        options: options,
        failureLimit: 1
      ) {
        try Store.copy($0, to: result)
        hasResult = true
      }
      guard try data(path) == before else {
        throw MigrationTestFailure("the rehearsal has changed the store")
      }
      if let failure = rehearsal.failures.first { throw MigrationTestFailure("\(failure)") }
      if let memory = rehearsal.peakMemory, let memoryLimit, memory > memoryLimit {
        throw MigrationTestFailure(
          "the migration needs \(memory >> 20) MiB of memory, more than \(memoryLimit >> 20)"
        )
      }
      let isConverted = try complete(path, options)
      guard hasResult else { return }
      if isConverted { try rewrite([result, path]) }
      try compare(result, path, "the rehearsal")
    }
  }

  /// Checks that a rollback restores the file, and that the store can be migrated again.
  ///
  /// Each byte of the file must be the same, except for the number of the last commit, which continues
  /// after those of the migrated file.
  ///
  /// Checks nothing if the steps are applied when objects are read: then there is no rollback.
  ///
  /// - Parameter fixture: The store to migrate.
  /// - Throws: ``MigrationTestFailure``, or the error of the migration.
  public func checkRollback(_ fixture: MigrationFixture) throws {
    try withFixture(fixture) { path, folder in
      guard try needsStep(path) else { return }
      let before = try data(path)
      _ = try open(path)
      // Steps that are applied when objects are read keep no previous file.
      guard try Store.migrationStatus(at: path).previousFile != nil else { return }
      let migrated = folder + "/migrated"
      try Store.copy(path, to: migrated)
      let report = try Store.rollBackMigration(at: path)
      guard try data(path).isRestored(before) else {
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
  /// migrated in about 20 transactions. With steps that are applied when objects are read, the kills
  /// are between those that store their new form.
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
      let isConverted = try complete(path, options)
      options.migration?.didWrite = nil
      if isConverted { try rewrite([path]) }
      let expected = try StoreContents(ofStoreAt: path)
      for copy in try copies.withLock({ try $0.get() }) {
        guard try isConverted || data(copy) == before else {
          throw MigrationTestFailure("the migration changes the store before it is complete")
        }
        try complete(copy, options)
        if isConverted { try rewrite([copy]) }
        try compare(copy, expected, "the migration after a kill")
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
      let isConverted = try [byRelease, path].map { try complete($0, options) }
      if isConverted.contains(true) { try rewrite([byRelease, path]) }
      try compare(byRelease, path, "the migration by releases")
    }
  }

  /// Checks that programs of a release can use the store beside this one.
  ///
  /// If the release has the same schema version, the check adds and replaces random objects as that
  /// release writes them, while the store is open. This program must read all objects, and each of them must have a
  /// value of the right type for every field that the release requires. If the version is lower,
  /// programs of the release must find the store read-only.
  ///
  /// - Parameters:
  ///   - fixture: The store to migrate.
  ///   - folder: The folder with the schemas of the releases.
  ///   - release: The number of the release, from 1.
  ///   - count: The number of objects of each model that the release adds.
  ///   - values: As for ``MigrationFixture/generated(from:release:count:seed:values:)``.
  /// - Throws: ``MigrationTestFailure``, or the error of a read or write.
  public func checkOlderProgram(
    _ fixture: MigrationFixture,
    from folder: SchemaFolder,
    release: Int,
    count: Int = 100,
    values: [String: [StoredValue]] = [:]
  ) throws {
    let schema = try MigrationFixture.schema(folder, release)
    try withFixture(fixture) { path, temporary in
      let store = try open(path)
      try store.finishConversions()
      guard schema.version == options.schemaVersion else {
        let older = try Store(
          at: path,
          models: [],
          options: StoreOptions(access: .readWrite, schemaVersion: schema.version)
        )
        guard older.isReadOnly else {
          throw MigrationTestFailure("programs of release \(release) can write the store")
        }
        return
      }
      let file = temporary + "/older.jsonl"
      let objects = GeneratedObjects(count: count, seed: .random(in: .min ... .max), values: values)
      try objects.write(schema, to: file)
      try MigrationFixture.importFile(file, into: path)
      for model in models { try readAll(model, in: store) }
      if let problem = try store.verify().problems.first {
        throw MigrationTestFailure("the store of both programs is damaged: \(problem)")
      }
      try StoreContents.requireReadable(store, by: schema, release)
    }
  }

  // MARK: Steps of the checks

  private func open(_ path: String) throws -> Store {
    try Store(at: path, models: models, options: options)
  }

  /// Migrates a store; returns whether steps were to be applied when objects are read.
  @discardableResult
  private func complete(_ path: String, _ options: StoreOptions) throws -> Bool {
    let store = try Store(at: path, models: models, options: options)
    guard try !store.conversions().isEmpty else { return false }
    try store.finishConversions()
    return true
  }

  /// Stores all objects of stores as the program writes them.
  ///
  /// A conversion stores the default values of fields that an object does not have, and a migration at
  /// open does not.
  private func rewrite(_ paths: [String]) throws {
    for path in paths {
      let store = try open(path)
      for model in models { try rewriteAll(model, in: store) }
    }
  }

  private func rewriteAll<M: Model>(_ model: M.Type, in store: Store) throws {
    try store.write { tx in _ = try tx.update(M.all) { _ in } }
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

  private func data(_ path: String) throws -> DataFileDigest {
    try DataFileDigest(ofStoreAt: path)
  }

  private func compare(_ path: String, _ expected: String, _ what: String) throws {
    try compare(path, try StoreContents(ofStoreAt: expected), what)
  }

  private func compare(_ path: String, _ expected: StoreContents, _ what: String) throws {
    if let difference = try StoreContents(ofStoreAt: path).difference(from: expected) {
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
