internal import LMDB
internal import ObjectStoreCore
internal import SystemInterface

/// Migrates the store in a folder to the schema version of a program.
struct StoreMigrator {
  let path: String
  let models: [any Model.Type]
  let options: StoreOptions

  /// The time for which another program that examines the store is waited for.
  private static let patience = Duration.seconds(2)

  /// Returns the steps that a store with a version needs.
  static func pendingSteps(_ stored: UInt32, _ options: StoreOptions) -> [MigrationStep] {
    options.migration?.steps(after: stored, upTo: options.schemaVersion) ?? []
  }

  /// Migrates the store if it needs a step.
  ///
  /// - Throws: ``StoreError`` with `busy` if a program has the store open, `migrationFailed`,
  ///   `diskFull`, or as a write. The store is then unchanged.
  func run(_ log: StoreLog?) throws {
    let start = ContinuousClock.now
    while true {
      do {
        return try Environment.withExclusiveAccess(to: path) { try runAlone(log, since: start) }
      } catch let error as LMDBError where error.code == .busy {
        // Opening waits while another program migrates the store.
        if let version = try? StoredSchema(Environment.open(path)).version,
          Self.pendingSteps(version, options).isEmpty
        {
          return
        }
        // A program that opens the store to examine its version soon closes it.
        guard start.duration(to: .now) < Self.patience else {
          throw StoreError(
            .busy,
            """
            \(path) must be migrated to schema version \(options.schemaVersion), and another \
            program has it open: end that program first
            """,
            cause: error
          )
        }
        usleep(.random(in: 5_000...20_000))
      }
    }
  }

  private func runAlone(_ log: StoreLog?, since start: ContinuousClock.Instant) throws {
    let files = MigrationFiles(path: path)
    let source = try Environment.openClaimed(path)
    let (version, identity, last) = try Store.readStored(source) { transaction, schema in
      (schema.version, [transaction.id, schema.seed], transaction.id)
    }
    // Another program may have migrated the store in between.
    let steps = Self.pendingSteps(version, options)
    guard !steps.isEmpty else { return }
    try check(steps, source)
    try files.requireSpace(for: source)
    let previous =
      options.migration?.keepsPrevious == true ? files.previousName(version: version) : ""
    do {
      let target = try files.openTarget(fingerprint: fingerprint(steps, identity), after: last)
      var run = MigrationRun(source, into: target, steps: steps, models: models, options: options)
      try run.run(fingerprint: fingerprint(steps, identity), previousFile: previous)
      log?.didMigrate(
        path,
        from: version,
        to: options.schemaVersion,
        objects: run.objectCount,
        since: start
      )
    } catch {
      // A kill leaves the new file, and the next program continues with it.
      if !(error is CancellationError) { NewFolder.remove(files.folder) }
      throw error
    }
    try files.replace(keeping: previous, didWrite: options.migration?.didWrite)
  }

  /// A digest of a store, the steps, the models and the file of the program.
  private func fingerprint(_ steps: [MigrationStep], _ identity: [UInt64]) -> UInt64 {
    var writer = ByteWriter()
    for number in identity { writer.write(number) }
    writer.write(options.schemaVersion)
    for step in steps {
      writer.write(step.version)
      writer.writeSized(step.summary)
      for operation in step.operations { writer.writeSized(operation.words) }
    }
    for model in models {
      writer.writeSized(model.schema.name)
      writer.write(RecordLayout(model.schema).encoded)
    }
    // A changed program may have other code in its steps.
    var status = stat()
    if let program = CommandLine.arguments.first, statFollowingLinks(program, &status) == 0 {
      writer.write(UInt64(truncatingIfNeeded: status.st_ino))
      writer.write(UInt64(truncatingIfNeeded: status.st_size))
      writer.write(UInt64(truncatingIfNeeded: status.modificationTime.tv_sec))
      writer.write(UInt64(truncatingIfNeeded: status.modificationTime.tv_nsec))
    }
    return XXHash64.hash(writer.bytes.span, seed: 0)
  }

  /// Executes the steps on a snapshot, lends the result to `examine`, and deletes it.
  func rehearse(
    failureLimit: Int,
    examine: (_ path: String) throws -> Void
  ) throws -> MigrationRehearsal {
    let source = try Environment.open(path, options: EnvironmentOptions(isReadOnly: true))
    let version = try StoredSchema(source).version
    let steps = Self.pendingSteps(version, options)
    let start = ContinuousClock.now
    var rehearsal = MigrationRehearsal(from: version, to: max(version, options.schemaVersion))
    guard !steps.isEmpty else {
      if version <= options.schemaVersion {
        var conversions = ConversionRehearsal(models, options, failureLimit: failureLimit)
        try conversions.run(source)
        rehearsal.add(conversions, duration: start.duration(to: .now))
      }
      return rehearsal
    }
    try check(steps, source)
    let files = MigrationFiles(path: path)
    try files.requireSpace(for: source)
    let folder = try NewDataFile.makeTemporaryFolder(in: path)
    defer { folder.remove() }
    var run = MigrationRun(
      source,
      into: try Environment.open(folder.path),
      steps: steps,
      models: models,
      options: options,
      failureLimit: failureLimit
    )
    try run.run(fingerprint: 0, previousFile: "")
    rehearsal.steps = steps.map(\.summary)
    rehearsal.objectCount = run.objectCount
    rehearsal.failures = run.failures
    rehearsal.failureCount = run.failureCount
    rehearsal.duration = start.duration(to: .now)
    rehearsal.fileSize = try FileSize.of(folder.file)
    rehearsal.peakMemory = run.peakMemory
    try examine(folder.path)
    return rehearsal
  }
}
