internal import DownloadStore
internal import DownloadSync

/// What a purge left, for people to read.
struct PurgeReportText {
  var report: PurgeReport

  /// Whether something that was asked for was not done.
  ///
  /// A record that another process has removed is gone all the same, and a file that an engine is
  /// still writing goes with the end of the transfer.
  var isIncomplete: Bool {
    report.skippedRecords.contains { $0.current != nil }
      || report.keptFiles.contains { !isLeftToEngine($0) }
  }

  /// A sentence for each record and file that was left.
  var messages: [String] {
    report.skippedRecords.map(message) + report.keptFiles.map(message)
  }

  /// What is said of a partial file that may belong to another store.
  static func unattributed(_ path: String) -> String {
    "\(path) stays: its name does not say which store it belongs to; "
      + "delete it if no store needs it"
  }

  /// What is said of a record whose partial file could not be deleted.
  static func partialInUse(_ found: Reconciliation) -> String {
    "\(found.layout.partialPath) is being used by another process; \(found.record.id) stays as it is "
      + "until an engine runs or reconciles again"
  }

  private func message(_ skipped: PurgeReport.SkippedRecord) -> String {
    let record = skipped.record
    guard let current = skipped.current else {
      return "\(record.id) was removed by another process"
    }
    let change =
      current.state == record.state
      ? "it has changed" : "it was \(record.state.word) and is \(current.state.word) now"
    return "\(record.id) stays: \(change); run purge again to remove it"
  }

  private func message(_ kept: PurgeReport.KeptFile) -> String {
    switch kept.reason {
    case .changed: "\(kept.file.path) stays: it has changed since it was listed"
    case .inUse where isLeftToEngine(kept):
      "\(kept.file.path) is being written: the engine deletes it when it stops the transfer"
    case .inUse: "\(kept.file.path) stays: another process is using it"
    case .failed(let reason): "\(kept.file.path) stays: \(reason)"
    }
  }

  /// Whether the record of a file that is in use was removed, so that its engine deletes the file.
  private func isLeftToEngine(_ kept: PurgeReport.KeptFile) -> Bool {
    kept.reason == .inUse && !kept.file.isOrphan
  }
}
