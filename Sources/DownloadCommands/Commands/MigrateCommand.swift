internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// `dlstore migrate`: leads a store to another version of its schema, and back.
struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Migrates a store to another version of its schema, or undoes that.",
    discussion: """
      Without an option, the store is migrated as every command does that writes to it, and its \
      indexes are completed. If a version needs steps, the objects are written to a new file, which \
      replaces the old one when it is complete: a failure or a kill leaves the store as it was. The \
      old file stays in the folder for --rollback. 'objectstore migrate' does this for the stores \
      of other programs.

      EXAMPLES:
        dlstore migrate --status
        dlstore migrate --dry-run
        dlstore migrate --rollback
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

  @Flag(help: "Print a JSON object.")
  var json = false

  func validate() throws {
    guard [status, check, dryRun, rollback].count(where: \.self) <= 1 else {
      throw ValidationError("Use one of --status, --check, --dry-run and --rollback.")
    }
  }

  func run() async throws {
    let path = try location.existing()
    let report = MigrationReport(path, json: json, refuseUser: ClosedStore.refuseEngine)
    if status { return try report.printStatus() }
    if rollback { return try report.rollBack() }
    guard try location.openedWithoutModels().hasDownloads() else {
      throw CommandFailure(
        .usage,
        "\(path) is not a store of downloads: 'objectstore \(path) migrate' migrates it"
      )
    }
    let target = MigrationReport.Target(models: RecordStore.models, options: RecordStore.options)
    if check { return try report.printCheck(target) }
    if dryRun { return try report.rehearse(target) }
    try report.migrate(target)
  }
}
