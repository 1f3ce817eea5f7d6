internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore

extension DownloadEngine {
  // MARK: At launch

  /// Reconciles all active records of the scope that have no task, and enqueues those that may run.
  ///
  /// Costs O(active), or O(scope): finished records are not read.
  ///
  /// - Parameter ids: The ids of records to skip.
  /// - Returns: The state and the decision of each record.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  func reconcileAtLaunch(leavingOut ids: Set<String> = []) async throws -> [Reconciliation] {
    let records = try await store.objects.read { [scope = options.scope] tx in
      if let scope {
        return try scope.sorted().compactMap { try tx.find(DownloadRecord.self, key: $0) }
          .filter { DownloadState.active.contains($0.state) }
      }
      return try tx.fetch(DownloadRecord.where { $0.state.isIn(DownloadState.active) })
    }
    return try await reconcile(records.filter { !ids.contains($0.id) })
  }

  /// Reconciles those of some records that have no transfer, and enqueues those that may run.
  func reconcile(_ records: [DownloadRecord]) async throws -> [Reconciliation] {
    // A record with a transfer is reconciled when the transfer has ended.
    let found = try Reconciliation.of(
      records.filter { active[$0.url] == nil && active.transfer(ofRecord: $0.id) == nil },
      in: locations.roots,
      now: now(),
      policy: policy
    )
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

  /// Whether tasks hold the received bytes until they end, and leave resume data.
  var takesResumeData: Bool { transport is any BackgroundTransport }

  /// The inputs of a decision other than the record, its files and its task.
  var policy: ReconcilePolicy {
    ReconcilePolicy(
      takesResumeData: takesResumeData,
      continuesUnvalidated: options.continuesUnvalidated,
      longestWait: options.retry.cap
    )
  }

  /// Inspects the files of a record, and decides what to do.
  func inspect(
    _ record: DownloadRecord,
    task: ReconcileCase.LiveTask = .none,
    hasFreeSlot: Bool = true
  ) throws(RecordStoreError) -> Reconciliation {
    placement.adoptEarlierPartial(of: record, try locations.layout(of: record))
    return try Reconciliation(
      of: record,
      in: locations.roots,
      task: task,
      now: now(),
      hasFreeSlot: hasFreeSlot,
      policy: policy
    )
  }

  // MARK: Carrying out

  /// Executes decisions about records without a task, as far as they need no network, and enqueues
  /// the records that continue.
  ///
  /// One commit serves all of them. Unneeded files are deleted before it, and their folders are
  /// synced. A kill then leaves a record that still owns the file, and a power failure cannot
  /// restore a file without a record. Partial files are truncated after the commit, so that the
  /// counted bytes are always on disk.
  ///
  /// - Parameters:
  ///   - found: The records and the decisions.
  ///   - taskHasEnded: Whether a task of this engine has just ended for each record.
  ///   - resumeData: The resume data that the task has left.
  /// - Returns: The reasons why records were left unchanged, by record id.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  @discardableResult
  func execute(
    _ found: [Reconciliation],
    taskHasEnded: Bool = false,
    resumeData: Data? = nil
  ) async throws -> [String: Withheld] {
    let (settled, withheld) = try await syncFiles(of: found)
    let correct = try await checkPieces(of: settled)
    // A check that a stop has ended is repeated by the next engine.
    let found = settled.filter { $0.effects.partial != .check || correct[$0.record.id] != nil }
    guard !found.isEmpty else { return withheld }
    let options = options
    let moment = now()
    let changed = try await commit { tx in
      try found.map { found in
        try RecordChange(
          found,
          taskHasEnded: taskHasEnded,
          resumeData: resumeData,
          correct: correct[found.record.id],
          options
        )
        .apply(at: moment, in: &tx)
      }
    }
    var renames: [Reconciliation] = []
    for (found, record) in zip(found, changed) {
      guard let record else { continue }
      if found.effects.record == .redoRename { renames.append(found) }
      cutPartial(of: found, record)
      notify(found, record)
    }
    try await redoRenames(renames)
    return withheld
  }

  /// Syncs the folders of complete files, then deletes unneeded files and syncs their folders.
  ///
  /// Returns the decisions to commit, and the reasons why the others are withheld.
  private func syncFiles(
    of found: [Reconciliation]
  ) async throws -> (settled: [Reconciliation], withheld: [String: Withheld]) {
    // The file may have been renamed just before a kill.
    let named = found.filter(\.effects.completes).map(\.layout)
    let failures = try await synchronizeFolders(of: named)
    var settled: [Reconciliation] = []
    var cleared: [Reconciliation] = []
    var withheld: [String: Withheld] = [:]
    for found in found {
      log("reconcile", found.record, ["rules": found.decision.ruleNames])
      let effects = found.effects
      if effects.completes, let failure = failures[found.layout.folderPath] {
        try await failCompletion(found.record, failure)
        continue
      }
      var hasDeleted = false
      if effects.partial == .delete {
        switch removePartial(found.layout) {
        case .removed: hasDeleted = true
        case .refused(.locked):
          // The record still owns the file, so that the next reconciliation deletes it.
          log("partial file in use", found.record)
          withheld[found.record.id] = .partialInUse
          continue
        case .missing, .refused: break
        }
      }
      settled.append(found)
      if effects.deletesFinal, found.layout.isBelowRoot { placement.remove(found.layout.finalPath) }
      // A record that gives its files up: they may have been deleted just before a kill.
      if hasDeleted || effects.record == .delete || effects.record == .keep(.cancelled) {
        cleared.append(found)
      }
    }
    let unsynced = try await synchronizeDeletions(of: cleared)
    for found in settled {
      guard let failure = unsynced[found.record.id] else { continue }
      withheld[found.record.id] = .unsynced(failure)
      if found.effects.completes { try await failCompletion(found.record, failure) }
    }
    return (settled.filter { unsynced[$0.record.id] == nil }, withheld)
  }

  /// The number of bytes that are read at a time to check pieces: a fraction of a second on most disks.
  private static let checkedLength: Int64 = 64 << 20

  /// Reads the partial files whose pieces are to be checked.
  ///
  /// Costs one read of each of these files. In the meantime, the progress of transfers is committed,
  /// and a request to stop ends the check.
  ///
  /// - Returns: By record id, the bytes that count: committed, and in a piece that has its digest. A
  ///   file that cannot be read has none. Files that were not read to their end are missing.
  private func checkPieces(of found: [Reconciliation]) async throws -> [String: ByteRanges] {
    let found = found.filter { $0.effects.partial == .check }
    guard !found.isEmpty else { return [:] }
    let digests = try await store.objects.read { tx in
      try tx.find(PieceDigests.self, keys: found.map(\.record.id))
    }
    var counted: [String: ByteRanges] = [:]
    for (found, digests) in zip(found, digests) {
      guard let correct = try await correctBytes(of: found.layout.partialPath, digests) else {
        break
      }
      counted[found.record.id] = correct.counted(in: found.record)
      log("checked pieces", found.record, ["correct": "\(correct)"])
    }
    return counted
  }

  /// Returns the bytes of the pieces that have their digests; none if the file cannot be read, and
  /// `nil` if the engine is to stop.
  private func correctBytes(of path: String, _ digests: PieceDigests?) async throws -> ByteRanges? {
    guard let digests, digests.count > 0 else { return ByteRanges() }
    var correct = ByteRanges()
    let length = Int(max(1, Self.checkedLength / digests.pieceLength))
    for start in stride(from: 0, to: digests.count, by: length) {
      guard !inbox.hasStopRequest else { return nil }
      let part = start..<min(start + length, digests.count)
      let report = try await environment.blocking {
        try? PieceReport(ofFileAt: path, digests, in: part)
      }
      guard let report else { return ByteRanges() }
      correct = correct.union(report.correct)
      try await checkpointIfDue()
    }
    return correct
  }

  /// Fails the completion of a record whose folder cannot be synced.
  private func failCompletion(
    _ record: DownloadRecord,
    _ failure: PartialFile.Failure
  ) async throws {
    // A paused record is reconciled again when the user resumes it.
    guard [.running, .waiting, .finalizing, .failedRetryable].contains(record.state) else { return }
    try await commitFailure(record, failure.asDownloadFailure, retryAfter: nil)
  }

  /// Deletes or truncates a partial file after the commit, as the plan of the next attempt requires.
  private func cutPartial(of found: Reconciliation, _ record: DownloadRecord) {
    switch found.effects.partial {
    case .drop: removePartial(found.layout)
    case .check where record.received == 0: removePartial(found.layout)
    case .check where found.layout.isBelowRoot:
      placement.cutPartial(found.layout.partialPath, to: record.committed.end)
    case .truncate where found.layout.isBelowRoot:
      placement.cutPartial(found.layout.partialPath, to: found.record.committed.end)
    // Deleted before the commit.
    case .delete: break
    case .truncate, .check, .keep: break
    }
  }

  /// Emits the events of a reconciled record, and enqueues it if it may run.
  private func notify(_ found: Reconciliation, _ record: DownloadRecord) {
    let hasLostAll = found.effects.partial == .check && record.received == 0
    let lostBytes = hasLostAll ? found.record.received : found.lostBytes
    if lostBytes > 0 {
      dispatcher.emit(.rolledBack(url: record.url, from: lostBytes), of: record.id)
    }
    switch record.state {
    case .completed where found.effects.completes:
      summary.completed += 1
      emitCompleted(record)
    case .failedPermanent where found.record.state != .failedPermanent:
      summary.failed += 1
      if let failure = record.attempts.last?.failure {
        dispatcher.emitEnd(
          .failed(record, failure),
          DownloadResponse(record: record, failure: failure)
        )
      }
    case .waiting, .failedRetryable:
      enqueue(record)
    default:
      break
    }
  }
}

extension ByteRanges {
  /// The bytes that a record counts, too.
  ///
  /// If its count contradicts itself, the digests decide.
  fileprivate func counted(in record: DownloadRecord) -> Self {
    record.isConsistent ? intersection(record.committed) : self
  }
}
