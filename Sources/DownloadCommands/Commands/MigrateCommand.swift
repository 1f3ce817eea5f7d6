internal import ArgumentParser
internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// `dlstore migrate`: leads a store to another version of its schema, and back.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Migrates a store to another version of its schema, or undoes that.",
    discussion: """
      Without an option, a store of downloads is migrated as every command does that writes to it, \
      and its indexes are completed. Any other ObjectStore needs the steps of its program, or \
      --steps with a file of steps that rename and remove models and fields. The objects are \
      written to a new file, which replaces the old one when it is complete: a failure or a kill \
      leaves the store as it was. The old file stays in the folder for --rollback.

      EXAMPLES:
        dlstore migrate --status
        dlstore --store /var/lib/notes migrate --steps rename.json --dry-run
        dlstore --store /var/lib/notes migrate --rollback
      """
  )

  @OptionGroup var location: StoreLocation

  @Flag(help: "Print the version of the schema, the last migration, and indexes that are built.")
  var status = false

  @Flag(help: "Exit with 1 if the store needs steps, without changing anything.")
  var check = false

  @Flag(help: "Execute the steps on a snapshot, and list the objects that would fail.")
  var dryRun = false

  @Flag(help: "Restore the file before the last migration.")
  var rollback = false

  @Option(
    help: ArgumentHelp("The steps, in JSON.", valueName: "file"),
    completion: .file(extensions: ["json"])
  )
  var steps: String?

  @Flag(name: .customLong("no-copy"), help: "Do not keep the file before the migration.")
  var dropsPrevious = false

  @Flag(help: "Print a JSON object.")
  var json = false

  func validate() throws {
    guard [status, check, dryRun, rollback].count(where: \.self) <= 1 else {
      throw ValidationError("Use one of --status, --check, --dry-run and --rollback.")
    }
    guard !(status || rollback) || steps == nil else {
      throw ValidationError("--steps has no effect with --status and --rollback.")
    }
  }

  func run() async throws {
    let path = try location.existing()
    if status { return try printStatus(path) }
    if rollback { return try rollBack(path) }
    let migration = try migration(path)
    if check { return try printCheck(path, migration) }
    if dryRun { return try rehearse(path, migration) }
    try migrate(path, migration)
  }

  /// The models and options with which a store is opened.
  private struct Target {
    var models: [any Model.Type]
    var options: StoreOptions
  }

  private func migration(_ path: String) throws -> Target {
    let isOfDownloads = try location.openedWithoutModels().hasDownloads()
    guard let steps else {
      guard isOfDownloads else {
        throw CommandFailure(
          .usage,
          """
          \(path) is not a store of downloads: its program migrates it, or --steps with a file of \
          steps that rename and remove models and fields
          """
        )
      }
      return Target(models: RecordStore.models, options: RecordStore.options)
    }
    guard !isOfDownloads else {
      throw CommandFailure(.usage, "the steps of a store of downloads are built in: omit --steps")
    }
    let list = try MigrationStepsFile.read(Folder.absolutePath(steps))
    var options = StoreOptions(
      access: .readWrite,
      schemaVersion: list.last?.version ?? 0,
      migration: Migration(steps: list, keepsPrevious: !dropsPrevious)
    )
    options.indexBuilding = .atOpen
    return Target(models: [], options: options)
  }

  // MARK: Status

  private func printStatus(_ path: String) throws {
    let status = try Store.migrationStatus(at: path)
    let builds = try location.openedWithoutModels().indexBuilds()
    if json {
      return try printJSON([
        "version": .integer(Int64(status.version)),
        "previousVersion": status.previousVersion.map { .integer(Int64($0)) } ?? .null,
        "previousFile": status.previousFile.map { .string($0) } ?? .null,
        "previousFileBytes": .integer(status.previousFileSize),
        "interrupted": .bool(status.isInterrupted),
        "conversions": .array(
          status.conversions.map { conversion in
            [
              "model": .string(conversion.model),
              "versions": .array(conversion.versions.map { .integer(Int64($0)) }),
              "objects": .integer(Int64(conversion.objectCount)),
              "total": .integer(Int64(conversion.totalObjectCount)),
            ]
          }
        ),
        "indexBuilds": .array(
          builds.map { build in
            [
              "model": .string(build.model),
              "fields": .array(build.fields.map { .string($0) }),
              "objects": .integer(Int64(build.objectCount)),
              "total": .integer(Int64(build.totalObjectCount)),
            ]
          }
        ),
      ])
    }
    var lines = ["version  \(status.version)"]
    if let previous = status.previousVersion { lines.append("migrated from version \(previous)") }
    if let file = status.previousFile {
      let size = ByteAmount.text(status.previousFileSize)
      lines.append("rollback to \(TerminalText.safe(file)) (\(size))")
    }
    if status.isInterrupted {
      lines.append("a migration was interrupted: its program continues it, or starts again")
    }
    for conversion in status.conversions {
      lines.append(
        TerminalText.safe(
          "its program converts \(conversion.model): \(conversion.objectCount) of "
            + "\(conversion.totalObjectCount) objects"
        )
      )
    }
    for build in builds {
      let fields = build.fields.joined(separator: ", ")
      lines.append(
        TerminalText.safe(
          "building index \(build.model)(\(fields)): \(build.objectCount) of "
            + "\(build.totalObjectCount) objects"
        )
      )
    }
    try Output.current.line(lines.joined(separator: "\n"))
  }

  private func printCheck(_ path: String, _ target: Target) throws {
    let status = try Store.migrationStatus(at: path)
    let own = target.options.schemaVersion
    let pending = (target.options.migration?.steps ?? []).filter {
      $0.version > status.version && $0.version <= own
    }
    if json {
      try printJSON([
        "version": .integer(Int64(status.version)), "target": .integer(Int64(own)),
        "steps": .array(pending.map { .string($0.summary) }),
      ])
    } else {
      try Output.current.line("version \(status.version), target \(own)")
      for step in pending {
        try Output.current.line(TerminalText.safe("needs step \(step.version): \(step.summary)"))
      }
    }
    guard status.version <= own else {
      throw CommandFailure(
        .damaged,
        "the store has schema version \(status.version), which is later: update this program"
      )
    }
    if !pending.isEmpty { throw CommandFailure(.failed) }
  }

  // MARK: Migrating

  private func rehearse(_ path: String, _ target: Target) throws {
    let rehearsal = try Store.rehearseMigration(
      at: path,
      models: target.models,
      options: target.options
    )
    let seconds = rehearsal.duration / .seconds(1)
    if json {
      try printJSON([
        "from": .integer(Int64(rehearsal.from)), "to": .integer(Int64(rehearsal.to)),
        "steps": .array(rehearsal.steps.map { .string($0) }),
        "objects": .integer(Int64(rehearsal.objectCount)),
        "failed": .integer(Int64(rehearsal.failureCount)),
        "failures": .array(rehearsal.failures.map { .string("\($0)") }),
        "seconds": .double(seconds),
        "bytes": .integer(rehearsal.fileSize),
        "memoryBytes": rehearsal.peakMemory.map { .integer($0) } ?? .null,
      ])
    } else if rehearsal.steps.isEmpty {
      try Output.current.line("version \(rehearsal.from): no step is needed")
    } else {
      for failure in rehearsal.failures { Output.current.say(TerminalText.safe("\(failure)")) }
      let memory = rehearsal.peakMemory.map { ", \(ByteAmount.text($0)) of memory" } ?? ""
      try Output.current.line(
        """
        version \(rehearsal.from) to \(rehearsal.to): \(rehearsal.objectCount) objects, \
        \(rehearsal.failureCount) would fail; \(seconds.formatted(.number.precision(.fractionLength(1)))) s, \
        \(ByteAmount.text(rehearsal.fileSize))\(memory)
        """
      )
    }
    if rehearsal.failureCount > 0 { throw CommandFailure(.failed) }
  }

  private func migrate(_ path: String, _ target: Target) throws {
    let before = try Store.migrationStatus(at: path)
    let store: Store
    do {
      store = try Store(at: path, models: target.models, options: target.options)
    } catch let error as StoreError where error.code == .busy {
      try ClosedStore.refuseEngine(path)
      throw CommandFailure(.failed, error.message)
    }
    guard !store.isReadOnly else {
      throw CommandFailure(
        .damaged,
        "the store has schema version \(before.version), which is later: update this program"
      )
    }
    try store.finishConversions()
    try store.finishIndexBuilds()
    let after = try Store.migrationStatus(at: path)
    if json {
      return try printJSON([
        "from": .integer(Int64(before.version)), "to": .integer(Int64(after.version)),
        "previousFile": after.previousFile.map { .string($0) } ?? .null,
      ])
    }
    guard after.version != before.version else {
      return try Output.current.report("version \(after.version): nothing to migrate\n")
    }
    let kept = after.previousFile.map { "; the previous file is \(TerminalText.safe($0))" } ?? ""
    try Output.current.report(
      "migrated from version \(before.version) to \(after.version)\(kept)\n"
    )
  }

  private func rollBack(_ path: String) throws {
    let report: RollbackReport
    do {
      report = try ClosedStore.perform(path) { try Store.rollBackMigration(at: path) }
    } catch let error as StoreError
      where error.code == .notFound && (try? Store.migrationStatus(at: path)) != nil
    {
      // The previous file is missing, not the store: no advice to add a download.
      throw CommandFailure(.notFound, error.message)
    }
    if json {
      return try printJSON([
        "version": .integer(Int64(report.version)),
        "complete": .bool(report.isComplete),
        "migratedFile": .string(report.migratedFile),
        "lost": .array(
          report.lost.sorted { $0.key < $1.key }.map { model, changes in
            [
              "model": .string(model), "inserted": .integer(Int64(changes.inserted)),
              "updated": .integer(Int64(changes.updated)),
              "deleted": .integer(Int64(changes.deleted)),
            ]
          }
        ),
      ])
    }
    var text = "rolled back to version \(report.version)\n"
    for (model, changes) in report.lost.sorted(by: { $0.key < $1.key }) {
      text +=
        TerminalText.safe(
          "not in it: \(model): \(changes.inserted) inserted, \(changes.updated) updated, "
            + "\(changes.deleted) deleted since"
        ) + "\n"
    }
    if !report.isComplete {
      text += "the history does not tell everything that was written since\n"
    }
    text += "the migrated file is \(TerminalText.safe(report.migratedFile))\n"
    try Output.current.report(text)
  }

  private func printJSON(_ value: JSONValue) throws { try Output.current.line(value.prettyText) }
}
