internal import DownloadStore

extension ReconcileTable {
  /// The rules that engines apply: those of every transport and those of a ``BackgroundTransport``,
  /// in the order of their names.
  package static let standard = ReconcileTable(
    rules: inOrder(core.rules + background.rules, by: \.id),
    planRules: inOrder(core.planRules + background.planRules, by: \.id)
  )

  /// The rules that an engine reaches with every transport.
  package static let core = ReconcileTable(
    rules: discarded + ownerless + complete + named + renaming + withTask + withoutTask,
    planRules: TransferPlan.Rule.core
  )

  /// Returns rules of two tables in the order in which they are evaluated.
  private static func inOrder<Rule, ID: CaseIterable & Hashable>(
    _ rules: [Rule],
    by id: (Rule) -> ID
  ) -> [Rule] {
    ID.allCases.compactMap { wanted in rules.first { id($0) == wanted } }
  }

  // The last stored command wins, even if the transfer has completed at the same time.
  private static let discarded = [
    ReconcileRule(
      .x1,
      "removed",
      ReconcilePattern(stored: [.removed]),
      does: [
        .cancelTask, .deleteDelivered, .deletePartial, .dropResumeData, .deleteFinal, .deleteRecord,
      ],
      then: .goes
    ),
    ReconcileRule(
      .x2,
      "cancelled",
      ReconcilePattern(stored: [.cancelled]),
      does: [.cancelTask, .deleteDelivered, .deletePartial, .dropResumeData],
      then: .becomes(.state(.cancelled))
    ),
  ]

  private static let ownerless = [
    ReconcileRule(
      .n4,
      "none + partial",
      ReconcilePattern(
        stored: [.none],
        partial: FileInspection.Partial.allCases.filter { $0 != .missing }
      ),
      does: [.collectOrphan],
      then: .becomes(.state(.none))
    )
  ]

  private static let complete = [
    ReconcileRule(
      .c1,
      "completed, final ours",
      ReconcilePattern(stored: [.completed], final: [.ours]),
      does: [.cancelTask, .deleteDelivered, .deletePartial, .dropResumeData],
      then: .becomes(.state(.completed))
    ),
    // C2 and C3 also cover a directory entry that was lost in a power failure.
    ReconcileRule(
      .c2,
      "completed, final missing, doneOK",
      ReconcilePattern(stored: [.completed], task: [.doneOK], final: [.missing]),
      does: [.placeDelivered],
      then: .becomes(.placed)
    ),
    ReconcileRule(
      .c3,
      "completed, final missing, partial complete",
      ReconcilePattern(stored: [.completed], final: [.missing], partial: [.complete]),
      does: [.cancelTask, .placePartial],
      then: .becomes(.placed)
    ),
    // Users move finished files, so a launch must not download a missing one again.
    ReconcileRule(
      .c4,
      "completed, final missing, else",
      ReconcilePattern(stored: [.completed], final: [.missing]),
      does: [.cancelTask, .deleteDelivered, .deletePartial, .dropResumeData],
      then: .becomes(.completedMissing)
    ),
    ReconcileRule(
      .c5,
      "completed, final altered",
      ReconcilePattern(stored: [.completed], final: .foreign),
      does: [.cancelTask, .deleteDelivered, .deletePartial, .dropResumeData],
      then: .becomes(.completedModified)
    ),
  ]

  private static let named = [
    // The process was killed between the rename and its commit.
    ReconcileRule(
      .a1,
      "any unfinished state, final ours",
      ReconcilePattern(stored: ReconcileCase.Stored.unfinished, final: [.ours]),
      does: [.commitCompleted, .cancelTask, .deleteDelivered, .deletePartial, .dropResumeData],
      then: .becomes(.state(.completed))
    ),
    // A file of the right size but with another identity is foreign too.
    ReconcileRule(
      .a2,
      "any unfinished state, final foreign",
      ReconcilePattern(stored: ReconcileCase.Stored.unfinished, final: .foreign),
      does: [.chooseName],
      then: .continues(keeping: nil)
    ),
  ]

