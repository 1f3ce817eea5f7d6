package import DownloadStore
package import Foundation
internal import ResumeData

extension ReconcileCase {
  /// The case of a record with those files.
  ///
  /// - Parameters:
  ///   - record: The record as it is in the store.
  ///   - files: What lies on disk for it.
  ///   - task: What works for it.
  ///   - resumeData: What its resume data is worth; without, ``ReconcileCase/ResumeDataStatus/init(of:)`` reads it.
  ///   - now: The time, for the next try.
  ///   - hasFreeSlot: Whether one more download may run.
  ///   - policy: What else the decision depends on.
  package init(
    record: DownloadRecord,
    files: FileInspection,
    task: LiveTask = .none,
    resumeData: ResumeDataStatus? = nil,
    now: Date,
    hasFreeSlot: Bool = true,
    policy: ReconcilePolicy = ReconcilePolicy()
  ) {
    self.init(
      stored: Stored(of: record, files: files, task: task),
      task: task,
      final: files.final,
      partial: files.partial,
      resumeData: resumeData ?? ResumeDataStatus(of: record),
      conditions: Conditions(
        hasFreeSlot: hasFreeSlot,
        takesResumeData: policy.takesResumeData,
        removesFile: record.removesFile,
        canContinue: Validator(of: record) != nil || record.expectedDigest != nil
          || policy.continuesUnvalidated,
        isRetryDue: policy.isRetryDue(of: record, at: now)
      )
    )
  }
}

extension ReconcileCase.Stored {
  /// State and intent of a record as one word: a wish counts as soon as it is stored.
  ///
  /// A rename that is logged is held only while its bytes are not there: to redo it needs no
  /// network.
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

  /// The state of a record that is to be in it; `nil` when there is to be no record.
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
  /// How a task has ended.
  ///
  /// One that was asked to end and has is none any more.
  init(_ result: TransferResult, leavesResumeData: Bool) {
    self =
      switch result {
      case .complete: .doneOK
      case .failed(let failure, _) where failure.code.isOfStatus: .doneBadStatus
      case .failed where leavesResumeData, .cancelled where leavesResumeData: .errResume
      case .failed, .startOver: .errNoResume
      case .cancelled: .none
      }
  }
}

extension ReconcileCase.ResumeDataStatus {
  /// What the resume data of a record is worth, without a look at the file that it names.
  ///
  /// - Complexity: O(n) in the bytes of the resume data.
  package init(of record: DownloadRecord) {
    guard let resumeData = record.resumeData else {
      self = .none
      return
    }
    let facts = ResumeData.Facts(
      url: record.url,
      entityTag: record.entityTag,
      lastModified: record.lastModified
    )
    self =
      switch ResumeData.validity(of: Array(resumeData), given: facts) {
      // Bytes of nothing are there all the same, and are dropped.
      case .none: .corrupt
      // The size of its file may say it, which is not looked at here.
      case .corrupt(let defect) where defect.code == .missingByteCount: .valid
      case .corrupt: .corrupt
      case .stale: .stale
      case .temporaryFileMissing: .temporaryFileMissing
      case .valid: .valid
      }
  }
}

extension DownloadFailure.Code {
  /// Whether a response came whose status says that it is not the file.
  var isOfStatus: Bool {
    switch self {
    case .refused, .notFound, .rejected, .serverBusy, .badRedirect: true
    default: false
    }
  }
}
