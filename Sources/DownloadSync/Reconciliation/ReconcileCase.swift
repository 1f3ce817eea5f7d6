package import DownloadStore

/// Everything that reconciliation looks at, as one value without a clock, a disk or a network.
///
/// The values of the five axes have the words of `docs/reconciliation.md` as raw values.
package struct ReconcileCase: Sendable, Hashable {
  /// What the store says, a wish that is not carried out yet included.
  package enum Stored: String, Sendable, Hashable, CaseIterable {
    /// There is no such record.
    case none
    /// Runs when its turn comes.
    case waiting
    /// A transfer is under way.
    case running
    /// Stands still because somebody wanted it so.
    case paused
    /// Failed, and is tried again.
    case failedRetryable = "failedR"
    /// Failed, and is not tried again by itself.
    case failedPermanent = "failedP"
    /// The file is complete under its name.
    case completed
    /// The rename is logged and not confirmed.
    case finalizing
    /// Given up; the record is kept.
    case cancelled
    /// To be forgotten as soon as nothing of it is left.
    case removed
  }

  /// The task that works for the record, joined by the record's id.
  package enum LiveTask: String, Sendable, Hashable, CaseIterable {
    /// There is none.
    case none
    /// It runs.
    case running
    /// It is suspended.
    case suspended
    /// It ended with a 2xx, and the file is delivered.
    case doneOK
    /// It ended with another status.
    case doneBadStatus
    /// It broke, and left resume data.
    case errResume
    /// It broke, and left nothing.
    case errNoResume
    /// It was asked to end, and has not said that it has.
    case canceling
    /// There are several, none of which has ended.
    case dupRunning
    /// There are several, one of which has delivered the file.
    case dupDoneRunning

    /// Whether it moves bytes, or would if it were resumed.
    package var isLive: Bool { self == .running || self == .suspended || self == .dupRunning }
  }

  /// Resume data of Apple's URLSession that the record keeps.
  package enum ResumeDataStatus: String, Sendable, Hashable, CaseIterable {
    /// There is none.
    case none
    /// It can be used.
    case valid
    /// It cannot be read.
    case corrupt
    /// Its validator or its URL is not the record's.
    case stale
    /// The temporary file that it speaks of is gone.
    case temporaryFileMissing = "tempMissing"
  }

  /// What a decision depends on besides the record, its task and its files.
  package struct Conditions: Sendable, Hashable {
    /// Whether one more download may run.
    package var hasFreeSlot: Bool
    /// Whether the transport takes resume data, as Apple's does.
    package var takesResumeData: Bool
    /// Whether the finished file was asked to go with its record.
    package var removesFile: Bool
    /// Whether a range may be asked for.
    ///
    /// There is a validator, or a digest that will tell, or the policy allows it without.
    package var canContinue: Bool
    /// Whether the time of the next try has come.
    package var isRetryDue: Bool

    /// States facts; the usual ones are those of the table in the documentation.
    package init(
      hasFreeSlot: Bool = true,
      takesResumeData: Bool = true,
      removesFile: Bool = false,
      canContinue: Bool = true,
      isRetryDue: Bool = true
    ) {
      self.hasFreeSlot = hasFreeSlot
      self.takesResumeData = takesResumeData
      self.removesFile = removesFile
      self.canContinue = canContinue
      self.isRetryDue = isRetryDue
    }
  }

  /// What the store says.
  package var stored: Stored
  /// The task.
  package var task: LiveTask
  /// The file under the finished name.
  package var final: FileInspection.Final
  /// The partial file.
  package var partial: FileInspection.Partial
  /// The resume data.
  package var resumeData: ResumeDataStatus
  /// The rest.
  package var conditions: Conditions

  /// States a case.
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

  /// Every case with those facts, 12,000 of them, in the order of the axes and their values.
  package static func all(_ conditions: Conditions = Conditions()) -> [Self] {
    var cases: [Self] = []
    cases.reserveCapacity(12_000)
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
