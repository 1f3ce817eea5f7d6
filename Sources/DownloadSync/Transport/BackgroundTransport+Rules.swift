internal import DownloadStore

extension ReconcileTable {
  /// The rules that only an engine with a ``BackgroundTransport`` reaches: about tasks that a
  /// previous process left (D1 to T9), and about resume data (P2 to P4).
  ///
  /// A task that has ended counts as `doneOK` if it has delivered a body, and otherwise as
  /// `canceling`: the engine adopts it to learn its result.
  package static let background = ReconcileTable(
    rules: several + ownerless + renaming + withTask,
    planRules: TransferPlan.Rule.background
  )

  private static let several = [
    ReconcileRule(
      .d1,
      "two live tasks or more, none finished",
      ReconcilePattern(task: [.dupRunning]),
      does: [.keepMostBytes, .cancelOthers],
      then: .continues(keeping: .running)
    ),
    ReconcileRule(
      .d2,
      "two tasks or more, one ended",
      ReconcilePattern(task: [.dupDoneRunning]),
      does: [.keepFinished, .cancelOthers],
      then: .continues(keeping: .doneOK)
    ),
    // The bytes before the task's would be missing, or come twice.
    ReconcileRule(
      .d3,
      "the task does not continue the bytes on disk",
      ReconcilePattern(task: .live + [.doneOK, .canceling], continuesBytes: false),
      does: [.cancelTask, .deleteDelivered],
      then: .continues(keeping: ReconcileCase.LiveTask.none)
    ),
  ]

  private static let ownerless = [
    ReconcileRule(
      .n1,
      "none + live task with our tag",
      ReconcilePattern(stored: [.none], task: .live),
      does: [.cancelTask],
      then: .becomes(.state(.none))
    ),
    ReconcileRule(
      .n2,
      "none + canceling",
      ReconcilePattern(stored: [.none], task: [.canceling]),
      does: [.wait],
      then: .becomes(.state(.none))
    ),
    ReconcileRule(
      .n3,
      "none + delivered file",
      ReconcilePattern(stored: [.none], task: [.doneOK]),
      does: [.deleteDelivered],
      then: .becomes(.state(.none))
    ),
  ]

  private static let renaming = [
    ReconcileRule(
      .f5,
      "finalizing, canceling",
      ReconcilePattern(stored: [.finalizing], task: [.canceling]),
      does: [.wait],
      then: .staysPending
    ),
    ReconcileRule(
      .f6,
      "finalizing, errResume",
      ReconcilePattern(stored: [.finalizing], task: [.errResume]),
      does: [.storeResumeData, .plan],
      then: .becomes(.state(.waiting))
    ),
  ]

  private static let withTask = [
    ReconcileRule(
      .t3,
      "same, errResume",
      ReconcilePattern(stored: ReconcileCase.Stored.transferring, task: [.errResume]),
      does: [.storeResumeData],
      then: .fails([.running])
    ),
    ReconcileRule(
      .t5,
      "same, canceling",
      ReconcilePattern(stored: ReconcileCase.Stored.transferring, task: [.canceling]),
      does: [.wait],
      then: .staysPending
    ),
    ReconcileRule(
      .t7,
      "as T6, suspended",
      ReconcilePattern(stored: [.running], task: [.suspended]),
      ReconcilePattern(
        stored: [.waiting, .failedRetryable],
        task: [.suspended],
        hasFreeSlot: true
      ),
      does: [.adopt, .resumeTask, .dropResumeData],
      then: .becomes(.state(.running))
    ),
    ReconcileRule(
      .t9,
      "waiting/failedR, live task, no slot",
      ReconcilePattern(stored: [.waiting, .failedRetryable], task: .live, hasFreeSlot: false),
      does: [.cancelProducingResumeData],
      then: .stays
    ),
  ]
}

extension TransferPlan.Rule {
  /// The rules about resume data, which only a ``BackgroundTransport`` produces.
  static let background = [
    Self(
      .p2,
      "resume data valid",
      ReconcilePattern(resumeData: [.valid], takesResumeData: true),
      from: .resumeData
    ),
    Self(
      .p3,
      "resume data corrupt",
      ReconcilePattern(resumeData: [.corrupt]),
      does: [.dropResumeData],
      from: nil
    ),
    // The resume data and the partial file belong to an old version of the file, and two versions
    // are never mixed.
    Self(
      .p4,
      "resume data stale",
      ReconcilePattern(resumeData: [.stale]),
      does: [.dropResumeData, .deletePartial],
      from: .zero
    ),
  ]
}

extension ReconcileCase {
  /// The transports with which an engine may meet a case.
  package enum Reach: String, Sendable, Hashable, CaseIterable {
    case everyTransport = "every transport"
    case backgroundTransports = "background transports"
  }

  /// The transports with which an engine may meet the case, given its decision.
  package func reach(_ decision: ReconcileDecision) -> Reach {
    let isCore =
      LiveTask.ofEveryTransport.contains(task) && resumeData == .none
      && decision.rules.allSatisfy { id in ReconcileTable.core.rules.contains { $0.id == id } }
    return isCore ? .everyTransport : .backgroundTransports
  }
}

extension ReconcileCase.LiveTask {
  /// The values with every transport: those of transfers of this process.
  ///
  /// Tasks of a previous process, and tasks that leave resume data, exist only with a
  /// ``BackgroundTransport``.
  package static let ofEveryTransport: [Self] = [
    .none, .running, .doneOK, .doneBadStatus, .errNoResume,
  ]
}
