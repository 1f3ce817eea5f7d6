internal import CommandLineSupport

// The commands that do more than print, and the options with which they only print. The output of all
// other commands is their result.

extension AddCommand: ReportingCommand {
  var printsResult: Bool { preview.dryRun && !messages.quiet }
}

extension GetCommand: ReportingCommand {
  var printsResult: Bool { what.writesOutput || preview.dryRun && !display.quiet }
}

extension RefreshCommand: ReportingCommand {
  var printsResult: Bool { dryRun }
}

/// Only `cancel`, `restart` and `remove` have a preview.
extension SelectionCommand {
  var printsResult: Bool { confirmation?.dryRun == true }
}

extension PurgeCommand: ReportingCommand {
  var printsResult: Bool { confirmation.dryRun }
}

extension LimitCommand: ReportingCommand {
  var printsResult: Bool { rate == nil }
}

extension VerifyCommand: ReportingCommand {
  var printsResult: Bool { !repair && !accept }
}

extension VerifyFileCommand: ReportingCommand {
  var printsResult: Bool { !repair }
}

extension ReconcileCommand: ReportingCommand {
  var printsResult: Bool { !apply }
}

extension ExportCommand: ReportingCommand {
  var printsResult: Bool { path == nil || path == "-" }
}

extension MigrateCommand: ReportingCommand {
  var printsResult: Bool { status || check || dryRun }
}

extension ResumeDataCommand: ReportingCommand {
  var printsResult: Bool { output == nil || output == "-" }
}

extension RunCommand: ReportingCommand {}
extension ServeCommand: ReportingCommand {}
extension Aria2Command: ReportingCommand {}
extension SetCommand: ReportingCommand {}
extension RootSetCommand: ReportingCommand {}
extension BackupCommand: ReportingCommand {}
extension CompactCommand: ReportingCommand {}
extension ImportCommand: ReportingCommand {}
extension ManualCommand: ReportingCommand {}
