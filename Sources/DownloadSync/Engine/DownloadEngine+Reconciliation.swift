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
  /// - Parameters:
  ///   - ids: The ids of records to skip.
  ///   - checksPieces: Whether changed partial files are read now, and not before their downloads
  ///     start.
  /// - Returns: The state and the decision of each record.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  func reconcileAtLaunch(
    leavingOut ids: Set<String> = [],
    checksPieces: Bool = false
  ) async throws -> [Reconciliation] {
    let records = try await store.objects.read { [scope = options.scope] tx in
      if let scope {
        return try scope.sorted().compactMap { try tx.find(DownloadRecord.self, key: $0) }
          .filter { DownloadState.active.contains($0.state) }
      }
      return try tx.fetch(DownloadRecord.where { $0.state.isIn(DownloadState.active) })
    }
    return try await reconcile(
      records.filter { !ids.contains($0.id) },
      checksPieces: checksPieces
    )
  }

  /// Reconciles those of some records that have no transfer, and enqueues those that may run.
  func reconcile(
    _ records: [DownloadRecord],
    checksPieces: Bool = false
  ) async throws -> [Reconciliation] {
    // A record with a transfer is reconciled when the transfer has ended.
    let found = Reconciliation.of(
      try await failingUnplaced(records.filter { !isOccupied($0) }),
      in: locations.roots,
      now: now(),
      policy: policy
    )
    let withheld = try await execute(
      found,
      counting: checksPieces ? try await checkPieces(of: found) : [:]
    )
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
  ) -> Reconciliation {
    Reconciliation(
      of: record,
      in: locations.roots,
      task: task,
      now: now(),
      hasFreeSlot: hasFreeSlot,
      policy: policy
    )
  }

  /// Fails those of some downloads that would continue although their root is unknown, and returns
  /// the others.
  ///
  /// Another program may have stored such a record. It must not stop the others.
  private func failingUnplaced(_ records: [DownloadRecord]) async throws -> [DownloadRecord] {
    let unplaced = records.filter { record in
      !record.isGivenUp && locations.roots.path(of: record.root) == nil
        && [.running, .finalizing, .waiting, .failedRetryable].contains(record.state)
    }
    for record in unplaced { try await failUnplaced(record) }
    let ids = Set(unplaced.map(\.id))
    return ids.isEmpty ? records : records.filter { !ids.contains($0.id) }
  }

  /// Fails a download whose root is unknown, and keeps its bytes.
  func failUnplaced(_ record: DownloadRecord) async throws {
    try await commitFailure(
      record,
      DownloadFailure(
        .fileSystem,
        "\(Roots.unknown(record.root)): remove the download and add it again, or import the root"
      ),
      retryAfter: nil
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
  /// A partial file is only read before its download starts: a decision to check it that comes
  /// earlier has no effect on the file and its bytes.
  ///
  /// - Parameters:
  ///   - found: The records and the decisions.
  ///   - correct: By record id, the bytes of files that were checked whose pieces have their digests.
  ///   - resumeData: The resume data that the task has left.
  /// - Returns: The reasons why records were left unchanged, by record id.
  /// - Throws: ``EngineError`` with `diskFull`; `RecordStoreError` with `missingRoot`;
  ///   `StoreError`.
  @discardableResult
  func execute(
    _ found: [Reconciliation],
    counting correct: [String: ByteRanges] = [:],
    resumeData: Data? = nil
  ) async throws -> [String: Withheld] {
    let (found, withheld) = try await syncFiles(of: found)
    let counted = found.map { $0.countedBytes(correct[$0.record.id]) }
    guard !found.isEmpty else { return withheld }
    let (options, crash) = (options, crash)
    let moment = now()
    let changed = try await commit { tx in
      try zip(found, counted).map { found, counted in
        try RecordChange(
          found,
          after: crash,
          resumeData: resumeData,
          counted: counted,
          options
        )
        .apply(at: moment, in: &tx)
      }
    }
    var renames: [Reconciliation] = []
    for ((found, counted), record) in zip(zip(found, counted), changed) {
      guard let record else { continue }
      if found.effects.record == .redoRename { renames.append(found) }
      cutPartial(of: found, counted)
      notify(found, record, counted)
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

  /// Reads the partial files whose pieces are to be checked, for an engine that does not run.
  ///
  /// Costs one read of each of these files. A request to stop ends the check.
  ///
  /// - Returns: By record id, the bytes whose pieces have their digests. Files that could not be
  ///   read to their end are missing.
  private func checkPieces(of found: [Reconciliation]) async throws -> [String: ByteRanges] {
    var correct: [String: ByteRanges] = [:]
    for found in found where found.effects.partial == .check {
      let digests = try await store.objects.read { tx in
        try tx.find(PieceDigests.self, key: found.record.id)
      }
      var check = PieceCheck(ofFileAt: found.layout.partialPath, digests)
      while let part = check.next {
        guard !inbox.hasStopRequest else { return correct }
        check.note(
          try await environment.blocking { Result { () throws(FileReadError) in try part.read() } }
        )
      }
      if check.temporaryFailure == nil { correct[found.record.id] = check.correct }
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
  ///
  /// - Parameters:
  ///   - found: The decision.
  ///   - counted: The bytes that count after a check of the file; `nil` if it was not checked.
  private func cutPartial(of found: Reconciliation, _ counted: ByteRanges?) {
    switch found.effects.partial {
    case .drop: removePartial(found.layout)
    case .truncate where found.layout.isBelowRoot:
      placement.cutPartial(found.layout.partialPath, to: found.record.committed.end)
    case .check:
      guard let counted else { break }
      if counted.isEmpty {
        removePartial(found.layout)
      } else if found.layout.isBelowRoot {
        placement.cutPartial(found.layout.partialPath, to: counted.end)
      }
    // Deleted before the commit.
    case .delete: break
    case .truncate, .keep: break
    }
  }

  /// Emits the events of a reconciled record, and enqueues it if it may run.
  private func notify(_ found: Reconciliation, _ record: DownloadRecord, _ counted: ByteRanges?) {
    let lostBytes = counted?.isEmpty == true ? found.record.received : found.lostBytes
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

extension Reconciliation {
  /// The bytes that count after a check of the partial file; `nil` if the decision requires none, or
  /// none was made.
  ///
  /// If the record's count contradicts itself, the digests decide.
  fileprivate func countedBytes(_ correct: ByteRanges?) -> ByteRanges? {
    guard effects.partial == .check, let correct else { return nil }
    return record.isConsistent ? correct.intersection(record.committed) : correct
  }
}
