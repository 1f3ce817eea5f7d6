internal import ArgumentParser
internal import DownloadStore
internal import DownloadSync
internal import Foundation
internal import ObjectStore
internal import URLSessionTransport

/// `dlstore reconcile`: what an engine would do first, and on request the part without a network.
struct ReconcileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reconcile",
    abstract: "Says what an engine would do to each active download, and by which rules.",
    discussion: """
      Looks at what is not at rest, and at partial files that no record owns. Without --apply \
      nothing is changed, and no transfer is thought to run: 'list' shows those that do. With \
      --apply the part that needs no network is done: renames that were logged are done again, \
      leftovers are deleted, partial files are cut to what may be continued. Where an engine runs \
      that is refused with 75. User info, signatures and tokens are shown as \(Redaction.mark).
      """
  )

  @OptionGroup var location: StoreLocation

  @Flag(help: "Do the part that needs no network.")
  var apply = false

  @Flag(help: "One JSON object.")
  var json = false

  func run() async throws {
    let store = try DownloadStore(
      at: location.resolved(),
      access: apply ? .readWrite : .readOnly
    )
    let found: [Reconciliation]
    var orphans: PurgePlan
    var purged = PurgeReport()
    if apply {
      // The transport is asked for tasks that are left, and for nothing else.
      let engine = try DownloadEngine(store: store, transport: URLSessionTransport())
      found = try await engine.reconcile()
      orphans = try store.orphanPlan()
      purged = try store.purge(orphans)
    } else {
      found = try Reconciliation.ofActive(in: store, now: Date())
      orphans = try store.orphanPlan()
    }
    let report = ReconcileReport(found: found, orphans: orphans.files, isApplied: apply)
    let text = json ? report.json.prettyText + "\n" : report.text
    if apply {
      try Output.current.report(text)
    } else {
      try Output.current.write(text)
    }
    let leftovers = PurgeReportText(report: purged)
    let unattributed = orphans.unattributedPaths.map(PurgeReportText.unattributed)
    for message in leftovers.messages + unattributed { Output.current.say(message) }
    let held = found.filter(\.isPartialInUse)
    for found in held { Output.current.say(PurgeReportText.partialInUse(found)) }
    let failed = apply ? try failures(found, in: store) : []
    for entry in failed {
      let reason = entry.lastAttempt.map { entry.message(of: $0) } ?? ""
      Output.current.say("\(entry.displayURL) has failed: \(reason)")
    }
    if leftovers.isIncomplete || !held.isEmpty || !failed.isEmpty { throw CommandFailure(.failed) }
  }

  /// The records that have failed while they were reconciled.
  private func failures(
    _ found: [Reconciliation],
    in store: DownloadStore
  ) throws -> [DownloadEntry] {
    let roots = try store.roots()
    return try store.objects.read { tx in
      try found.compactMap { found in
        guard let record = try tx.get(DownloadRecord.self, found.record.url),
          record.state == .failedPermanent, found.record.state != .failedPermanent
        else { return nil }
        return DownloadEntry(record, roots)
      }
    }
  }
}
