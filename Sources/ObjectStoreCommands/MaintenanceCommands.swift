internal import ArgumentParser
internal import CommandLineSupport
internal import Foundation
internal import ObjectStore

/// `objectstore verify`: checks a store.
struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Checks every page, checksum, index, reference and the history of a store.",
    discussion: """
      Works while other processes use the store. The exit code is 65 if there are problems.

      EXAMPLES:
        objectstore notes verify
        objectstore notes verify --json
      """
  )

  @OptionGroup var store: StoreArgument
  @OptionGroup var reading: ImmutableOption

  @Flag(help: "Print one JSON object.")
  var json = false

  func run() async throws {
    let path = try store.existing()
    let status = StatusLine()
    defer { status.clear() }
    let report = try StoreCheckReport.verify(at: path, immutable: reading.immutable, status)
    status.clear()
    try StoreCheckReport(path: path, report).print(repair: nil, json: json)
    if !report.isValid { throw CommandFailure(.damaged) }
  }
}

/// `objectstore repair`: repairs a store, or saves what is readable into another one.
struct RepairCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repair",
    abstract: "Repairs a store, or saves what is readable into a new one.",
    discussion: """
      Verifies the store first. Damaged indexes are rebuilt, also while other processes use the \
      store. Otherwise every readable object is copied into a new file, for which no other process \
      may have the store open; the damaged file stays beside it as data.mdb.damaged. --into leaves \
      the store as it is, and copies the readable objects into a new folder. The exit code is 65 if \
      problems remain, or if no object could be saved.

      EXAMPLES:
        objectstore notes repair
        objectstore notes repair --into notes-saved
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(
    help: ArgumentHelp("Save what is readable into this new folder.", valueName: "dest"),
    completion: .directory
  )
  var into: String?

  @Flag(help: "Print one JSON object.")
  var json = false

  func validate() throws {
    guard into?.isEmpty != true else { throw ValidationError("--into requires a folder.") }
  }

  func run() async throws {
    let path = try store.existing()
    let status = StatusLine()
    defer { status.clear() }
    var repair = StoreFileRepair(path: path)
    var checked = path
    if let into {
      checked = Folder.absolutePath(into)
      try repair.save(into: checked, status)
    } else {
      let found = try StoreCheckReport.verify(at: path, immutable: false, status)
      try repair.run(RepairPlan(for: found.problemCounts.keys), status)
    }
    let report = try StoreCheckReport.verify(at: checked, immutable: false, status)
    status.clear()
    try StoreCheckReport(path: checked, report).print(repair: repair, json: json)
    if !report.isValid || repair.hasLostAll { throw CommandFailure(.damaged) }
  }
}

/// `objectstore compact`: returns the free pages of a store to the file system.
struct CompactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Returns the free pages of a store's file to the file system.",
    discussion: """
      Replaces the file atomically by a compact copy, for which the disk needs free space. No other \
      process may have the store open. 'objectstore FOLDER stats' shows the size of the free pages.

      EXAMPLES:
        objectstore notes compact
      """
  )

  @OptionGroup var store: StoreArgument

  func run() async throws {
    try StoreCopy.compact(try store.existing(), command: "'objectstore compact'")
  }
}

/// `objectstore migrate`: shows the version of a store, executes steps without code, and undoes a
/// migration.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Shows the schema version of a store, migrates it, or undoes that.",
    discussion: """
      Without an option, prints the version of the schema, the last migration, and conversions and \
      indexes that are not complete. The steps of a migration are code of the store's program, which \
      executes them when it opens the store; --steps reads a file of steps that rename and remove \
      models and fields. The objects are written to a new file, which replaces the old one when it \
      is complete: a failure or a kill leaves the store as it was. The old file stays in the folder \
      for --rollback.

      EXAMPLES:
        objectstore notes migrate
        objectstore notes migrate --steps rename.json --dry-run
        objectstore notes migrate --rollback
      """
  )

  @OptionGroup var store: StoreArgument

  @Option(
    help: ArgumentHelp("The steps, in JSON.", valueName: "file"),
    completion: .file(extensions: ["json"])
  )
  var steps: String?

  @Flag(help: "With --steps: exit with 1 if the store needs them, without changing anything.")
  var check = false

  @Flag(help: "With --steps: execute them on a snapshot, and list the objects that would fail.")
  var dryRun = false

  @Flag(name: .customLong("no-copy"), help: "With --steps: do not keep the previous file.")
  var dropsPrevious = false

  @Flag(help: "Restore the file before the last migration.")
  var rollback = false

  @Flag(help: "Print a JSON object.")
  var json = false

  func validate() throws {
    guard [check, dryRun, rollback].count(where: \.self) <= 1 else {
      throw ValidationError("Use one of --check, --dry-run and --rollback.")
    }
    guard steps != nil || !(check || dryRun || dropsPrevious) else {
      throw ValidationError("--check, --dry-run and --no-copy require --steps FILE.")
    }
    guard !rollback || steps == nil else {
      throw ValidationError("--steps has no effect with --rollback.")
    }
  }

  func run() async throws {
    let report = MigrationReport(try store.existing(), json: json)
    if rollback { return try report.rollBack() }
    guard let steps else { return try report.printStatus() }
    let list = try MigrationStepsFile.read(Folder.absolutePath(steps))
    var options = StoreOptions(
      access: .readWrite,
      schemaVersion: list.last?.version ?? 0,
      migration: Migration(steps: list, keepsPrevious: !dropsPrevious)
    )
    options.migration?.isFromFile = true
    options.indexBuilding = .atOpen
    let target = MigrationReport.Target(models: [], options: options)
    if check { return try report.printCheck(target) }
    if dryRun { return try report.rehearse(target) }
    try report.migrate(target)
  }
}

/// `objectstore generate-manual`: writes the manual pages; hidden, for `make man`.
struct ManualCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate-manual",
    abstract: "Writes the manual pages into a folder.",
    shouldDisplay: false
  )

  @Argument(help: "The folder.", completion: .directory)
  var folder: String

  func run() async throws {
    try ManualPage.write(Self.pages(date: ManualPage.date), into: Folder.absolutePath(folder))
  }

  /// The pages of the tool.
  static func pages(date: Date) -> [ManualPage] {
    ManualPage.all(
      of: ObjectStoreCommand.self,
      version: Version.number,
      date: date
    )
  }
}
