internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// The change that a decision makes to a record in the store; it does not affect files or tasks.
struct RecordChange: Sendable {
  /// The record on which the decision is based.
  private let record: DownloadRecord
  private let deletesRecord: Bool
  private let completes: Bool
  private let dropsResumeData: Bool
  /// The resume data to store; `nil` to store none.
  private let resumeData: Data?
  private let state: DownloadState?
  /// Whether the bytes on disk are useless or missing.
  private let rollsBack: Bool
  private let taskHasEnded: Bool
  private let isTransferToBlame: Bool
  private let maximumUnresolvedStarts: Int32

  /// Creates the change that a decision requires.
  ///
  /// - Parameters:
  ///   - found: The record and the decision.
  ///   - taskHasEnded: Whether a task of this engine has ended for the record, without a crash.
  ///   - resumeData: The resume data that the task has left.
  ///   - options: How the previous engine ended, and how many crashes a download may cause.
  init(
    _ found: Reconciliation,
    taskHasEnded: Bool,
    resumeData: Data?,
    _ options: EngineOptions
  ) {
    let decision = found.decision
    let plan = decision.plan
    record = found.record
    deletesRecord = decision.actions.contains(.deleteRecord)
    completes = decision.actions.contains(.commitCompleted)
    dropsResumeData =
      decision.actions.contains(.dropResumeData) || plan?.actions.contains(.dropResumeData) == true
    self.resumeData = decision.actions.contains(.storeResumeData) ? resumeData : nil
    // A record whose file is to be placed is committed after the rename.
    let states = decision.result.states
    state = decision.result == .placed || states.count > 1 ? nil : states.first?.state
    rollsBack = plan?.beginsAnew == true
    self.taskHasEnded = taskHasEnded
    isTransferToBlame = options.previousExit == .crashed
    maximumUnresolvedStarts = options.maximumUnresolvedStarts
  }

  /// Applies the change, unless the stored record has another state, intent or generation by now.
  ///
  /// At launch most records do not change, and are not read again: the engine applies the changes
  /// of other writers later.
  ///
  /// - Parameters:
  ///   - moment: The time of the change.
  ///   - tx: The transaction.
  /// - Returns: The record after the change; `nil` if it was deleted, or has changed since the
  ///   decision.
  /// - Throws: `StoreError`.
  func apply(at moment: Date, in tx: inout StoreTransaction) throws -> DownloadRecord? {
    guard deletesRecord || changed(record, at: moment) != record else { return record }
    guard let stored = try tx.record(of: TransferKey(record)), stored.state == record.state,
      stored.intent == record.intent
    else { return nil }
    if deletesRecord {
      try tx.delete(DownloadRecord.self, record.url)
      try tx.delete(RequestHeaders.self, record.id)
      return nil
    }
    let changed = changed(stored, at: moment)
    if changed != stored { try tx.upsert(changed) }
    return changed
  }

  private func changed(_ stored: DownloadRecord, at moment: Date) -> DownloadRecord {
    var changed = stored
    if dropsResumeData { changed.replaceResumeData(with: nil) }
    if let resumeData { changed.replaceResumeData(with: resumeData) }
    if rollsBack { changed.dropBytes() }
    if taskHasEnded { changed.resolveStart() }
    if completes {
      changed.complete(at: moment)
      return changed
    }
    switch state {
    case .waiting?, .failedRetryable?:
      changed.requeue(
        as: state == .waiting ? .waiting : .failedRetryable,
        hasCrashed: isTransferToBlame,
        maximumStarts: maximumUnresolvedStarts,
        source: changed.source,
        at: moment
      )
    case .paused?: changed.finishPause()
    case .cancelled?: changed.finishCancellation()
    // The other states are those that the record already has.
    case .running?, .finalizing?, .completed?, .failedPermanent?, .removed?, nil: break
    }
    return changed
  }
}
