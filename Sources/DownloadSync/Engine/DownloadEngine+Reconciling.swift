internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  // MARK: At launch

  /// What launch changes in a record that goes on.
  private struct Resumption: Sendable {
    var url: String
    /// What is on disk is of no use.
    var rollsBack: Bool
    /// The last process ended without a transfer being to blame.
    var isInnocent: Bool
    var maximumUnresolvedStarts: Int32

    func apply(to record: inout DownloadRecord, at moment: Date) {
      if record.state == .running, isInnocent {
        record.unresolvedStarts = max(0, record.unresolvedStarts - 1)
      }
      if record.state != .failedRetryable { record.state = .waiting }
      if rollsBack { record.rollBack() }
      if record.unresolvedStarts >= maximumUnresolvedStarts {
        record.state = .failedPermanent
        record.note(
          DownloadFailure(
            .quarantined,
            "the process crashed \(record.unresolvedStarts) times while this was transferred"
          ),
          url: record.source,
          at: moment
        )
      }
    }
  }

  /// Makes the records agree with there being no live task, and lines up what may run.
  ///
  /// Costs O(active): finished records are not looked at.
  func reconcileAtLaunch() async throws {
    let active = try store.records(
      DownloadRecord.where { $0.state.isIn(DownloadState.active) }
    )
    var resumptions: [Resumption] = []
    for record in active where isInScope(record.url) {
      let facts = FileFacts(of: record, in: try roots.layout(of: record))
      let decision = Reconciler.decide(ReconcileCase(record: record, facts: facts))
      log("reconcile", record, ["rules": decision.rules.map(\.rawValue).joined(separator: "+")])
      guard decision.plan != nil else {
        try await carryOut(decision, on: record)
        continue
      }
      let rollsBack = decision.plan == .zero && record.received > 0
      resumptions.append(
        Resumption(
          url: record.url,
          rollsBack: rollsBack,
          isInnocent: options.previousExit == .innocent,
          maximumUnresolvedStarts: options.maximumUnresolvedStarts
        )
      )
      if rollsBack { emit(.rolledBack(url: record.url, from: record.received)) }
    }
    let due = resumptions
    guard !due.isEmpty else { return }
    let moment = now()
    let records = try await commit { tx in
      try due.compactMap { resumption in
        try tx.update(DownloadRecord.self, resumption.url) { record in
          resumption.apply(to: &record, at: moment)
        }
        return try tx.get(DownloadRecord.self, resumption.url)
      }
    }
    for record in records {
      if record.state == .failedPermanent {
        summary.failed += 1
        if let failure = record.attempts.last?.failure { emit(.failed(record, failure)) }
      } else {
        enqueue(record)
      }
    }
  }

  /// Does what a decision says for a record that is not to be transferred.
  private func carryOut(_ decision: ReconcileDecision, on record: DownloadRecord) async throws {
    let layout = try roots.layout(of: record)
    for action in decision.actions {
      switch action {
      case .deletePartial:
        FilePlacement.remove(layout.partialPath)
      case .deleteRecord:
        try await commit { tx in
          try tx.delete(DownloadRecord.self, record.url)
          try tx.delete(RequestHeaders.self, record.id)
        }
      case .commitCompleted:
        let moment = now()
        try await commit { tx in
          try tx.update(DownloadRecord.self, record.url) { $0.complete(at: moment) }
        }
        var done = record
        done.complete(at: moment)
        summary.completed += 1
        emit(.completed(done))
      case .cancelTask, .placePartial, .chooseName:
        // These belong to a transfer, which no record has at launch.
        break
      }
    }
    if let state = decision.result, state != .completed, state != record.state {
      try await commit { tx in
        try tx.update(DownloadRecord.self, record.url) { $0.state = state }
      }
    }
  }

  // MARK: While running

  /// Looks at what others have written: new records are lined up, and transfers whose record is
  /// gone, held or changed by somebody end.
  func followOthers() async throws {
    let count = try store.objects.changeCount()
    guard foreignChanges.haveHappened(changeCount: count) else { return }
    roots = try store.roots()
    let active = try store.records(
      DownloadRecord.where { $0.state.isIn(DownloadState.active) }
    )
    var wanted = URLTable<Void>()
    for record in active where isInScope(record.url) {
      wanted[record.url] = ()
      if let download = live[record.url] {
        // The record was removed and added anew, or somebody has it start over.
        if record.generation != download.record.generation { release(record.url) }
      } else if record.state == .waiting || record.state == .failedRetryable {
        enqueue(record)
      }
    }
    for url in waiting.urls where wanted[url] == nil { waiting[url] = nil }
    for url in live.urls where wanted[url] == nil { release(url) }
  }

  /// Ends a transfer that nobody wants any more.
  private func release(_ url: String) {
    guard let download = live[url], !download.isReleased else { return }
    live[url]?.isReleased = true
    if let task = download.task { transport.cancel(task) }
  }

  // MARK: Turns

  /// Has the record wait for its turn.
  func enqueue(_ record: DownloadRecord) {
    guard waiting[record.url] == nil, live[record.url] == nil else { return }
    order += 1
    waiting[record.url] = Waiting(
      candidate: Scheduler.Candidate(
        url: record.url,
        origin: RecordIdentity.origin(of: record.url),
        priority: record.priority,
        order: order,
        isSuspect: record.unresolvedStarts > 0
      ),
      notBefore: record.state == .failedRetryable ? record.nextRetryAt : nil
    )
  }

  private func isInScope(_ url: String) -> Bool {
    options.scope?.contains(url) ?? true
  }

  /// A suspect that has run for a while without a crash is one no more.
  func endProbation() {
    for download in live.values
    where download.candidate.isSuspect
      && download.startedAt.duration(to: .now) >= options.probation
    {
      live[download.record.url]?.candidate.isSuspect = false
    }
  }

  func log(_ message: Logger.Message, _ record: DownloadRecord, _ more: [String: String] = [:]) {
    logger?.debug(
      message,
      metadata: Logger.Metadata(
        uniqueKeysWithValues: [("record", "\(record.id)")]
          + more.map { ($0.key, Logger.MetadataValue.string($0.value)) }
      )
    )
  }
}
