internal import DownloadStore
internal import Foundation
internal import ObjectStore

/// What a decision changes in the store, without a word on files and tasks.
struct RecordChange: Sendable {
  /// The record that was decided about.
  private let record: DownloadRecord
  private let deletesRecord: Bool
  private let completes: Bool
  private let dropsResumeData: Bool
  /// What the task has left, if it is to be kept.
  private let resumeData: Data?
  private let state: DownloadState?
  /// What is on disk is of no use, or gone.
  private let rollsBack: Bool
  private let taskHasEnded: Bool
  private let isTransferToBlame: Bool
  private let maximumUnresolvedStarts: Int32

  /// The change that a decision asks for.
  ///
  /// - Parameters:
  ///   - found: The record and the decision.
  ///   - taskHasEnded: Whether a task of this engine has ended for the record, in an orderly way.
  ///   - resumeData: What that task has left to go on from.
  ///   - options: What to do about starts of which nothing was heard.
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
    // A file that gets its name is committed when it has it.
    let states = decision.result.states
    state = decision.result == .placed || states.count > 1 ? nil : states.first?.state
    rollsBack =
      plan?.beginsAnew == true
    self.taskHasEnded = taskHasEnded
    isTransferToBlame = options.previousExit == .crashed
    maximumUnresolvedStarts = options.maximumUnresolvedStarts
  }

  /// Makes the change, unless somebody has changed the record since it was looked at.
  ///
  /// Most records stay as they are at a launch, and are not read a second time: whoever changes one
  /// meanwhile is followed.
  ///
  /// - Returns: The record as it is then; `nil` when there is none or it was left alone.
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
    // The others are the states that the record has.
    case .running?, .finalizing?, .completed?, .failedPermanent?, .removed?, nil: break
    }
    return changed
  }
}
