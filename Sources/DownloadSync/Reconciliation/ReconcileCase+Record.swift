package import DownloadStore
package import Foundation
internal import ResumeData

extension ReconcileCase {
  /// Creates the case of a record.
  ///
  /// - Parameters:
  ///   - record: The record as stored.
  ///   - files: The state of its files.
  ///   - task: The state of its task.
  ///   - resumeData: The state of its resume data; `nil` to parse the record's with
  ///     ``ReconcileCase/ResumeDataStatus/init(of:)``.
  ///   - now: The current time, which decides whether a retry is due.
  ///   - hasFreeSlot: Whether another download may run.
  ///   - policy: The settings that the decision depends on.
  package init(
    record: DownloadRecord,
    files: FileInspection,
    task: LiveTask = .none,
    resumeData: ResumeDataStatus? = nil,
    now: Date,
    hasFreeSlot: Bool = true,
    policy: ReconcilePolicy = ReconcilePolicy()
  ) {
    // A file that the download is to replace is no obstacle. If the record is removed with its file,
    // the previous version is one, too, but a file of the user is not.
    let removesPrevious = record.removesFile && files.replaced != record.foreignFileIdentity
    let previous: FileInspection.Final = removesPrevious ? .ours : .missing
    self.init(
      stored: Stored(of: record, files: files, task: task),
      task: task,
      final: files.isReplaced && files.final.isForeign ? previous : files.final,
      partial: files.partial,
      resumeData: resumeData ?? ResumeDataStatus(of: record),
      conditions: Conditions(
        hasFreeSlot: hasFreeSlot,
        takesResumeData: policy.takesResumeData,
        removesFile: record.removesFile,
        canContinue: record.hasProofAtSource || policy.continuesUnvalidated,
        isRetryDue: policy.isRetryDue(of: record, at: now),
        // No byte of a file with a second name is used, whatever the digests could show about it.
        hasPieceDigests: record.hasPieceDigests && !files.isPartialShared,
        isPartialChanged: files.isPartialShared
          || files.isPartialChanged && (record.hasPieceDigests || record.expectedDigest == nil)
      )
    )
  }
}

extension ReconcileCase.Stored {
  /// Combines the state and the intent of a record; a command counts as soon as it is stored.
  ///
  /// A pause applies to a logged rename only while its bytes are missing: repeating the rename
  /// needs no network.
  init(of record: DownloadRecord, files: FileInspection, task: ReconcileCase.LiveTask) {
    switch (record.state, record.intent) {
    case (.removed, _), (_, .remove): self = .removed
    case (.cancelled, _), (_, .cancel): self = .cancelled
    case (.completed, _): self = .completed
    case (.failedPermanent, _): self = .failedPermanent
    case (.finalizing, .pause):
      let isThere = files.partial == .complete || task == .doneOK || task == .dupDoneRunning
      self = isThere ? .finalizing : .paused
    case (.paused, _), (_, .pause): self = .paused
    case (.waiting, .run): self = .waiting
    case (.running, .run): self = .running
    case (.failedRetryable, .run): self = .failedRetryable
    case (.finalizing, .run): self = .finalizing
    }
  }

  /// The record state that corresponds to this value; `nil` for ``none``.
  var state: DownloadState? {
    switch self {
    case .none: nil
    case .waiting: .waiting
    case .running: .running
    case .paused: .paused
    case .failedRetryable: .failedRetryable
    case .failedPermanent: .failedPermanent
    case .completed: .completed
    case .finalizing: .finalizing
    case .cancelled: .cancelled
    case .removed: .removed
    }
  }
}

extension ReconcileCase.LiveTask {
  /// Classifies the end of a transfer.
  ///
  /// A cancelled transfer without resume data counts as no task.
  init(_ result: TransferResult, leavesResumeData: Bool) {
    self =
      switch result {
      case .complete: .doneOK
      // Handled before: the record is complete.
      case .notModified: .none
      case .failed(let failure, _) where failure.code.traits.contains(.status): .doneBadStatus
      case .failed where leavesResumeData, .cancelled where leavesResumeData: .errResume
      case .failed, .startOver: .errNoResume
      case .cancelled: .none
      }
  }
}

extension ReconcileCase.ResumeDataStatus {
  /// Checks the resume data of a record, without examining the temporary file that it names.
  ///
  /// - Complexity: O(n) for n bytes of resume data.
  package init(of record: DownloadRecord) {
    guard let resumeData = record.resumeData else {
      self = .none
      return
    }
    let facts = URLSessionResumeData.Facts(
      url: record.url,
      entityTag: record.entityTag,
      lastModified: record.lastModified
    )
    self =
      switch URLSessionResumeData.validity(of: Array(resumeData), given: facts) {
      // Empty resume data is stored, too, and must be dropped.
      case .none: .corrupt
      // The size of the temporary file can replace the missing count; it is not examined here.
      case .corrupt(let defect) where defect.code == .missingByteCount: .valid
      case .corrupt, .temporaryFileMissing: .corrupt
      case .stale: .stale
      case .valid: .valid
      }
  }
}