  private static let renaming = [
    // The partial file has all bytes, so a live task is not needed.
    ReconcileRule(
      .f1,
      "finalizing, partial complete",
      ReconcilePattern(stored: [.finalizing], partial: [.complete]),
      does: [.cancelTask, .redoRename],
      then: .becomes(.placed)
    ),
    ReconcileRule(
      .f2,
      "finalizing, doneOK",
      ReconcilePattern(stored: [.finalizing], task: [.doneOK]),
      does: [.placeDelivered],
      then: .becomes(.placed)
    ),
    ReconcileRule(
      .f4,
      "finalizing, live task",
      ReconcilePattern(stored: [.finalizing], task: .live),
      does: [.adopt, .resumeTask, .dropResumeData],
      then: .becomes(.state(.running))
    ),
    ReconcileRule(
      .f3,
      "finalizing, nothing left",
      ReconcilePattern(stored: [.finalizing]),
      does: [.plan],
      then: .becomes(.state(.waiting))
    ),
  ]

  private static let withTask = [
    // A pause only stops network use, so a paused download is completed too.
    ReconcileRule(
      .t1,
      "waiting, running, paused or failed; doneOK",
      ReconcilePattern(stored: ReconcileCase.Stored.transferring, task: [.doneOK]),
      does: [.placeDelivered, .dropResumeData],
      then: .becomes(.placed)
    ),
    ReconcileRule(
      .t2,
      "same, doneBadStatus",
      ReconcilePattern(stored: ReconcileCase.Stored.transferring, task: [.doneBadStatus]),
      does: [.classifyStatus],
      then: .fails(ReconcileCase.Stored.wantsToRun)
    ),
    ReconcileRule(
      .t4,
      "same, errNoResume",
      ReconcilePattern(stored: ReconcileCase.Stored.transferring, task: [.errNoResume]),
      does: [.planFromPartial],
      then: .fails([.running])
    ),
    // `running` is committed before the task is created. A waiting download with a task was
    // therefore preempted, but its task was not cancelled, or the store is an older copy. The
    // task's bytes are valid in both cases.
    ReconcileRule(
      .t6,
      "running, or waiting/failedR with a free slot; live task",
      ReconcilePattern(stored: [.running], task: [.running]),
      ReconcilePattern(stored: [.waiting, .failedRetryable], task: [.running], hasFreeSlot: true),
      does: [.adopt, .dropResumeData],
      then: .becomes(.state(.running))
    ),
    // The task is cancelled, not suspended: a suspended task keeps its slot, and cannot always be
    // resumed later.
    ReconcileRule(
      .t8,
      "paused/failedP, live task",
      ReconcilePattern(stored: [.paused, .failedPermanent], task: .live),
      does: [.cancelProducingResumeData],
      then: .stays
    ),
  ]

  private static let withoutTask = [
    // A killed process is not a failed attempt.
    ReconcileRule(
      .z1,
      "running, no task",
      ReconcilePattern(stored: [.running], task: [.none]),
      does: [.plan],
      then: .becomes(.waitingFirst)
    ),
    ReconcileRule(
      .z2,
      "waiting, no task; plan when its slot comes",
      ReconcilePattern(stored: [.waiting], task: [.none]),
      does: [.plan],
      then: .becomes(.state(.waiting))
    ),
    ReconcileRule(
      .z3,
      "failedR, no task; when nextRetryAt is due and attempts left",
      ReconcilePattern(stored: [.failedRetryable], task: [.none]),
      does: [.plan],
      then: .whenDue(.state(.waiting))
    ),
    // A launch costs nothing for these downloads; their files matter when the user resumes them.
    ReconcileRule(
      .z4,
      "paused/failedP, no task",
      ReconcilePattern(stored: [.paused, .failedPermanent], task: [.none]),
      does: [],
      then: .stays
    ),
  ]
}
