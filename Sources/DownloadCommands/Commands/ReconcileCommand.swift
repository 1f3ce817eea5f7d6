internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore

/// `dlstore reconcile`: shows what an engine would do at launch, and does the local part on
/// request.
struct ReconcileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reconcile",
    abstract: "Shows what the engine would do with each active download, and why.",
    discussion: """
      Examines the active downloads and the partial files without a record. Without --apply \
      nothing changes; the command assumes that no transfer is running ('list' shows the running \
      ones). --apply does the part that needs no network: it repeats logged renames, deletes \
      leftover files, and truncates partial files to the bytes that can be resumed. It is refused \
      with exit code 75 while an engine is running. User info, signatures and tokens are shown as \
      \(Redaction.mark).

      EXAMPLES:
        dlstore reconcile
        dlstore reconcile --apply
      """
  )

  @OptionGroup var location: StoreLocation

  @Flag(help: "Do what needs no network.")
  var apply = false

  @Flag(help: "Print one JSON object.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print rules and actions instead of sentences.")
  var verbose = false

  func run() async throws {
    let store = try RecordStore(
      at: location.resolved(),
      access: apply ? .readWrite : .readOnly
    )
    let found: [Reconciliation]
    var orphans: PurgePlan
    var purged = PurgeReport()
    if apply {
      let engine = try DownloadEngine(store: store, transport: OfflineTransport())
      found = try await engine.reconcileRecords()
      orphans = try Reconciliation.orphans(in: store)
      purged = try store.purge(orphans)
    } else {
      found = try Reconciliation.ofActive(in: store, now: Date())
      orphans = try Reconciliation.orphans(in: store)
    }
    let report = ReconcileReport(
      found: found,
      orphans: orphans.files,
      isApplied: apply,
      isVerbose: verbose
    )
    let text = json ? report.json.prettyText + "\n" : report.text
    if apply {
      try Output.current.report(text)
    } else {
      try Output.current.write(text)
    }
    let leftovers = PurgeReportText(report: purged)
    for message in leftovers.messages { Output.current.say(message) }
    let held = found.compactMap { PurgeReportText.leftover($0) }
    for message in held { Output.current.say(message) }
    let failed = apply ? try failures(found, in: store) : []
    for entry in failed {
      let reason = entry.lastAttempt.map { entry.message(of: $0) } ?? ""
      Output.current.say("\(entry.displayURL) failed: \(reason)")
    }
    if leftovers.isIncomplete || !held.isEmpty || !failed.isEmpty { throw CommandFailure(.failed) }
  }

  /// The records that failed permanently during this reconciliation.
  private func failures(
    _ found: [Reconciliation],
    in store: RecordStore
  ) throws -> [DownloadEntry] {
    let roots = try store.roots()
    return try store.objects.read { tx in
      try found.compactMap { found in
        guard let record = try tx.find(DownloadRecord.self, key: found.record.url),
          record.state == .failedPermanent, found.record.state != .failedPermanent
        else { return nil }
        return DownloadEntry(record, roots)
      }
    }
  }
}
