internal import CommandLineSupport

// The commands that do more than print, and the options with which they only print. The output of all
// other commands is their result.

extension ExportCommand: ReportingCommand {
  var printsResult: Bool { output == nil || output == "-" }
}

extension ImportCommand: ReportingCommand {
  var printsResult: Bool { rows.dryRun }
}

extension MigrateCommand: ReportingCommand {
  var printsResult: Bool { !rollback && (steps == nil || check || dryRun) }
}

extension BackupCommand: ReportingCommand {}
extension RepairCommand: ReportingCommand {}
extension CompactCommand: ReportingCommand {}
extension ManualCommand: ReportingCommand {}
