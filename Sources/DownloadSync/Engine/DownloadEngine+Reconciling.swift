internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  // MARK: At launch

  /// Makes records and files agree with there being no live task, and lines up what may run.
  ///
  /// Costs O(active): finished records are not looked at.
  func reconcileAtLaunch() async throws -> [Reconciliation] {
    // What an engine before this one has left in the transport tells that engine's sinks, so it can
    // be ended and not adopted.
    for task in await transport.liveTasks() { transport.cancel(task.id) }
    let found = try Reconciliation.ofActive(in: store, urls: options.scope, now: now())
    try await carryOut(found)
    return found
  }

  // MARK: Carrying out

  /// Does what decisions about records without a live task ask for, as far as it needs no network,
  /// and lines up what goes on.
  ///
  /// One commit serves all of them. Files that are not needed go before it, so that a kill leaves a
  /// record that still owns them; what is cut for a later request is cut after it, so that what is
  /// counted is always on disk.
  ///
  /// With `taskHasEnded` a task of this engine has ended for each of them just now.
  func carryOut(_ found: [Reconciliation], taskHasEnded: Bool = false) async throws {
    guard !found.isEmpty else { return }
    for found in found {
      log("reconcile", found.record, ["rules": found.decision.ruleNames])
      if found.decision.actions.contains(.deletePartial) {
        FilePlacement.remove(found.layout.partialPath)
      }
    }
    let options = options
    let moment = now()
    let changed = try await commit { tx in
      try found.map { found in
        try RecordChange(found, taskHasEnded: taskHasEnded, options).apply(at: moment, in: &tx)
      }
    }
    var renames: [Reconciliation] = []
    for (found, record) in zip(found, changed) {
      guard let record else { continue }
      if found.decision.result == .placed { renames.append(found) }
      if let plan = found.decision.plan { cutPartial(of: found, plan) }
      tell(found, record)
    }
    try await redoRenames(renames)
  }

  private func cutPartial(of found: Reconciliation, _ plan: TransferPlan) {
    let path = found.layout.partialPath
    for action in plan.actions {
      switch action {
      case .deletePartial: FilePlacement.remove(path)
      case .truncateToCommitted: FilePlacement.cut(path, to: found.record.received)
      // No checkpoint has a digest by which its bytes would be known.
      case .truncateToCheckpoint: FilePlacement.cut(path, to: 0)
      default: break
      }
    }
  }

  /// Says what has become of a record, and lines it up if it goes on.
  private func tell(_ found: Reconciliation, _ record: DownloadRecord) {
    if found.lostBytes > 0 { emit(.rolledBack(url: record.url, from: found.lostBytes)) }
    switch record.state {
    case .completed where found.decision.actions.contains(.commitCompleted):
      summary.completed += 1
      tellCompleted(record)
    case .failedPermanent where found.record.state != .failedPermanent:
      summary.failed += 1
      if let failure = record.attempts.last?.failure {
        tellEnd(DownloadResponse(record: record, failure: failure), .failed(record, failure))
      }
    case .waiting, .failedRetryable:
      enqueue(record)
    default:
      break
    }
  }

  // MARK: While running

  /// Looks at what others have written: new records and wishes are reconciled, and transfers whose
  /// record is gone, held or changed by somebody end.
  func followOthers() async throws {
    let count = try store.objects.changeCount()
    guard foreignChanges.haveHappened(changeCount: count) else { return }
    roots = try store.roots()
    let active = try store.records(
      DownloadRecord.where { $0.state.isIn(DownloadState.active) }
    )
    var wanted = URLTable<Void>()
    var idle: [Reconciliation] = []
    var givenUp: [String] = []
    for record in active where isInScope(record.url) {
      wanted[record.url] = ()
      if live[record.url] != nil {
        try await follow(record.url, record)
      } else if waiting[record.url] == nil || !record.mayStart {
        if waiting[record.url] != nil, record.intent != .run { givenUp.append(record.url) }
        waiting[record.url] = nil
        idle.append(try Reconciliation(of: record, in: roots, now: now()))
      }
    }
    for url in waiting.urls where wanted[url] == nil {
      waiting[url] = nil
      givenUp.append(url)
    }
    for url in live.urls where wanted[url] == nil {
      try await follow(url, try await current(url))
    }
    try await carryOut(idle)
    for url in givenUp { emit(.released(url: url)) }
  }

  /// Compares a live transfer with its record as it is now.
  private func follow(_ url: String, _ record: DownloadRecord?) async throws {
    // A record of another generation was removed and added anew.
    guard let download = live[url], let record, record.generation == download.record.generation
    else { return release(url) }
    let found = try Reconciliation(of: record, in: roots, task: .running, now: now())
    if found.decision.cancelsTask {
      log("reconcile", record, ["rules": found.decision.ruleNames])
      release(url)
    } else if found.decision.result == .state(.running), record.state != .running {
      try await commit { tx in
        _ = try tx.update(DownloadRecord.self, url) { changed in
          if changed.generation == record.generation, changed.state == record.state {
            changed.state = .running
          }
        }
      }
    }
  }

  /// Ends a transfer that nobody wants any more.
  private func release(_ url: String) {
    guard let download = live[url], !download.isReleased else { return }
    live[url]?.isReleased = true
    download.preparation?.cancel()
    if let task = download.task { transport.cancel(task) }
  }

  /// The record as it is in the store.
  func current(_ url: String) async throws -> DownloadRecord? {
    try await store.objects.read { tx in try tx.get(DownloadRecord.self, url) }
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

extension DownloadRecord {
  /// Whether it waits for its turn or its next try, as its owner wants.
  fileprivate var mayStart: Bool {
    intent == .run && (state == .waiting || state == .failedRetryable)
  }
}
