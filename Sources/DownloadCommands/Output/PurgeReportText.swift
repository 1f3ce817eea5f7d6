internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync

/// The records and files that a purge kept, as text for people.
struct PurgeReportText {
  var report: PurgeReport
  var skippedRecords: [PurgeListReport.SkippedRecord]

  /// The text of a plan's report.
  init(report: PurgeReport) {
    self.report = report
    skippedRecords = report.skippedRecords.map {
      .init(id: $0.record.id, state: $0.record.state, current: $0.current)
    }
  }

  /// The text of a report on a part of a list.
  init(_ report: PurgeListReport) {
    self.report = report.report
    skippedRecords = report.skippedRecords
  }

  /// Whether a record or file that matched was kept.
  ///
  /// A record that another process removed does not count, and neither does a file that an engine is
  /// still writing: the engine deletes it when the transfer ends.
  var isIncomplete: Bool {
    skippedRecords.contains { $0.current != nil }
      || report.keptFiles.contains { !isLeftToEngine($0) }
  }

  /// A sentence for each record and file that was kept.
  var messages: [String] {
    skippedRecords.map(message) + report.keptFiles.map(message)
  }

  /// The line of a file that is to be deleted.
  static func line(_ file: PurgePlan.File) -> String { "file  \(file.size)  \(file.path)" }

  /// The message for a file with the name of a finished one that is not the downloaded one.
  static func foreign(_ path: String) -> String {
    "kept \(TerminalText.safe(path)): it is not the downloaded file"
  }

  /// The message for a record whose finished file cannot be deleted with it.
  static func unreachable(_ record: DownloadRecord, _ roots: Roots) -> String {
    let problem = roots.possibleLayout(of: record).folderProblem ?? "its folder was missing"
    return "kept \(record.id): \(TerminalText.safe(problem)); without --with-files only the record "
      + "is removed"
  }

  /// The message for a record whose partial file is locked by another process.
  static func partialInUse(_ found: Reconciliation) -> String {
    "another process is using \(found.layout.partialPath); \(found.record.id) is unchanged until the "
      + "next run or \(SuggestedCommand.text("reconcile --apply"))"
  }

  /// The message for a record that is kept because its files cannot be deleted, or because their folder
  /// cannot be synced, so that a power cut may bring them back.
  static func undeleted(_ found: Reconciliation, _ failure: DownloadFailure) -> String {
    "kept the record \(found.record.id): its files are not deleted for certain (\(failure.message)); "
      + "\(SuggestedCommand.text("reconcile --apply")) tries again"
  }

  /// The message for a removed record that is kept because the folder of its files is missing, or
  /// permits no deletion.
  static func awaitsFolder(_ id: String, _ problem: String) -> String {
    "kept the record \(id): \(TerminalText.safe(problem)); its files are deleted when that has "
      + "changed, and \(SuggestedCommand.text("purge \(id)")) removes only the record"
  }

  /// The message for a download whose files the running engine has not deleted yet.
  static func leftToEngine(_ record: DownloadRecord) -> String {
    "the files of \(record.id) are not deleted yet: the running engine, or the next one, deletes them"
  }

  /// The message for a record that a reconciliation left unchanged; `nil` for any other.
  static func leftover(_ found: Reconciliation) -> String? {
    if found.isPartialInUse { return partialInUse(found) }
    if let problem = found.unreachableFolder { return awaitsFolder(found.record.id, problem) }
    return found.deletionFailure.map { undeleted(found, $0) }
  }

  private func message(_ skipped: PurgeListReport.SkippedRecord) -> String {
    guard let current = skipped.current else {
      return "\(skipped.id) was removed by another process"
    }
    // Another process has just changed it.
    let words = (
      skipped.state.word(engineRuns: true), current.state.word(engineRuns: true)
    )
    let change =
      current.state == skipped.state
      ? "it has changed" : "it was \(words.0) and is now \(words.1)"
    return "kept \(skipped.id): \(change); run purge again to remove it"
  }

  private func message(_ kept: PurgeReport.KeptFile) -> String {
    switch kept.reason {
    case .changed: "kept \(kept.file.path): it has changed since it was listed"
    case .inUse where isLeftToEngine(kept):
      "\(kept.file.path) is being written: the engine deletes it when it stops the transfer"
    case .inUse: "kept \(kept.file.path): another process is using it"
    case .failed(let reason) where kept.keepsRecord:
      "kept \(kept.file.path) and its record: \(reason); \(SuggestedCommand.text("reconcile --apply")) "
        + "tries again"
    case .failed(let reason): "kept \(kept.file.path): \(reason)"
    }
  }

  /// Whether the engine deletes the file: its record was removed during a transfer.
  private func isLeftToEngine(_ kept: PurgeReport.KeptFile) -> Bool {
    kept.reason == .inUse && !kept.file.isOrphan
  }
}
