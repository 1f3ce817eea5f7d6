package import DownloadStore

/// All inputs of a decision as one value, independent of clock, disk and network.
///
/// A case has five axes and some ``Conditions``. The raw values on the axes are those that
/// `dlstore explain` accepts and that `docs/reconciliation.md` uses.
///
/// ```swift
/// let given = ReconcileCase(stored: .paused, task: .doneOK, partial: .longer)
/// print(Reconciler.decide(given).ruleNames)  // T1
/// ```
package struct ReconcileCase: Sendable, Hashable {
  /// The stored state, including a command that is not carried out yet.
  package enum Stored: String, Sendable, Hashable, CaseIterable {
    /// There is no such record.
    case none
    /// The download waits for a slot.
    case waiting
    /// A transfer was started and has not ended.
    case running
    /// The user paused the download.
    case paused
    /// The last attempt failed, and another one is scheduled.
    case failedRetryable = "failedR"
    /// The download failed and is not retried without a command.
    case failedPermanent = "failedP"
    /// The file is complete and has its final name.
    case completed
    /// The rename to the final name is logged, but not confirmed.
    case finalizing
    /// The user cancelled the download; the record is kept.
    case cancelled
    /// The user removed the download; the record is deleted once no task and no file is left.
    case removed
  }

  /// The state of the tasks that carry the record's id.
  package enum LiveTask: String, Sendable, Hashable, CaseIterable {
    /// There is no task.
    case none
    /// The task is running.
    case running
    /// The task is suspended.
    case suspended
    /// The task ended with a 2xx status and has delivered the file.
    case doneOK
    /// The task ended with another status.
    case doneBadStatus
    /// The task ended without the file, but with resume data.
    case errResume
    /// The task ended without the file and without resume data.
    case errNoResume
    /// The task was cancelled and has not reported its end.
    case canceling
    /// There are several tasks, and none of them has ended.
    case dupRunning
    /// There are several tasks, and one of them has ended.
    case dupDoneRunning

    /// Whether a task receives bytes, or would if it were resumed.
    package var isLive: Bool { self == .running || self == .suspended || self == .dupRunning }
  }

  /// The state of the record's resume data, which Apple's URLSession produces.
  package enum ResumeDataStatus: String, Sendable, Hashable, CaseIterable {
    /// The record has no resume data.
    case none
    /// A transport can use the resume data.
    case valid
    /// The resume data cannot be parsed, or its temporary file does not exist.
    case corrupt
    /// The validator or the URL in the resume data differs from the record's.
    case stale
  }

  /// The conditions that a decision depends on besides the five axes.
  package struct Conditions: Sendable, Hashable {
    /// Whether another download may run.
    package var hasFreeSlot: Bool
    /// Whether the transport accepts resume data, as Apple's does.
    package var takesResumeData: Bool
    /// Whether the finished file is to be deleted with its record.
    package var removesFile: Bool
    /// Whether a range may be requested.
    ///
    /// True if the record has a validator or a required digest, or if the policy allows it without.
    package var canContinue: Bool
    /// Whether the next retry is due.
    package var isRetryDue: Bool
    /// Whether the store has digests of the file's pieces, which show what the partial file can keep.
    package var hasPieceDigests: Bool
    /// Whether another program may have changed the partial file, and no required digest of the
    /// whole file would show that at the end.
    ///
    /// With digests of pieces, always whether the file may have changed: they also show where. True of a
    /// file with a second name, which must not be written to.
    package var isPartialChanged: Bool
    /// Whether a task of a previous process continues where the counted bytes end, or has delivered
    /// a body that is read again.
    package var continuesBytes: Bool

    /// Creates conditions; the defaults are those of the tables in `docs/reconciliation.md`.
    package init(
      hasFreeSlot: Bool = true,
      takesResumeData: Bool = true,
      removesFile: Bool = false,
      canContinue: Bool = true,
      isRetryDue: Bool = true,
      hasPieceDigests: Bool = false,
      isPartialChanged: Bool = false,
      continuesBytes: Bool = true
    ) {
      self.hasFreeSlot = hasFreeSlot
      self.takesResumeData = takesResumeData
      self.removesFile = removesFile
      self.canContinue = canContinue
      self.isRetryDue = isRetryDue
      self.hasPieceDigests = hasPieceDigests
      self.isPartialChanged = isPartialChanged
      self.continuesBytes = continuesBytes
    }
  }

  /// The stored state.
  package var stored: Stored
  /// The state of the task.
  package var task: LiveTask
  /// The state of the file with the final name.
  package var final: FileInspection.Final
  /// The state of the partial file.
  package var partial: FileInspection.Partial
  /// The state of the resume data.
  package var resumeData: ResumeDataStatus
  /// The other inputs.
  package var conditions: Conditions

  /// Creates a case.
  package init(
    stored: Stored,
    task: LiveTask = .none,
    final: FileInspection.Final = .missing,
    partial: FileInspection.Partial = .missing,
    resumeData: ResumeDataStatus = .none,
    conditions: Conditions = Conditions()
  ) {
    self.stored = stored
    self.task = task
    self.final = final
    self.partial = partial
    self.resumeData = resumeData
    self.conditions = conditions
  }

  /// Returns all 9,600 cases under the given conditions, ordered by the axes and their values.
  package static func all(_ conditions: Conditions = Conditions()) -> [Self] {
    var cases: [Self] = []
    cases.reserveCapacity(9_600)
    for stored in Stored.allCases {
      for task in LiveTask.allCases {
        for final in FileInspection.Final.allCases {
          for partial in FileInspection.Partial.allCases {
            for resumeData in ResumeDataStatus.allCases {
              cases.append(
                Self(
                  stored: stored,
                  task: task,
                  final: final,
                  partial: partial,
                  resumeData: resumeData,
                  conditions: conditions
                )
              )
            }
          }
        }
      }
    }
    return cases
  }
}
