internal import DownloadStore
internal import Foundation
internal import Logging
internal import ObjectStore
internal import SystemInterface

extension DownloadEngine {
  /// The reason why a decision was not committed.
  enum Withheld: Sendable {
    /// Another process is using the partial file that the decision deletes.
    case partialInUse
    /// A file could not be deleted, or the folder of a deleted one could not be synced.
    case undeleted(PartialFile.Failure)
    /// The folder of the files that the decision deletes is missing; the value is for people.
    case unreachable(String)
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
    // A crash can end a refresh here, as a failure does elsewhere: the partial file is deleted first.
    for found in found where found.record.refreshed != nil {
      let change = RecordChange(found, after: crash, resumeData: nil, counted: nil, options)
      guard try change.givesRefreshUp(at: moment) else { continue }
      if let failure = try await discardPartial(of: TransferKey(found.record), found.layout) {
        log("deletion not synced", found.record, ["error": "\(failure)"])
      }
    }
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
    for ((found, counted), record) in zip(zip(found, counted), changed) {
      guard let record else { continue }
      if found.effects.record == .redoRename { try await redoRename(found) }
      cutPartial(of: found, counted)
      notify(found, record, counted)
    }
    return withheld
  }

  /// Syncs the folders of complete files, then deletes unneeded files and syncs their folders.
  ///
  /// Returns the decisions to commit, and the reasons why the others are withheld.
  private func syncFiles(
    of found: [Reconciliation]
  ) async throws -> (settled: [Reconciliation], withheld: [String: Withheld]) {
    // The file may have been renamed just before a kill.
    let named = found.filter(\.completes).map(\.layout)
    let failures = try await synchronizeFolders(of: named)
    var settled: [Reconciliation] = []
    var cleared: [Reconciliation] = []
    var withheld: [String: Withheld] = [:]
    for found in found {
      log("reconcile", found.record, ["rules": found.decision.ruleNames])
      let effects = found.effects
      if found.completes, let failure = failures[StoredText(found.layout.folderPath)] {
        try await failCompletion(found.record, failure)
        continue
      }
      if effects.record == .delete, let problem = found.record.removalProblem(in: found.layout) {
        log("folder missing", found.record)
        // The record still owns the files, so that they are deleted when the folder is back.
        withheld[found.record.id] = .unreachable(problem)
        deletions.noteUnreachable(found.record.url, at: environment.instant(), options.retry)
        continue
      }
      let givesFilesUp = effects.record == .delete || effects.record == .keep(.cancelled)
      var hasDeleted = false
      var code: Int32 = 0
      if effects.partial == .delete {
        switch removePartial(found.layout) {
        case .removed: hasDeleted = true
        case .refused(.locked):
          // The record still owns the file, so that the next reconciliation deletes it.
          log("partial file in use", found.record)
          withheld[found.record.id] = .partialInUse
          continue
        case .refused(.failed(let number)):
          // A cancelled download ends also if its folder does not permit changes, which may not pass:
          // the record, which stays, has the empty file.
          hasDeleted =
            effects.record == .keep(.cancelled) && [EACCES, EPERM].contains(number)
            && placement.cutPartial(found.layout.partialPath, to: 0)
          if !hasDeleted { code = number }
        case .missing, .refused: break
        }
      }
      if code == 0, effects.deletesFinal, found.layout.isBelowRoot {
        code = placement.remove(found.layout.finalPath)
      }
      if code != 0, givesFilesUp {
        // The record stays until its files are gone.
        let operation = "deleting the files in \(found.layout.folderPath)"
        let failure = PartialFile.Failure(code: code, operation: operation)
        noteUndeleted(found, failure)
        withheld[found.record.id] = .undeleted(failure)
        continue
      }
      settled.append(found)
      // They may have been deleted just before a kill.
      if hasDeleted || givesFilesUp { cleared.append(found) }
    }
    let unsynced = try await synchronizeDeletions(of: cleared)
    for found in settled {
      guard let failure = unsynced[found.record.id] else { continue }
      withheld[found.record.id] = .undeleted(failure)
      if found.completes { try await failCompletion(found.record, failure) }
    }
    return (settled.filter { unsynced[$0.record.id] == nil }, withheld)
  }

  /// Syncs the folders of deleted files, so that the deletions survive a power failure.
  ///
  /// Returns the failures by record id. If a folder cannot be synced, its records stay, and
  /// ``retryDeletions()`` tries again. A folder that is gone has none of the files.
  private func synchronizeDeletions(
    of cleared: [Reconciliation]
  ) async throws -> [String: PartialFile.Failure] {
    let failures = try await synchronizeFolders(of: cleared.map(\.layout))
      .filter { $0.value.code != ENOENT && $0.value.code != ENOTDIR }
    var withheld: [String: PartialFile.Failure] = [:]
    for found in cleared {
      guard let failure = failures[StoredText(found.layout.folderPath)] else {
        deletions.remove(found.record.url)
        continue
      }
      withheld[found.record.id] = failure
      // A completion fails like any other attempt, and has the same limit of retries.
      if !found.completes { noteUndeleted(found, failure) }
    }
    return withheld
  }

  /// Notes that the files of a record are not deleted for certain; ``retryDeletions()`` tries again.
  private func noteUndeleted(_ found: Reconciliation, _ failure: PartialFile.Failure) {
    log("files not deleted", found.record, ["error": "\(failure)"])
    deletions.noteFailure(of: found.record.url, at: environment.instant(), options.retry)
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
    // A record is given, so its file is no orphan.
    case .truncate, .collect, .keep: break
    }
  }

  /// Repeats a rename that a kill has prevented or a power failure has undone.
  private func redoRename(_ found: Reconciliation) async throws {
    if let file = FinishedFile(ofLoggedRename: found.record, found.layout) {
      return completion.step(.renameLogged(file))
    }
    // It is not the file that was checked, so the download is queued again.
    let record = found.record
    let moment = now()
    let waiting = try await commit { tx -> DownloadRecord? in
      try tx.apply(.fileLost, to: TransferKey(record), if: { $0.state == record.state }, at: moment)
    }
    if let waiting { enqueue(waiting) }
  }

  /// Emits the event of dropped bytes, if there are any.
  func report(_ loss: Reconciliation.Loss?, of record: DownloadRecord) {
    guard let loss else { return }
    dispatcher.emit(.rolledBack(url: record.url, from: loss.byteCount, loss.reason), of: record.id)
  }

  /// Counts a failure, if there is any, and emits its event.
  private func report(_ failure: DownloadFailure?, of record: DownloadRecord) {
    guard let failure else { return }
    if options.isOwn(record.url) { summary.failed += 1 }
    dispatcher.emitEnd(.failed(record, failure), DownloadResponse(record: record, failure: failure))
  }

  /// Emits the events of a reconciled record, and enqueues it if it may run.
  private func notify(_ found: Reconciliation, _ record: DownloadRecord, _ counted: ByteRanges?) {
    report(found.loss(counting: counted), of: record)
    switch record.state {
    case .completed where found.completes:
      if options.isOwn(record.url) { summary.completed += 1 }
      placement.removeExcessVersions(of: record, found.layout)
      emitCompleted(record)
    case .failedPermanent where found.record.state != .failedPermanent:
      report(record.attempts.last?.failure, of: record)
    case .completed where found.record.earlierVersion != nil:
      // Without a failure, a command has cancelled the refresh.
      report(record.refreshFailure, of: record)
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
