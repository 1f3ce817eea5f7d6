internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  // MARK: At launch

  /// Makes records and files agree with there being no live task, and lines up what may run.
  ///
  /// Records with those ids are left alone. Costs O(active): finished records are not looked at.
  func reconcileAtLaunch(leavingOut ids: Set<String> = []) async throws -> [Reconciliation] {
    let found = try Reconciliation.ofActive(
      in: store,
      urls: options.scope,
      now: now(),
      policy: policy
    )
    // Those with a task are dealt with when it has ended.
    .filter { active[$0.record.url] == nil && !ids.contains($0.record.id) }
    .map { found in
      guard found.reconcileCase.partial == .missing,
        placement.adoptEarlierPartial(of: found.record, found.layout)
      else { return found }
      return try inspect(found.record)
    }
    let withheld = try await execute(found)
    return found.map { found in
      var found = found
      switch withheld[found.record.id] {
      case .partialInUse: found.isPartialInUse = true
      case .unsynced(let failure): found.deletionFailure = failure.asDownloadFailure
      case nil: break
      }
      return found
    }
  }

  /// Whether tasks keep what arrives to themselves, and leave resume data.
  var takesResumeData: Bool { transport is any BackgroundTransport }

  /// What decisions depend on besides what is found.
  var policy: ReconcilePolicy {
    ReconcilePolicy(
      takesResumeData: takesResumeData,
      continuesUnvalidated: options.continuesUnvalidated,
      longestWait: options.retry.cap
    )
  }

  /// Looks at a record and its files, and decides.
  func inspect(
    _ record: DownloadRecord,
    task: ReconcileCase.LiveTask = .none,
    hasFreeSlot: Bool = true
  ) throws(DownloadStoreError) -> Reconciliation {
    placement.adoptEarlierPartial(of: record, try roots.layout(of: record))
    return try Reconciliation(
      of: record,
      in: roots,
      task: task,
      now: now(),
      hasFreeSlot: hasFreeSlot,
      policy: policy
    )
  }

  // MARK: Carrying out

  /// Does what decisions about records without a live task ask for, as far as it needs no network,
  /// and lines up what goes on.
  ///
  /// One commit serves all of them. Files that are not needed go before it, synced, so that a kill
  /// leaves a record that still owns them, and a power cut no file without one; what is cut for a
  /// later request is cut after it, so that what is counted is always on disk.
  ///
  /// With `taskHasEnded` a task of this engine has ended for each of them just now, and may have
  /// left resume data.
  ///
  /// - Returns: Why records are left as they are, by their ids.
  @discardableResult
  func execute(
    _ found: [Reconciliation],
    taskHasEnded: Bool = false,
    resumeData: Data? = nil
  ) async throws -> [String: Withheld] {
    let (found, withheld) = try await syncFiles(of: found)
    guard !found.isEmpty else { return withheld }
    let options = options
    let moment = now()
    let changed = try await commit { tx in
      try found.map { found in
        try RecordChange(
          found,
          taskHasEnded: taskHasEnded,
          resumeData: resumeData,
          options
        )
        .apply(at: moment, in: &tx)
      }
    }
    var renames: [Reconciliation] = []
    for (found, record) in zip(found, changed) {
      guard let record else { continue }
      if found.decision.result == .placed { renames.append(found) }
      if let plan = found.decision.plan { cutPartial(of: found, plan) }
      notify(found, record)
    }
    try await redoRenames(renames)
    return withheld
  }

  /// Makes the names of complete files outlast a power cut, and then the lack of those that are not
  /// needed.
  ///
  /// Returns what may be committed; of the others a folder cannot be synced, or the partial file is in
  /// use.
  private func syncFiles(
    of found: [Reconciliation]
  ) async throws -> (settled: [Reconciliation], withheld: [String: Withheld]) {
    // The name may have been given just before a kill.
    let named = found.filter(\.decision.commitsCompleted).map(\.layout)
    let failures = try await synchronizeFolders(of: named)
    var settled: [Reconciliation] = []
    var cleared: [Reconciliation] = []
    var withheld: [String: Withheld] = [:]
    for found in found {
      log("reconcile", found.record, ["rules": found.decision.ruleNames])
      let actions = found.decision.actions
      if actions.contains(.commitCompleted), let failure = failures[found.layout.folderPath] {
        try await failCompletion(found.record, failure)
        continue
      }
      if actions.contains(.deletePartial) {
        switch placement.removePartial(found.layout.partialPath) {
        case .removed: cleared.append(found)
        case .refused(.locked):
          // The record still owns the file, so that the next look at it deletes the file.
          log("partial file in use", found.record)
          withheld[found.record.id] = .partialInUse
          continue
        case .missing, .refused: break
        }
      }
      settled.append(found)
      if actions.contains(.deleteFinal) { placement.remove(found.layout.finalPath) }
      // Its file may have gone just before a kill.
      if actions.contains(.deleteRecord) || found.decision.result == .state(.cancelled) {
        cleared.append(found)
      }
    }
    let unsynced = try await synchronizeDeletions(of: cleared)
    for found in settled {
      guard let failure = unsynced[found.record.id] else { continue }
      withheld[found.record.id] = .unsynced(failure)
      if found.decision.commitsCompleted { try await failCompletion(found.record, failure) }
    }
    return (settled.filter { unsynced[$0.record.id] == nil }, withheld)
  }

  /// The folder of a file that has its name cannot be synced: the record is not complete yet.
  private func failCompletion(
    _ record: DownloadRecord,
    _ failure: PartialFile.Failure
  ) async throws {
    // One that stands still is asked about again when somebody resumes it.
    guard [.running, .waiting, .finalizing, .failedRetryable].contains(record.state) else { return }
    try await commitFailure(record, failure.asDownloadFailure, retryAfter: nil)
  }

  private func cutPartial(of found: Reconciliation, _ plan: TransferPlan) {
    let path = found.layout.partialPath
    for action in plan.actions {
      switch action {
      case .deletePartial: placement.removePartial(path)
      case .truncateToCommitted: placement.cutPartial(path, to: found.record.received)
      // No checkpoint has a digest by which its bytes would be known.
      case .truncateToCheckpoint: placement.cutPartial(path, to: 0)
      default: break
      }
    }
  }

  /// Says what has become of a record, and lines it up if it goes on.
  private func notify(_ found: Reconciliation, _ record: DownloadRecord) {
    if found.lostBytes > 0 {
      emit(.rolledBack(url: record.url, from: found.lostBytes), of: record.id)
    }
    switch record.state {
    case .completed where found.decision.actions.contains(.commitCompleted):
      summary.completed += 1
      notifyCompleted(record)
    case .failedPermanent where found.record.state != .failedPermanent:
      summary.failed += 1
      if let failure = record.attempts.last?.failure {
        notifyEnd(DownloadResponse(record: record, failure: failure), .failed(record, failure))
      }
    case .waiting, .failedRetryable:
      enqueue(record)
    default:
      break
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
