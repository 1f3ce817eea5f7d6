import DownloadStore
import TestSupport
import Testing

@testable import DownloadSync

/// The rows of the rule table that can occur without resume data, each by an example.
@Suite struct ReconcilerTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var given: ReconcileCase
    var rules: [ReconcileRule]
    var actions: [ReconcileAction]
    var result: DownloadState?
    var plan: TransferPlan?

    var testDescription: String { name }

    init(
      _ name: String,
      _ given: ReconcileCase,
      _ rules: [ReconcileRule],
      doing actions: [ReconcileAction] = [],
      _ result: DownloadState?,
      _ plan: TransferPlan? = nil
    ) {
      self.name = name
      self.given = given
      self.rules = rules
      self.actions = actions
      self.result = result
      self.plan = plan
    }
  }

  private static func of(
    _ stored: DownloadState?,
    _ intent: DownloadIntent = .run,
    task: ReconcileCase.LiveTask = .none,
    final: FileFacts.Final = .missing,
    partial: FileFacts.Partial = .missing,
    canContinue: Bool = true
  ) -> ReconcileCase {
    ReconcileCase(
      stored: stored,
      intent: intent,
      task: task,
      final: final,
      partial: partial,
      canContinue: canContinue
    )
  }

  static let rows: [Row] = [
    // What somebody wants gone.
    Row(
      "X1: removed while it runs",
      of(.removed, .discard, task: .running, partial: .equal),
      [.discardEverything],
      doing: [.cancelTask, .deletePartial, .deleteRecord],
      nil
    ),
    Row(
      "X1: to be discarded, finished: the file stays",
      of(.completed, .discard, final: .ours),
      [.discardEverything],
      doing: [.deleteRecord],
      nil
    ),
    Row(
      "X2: cancelled while it runs",
      of(.cancelled, .keep, task: .running, partial: .longer),
      [.keepRecordOnly],
      doing: [.cancelTask, .deletePartial],
      .cancelled
    ),
    Row(
      "X2: to be kept, about to be renamed",
      of(.finalizing, .keep, partial: .complete),
      [.keepRecordOnly],
      doing: [.deletePartial],
      .cancelled
    ),
    Row(
      "X2: to be kept, delivered already: the file stays",
      of(.running, .keep, final: .ours),
      [.keepRecordOnly],
      doing: [],
      .cancelled
    ),
    // What belongs to no record.
    Row(
      "N1: a task of no record",
      of(nil, task: .running),
      [.orphanTask],
      doing: [.cancelTask],
      nil
    ),
    Row("N4: a partial file of no record", of(nil, partial: .longer), [.orphanPartial], nil),
    Row(
      "N1, N4: both",
      of(nil, task: .running, partial: .equal),
      [.orphanTask, .orphanPartial],
      doing: [.cancelTask],
      nil
    ),
    Row("nothing at all", of(nil), [], nil),
    // What is complete.
    Row("C1: as it should be", of(.completed, final: .ours), [.completedPresent], .completed),
    Row(
      "C1: with leftovers",
      of(.completed, task: .running, final: .ours, partial: .complete),
      [.completedPresent],
      doing: [.cancelTask, .deletePartial],
      .completed
    ),
    Row(
      "C3: the folder lost the name",
      of(.completed, partial: .complete),
      [.completedFromPartial],
      doing: [.placePartial],
      .completed
    ),
    Row("C4: the file is gone", of(.completed), [.completedMissing], .completed),
    Row(
      "C4: gone, and some bytes of no use are left",
      of(.completed, partial: .shorter),
      [.completedMissing],
      doing: [.deletePartial],
      .completed
    ),
    Row(
      "C5: another file is in its place",
      of(.completed, final: .foreign),
      [.completedModified],
      .completed
    ),
    // Content that is ours, names that are not.
    Row(
      "A1: renamed, and killed before that was committed",
      of(.finalizing, final: .ours),
      [.alreadyOurs],
      doing: [.commitCompleted],
      .completed
    ),
    Row(
      "A1: under both names",
      of(.finalizing, final: .ours, partial: .complete),
      [.alreadyOurs],
      doing: [.deletePartial, .commitCompleted],
      .completed
    ),
    Row(
      "A1: paused, and ours all the same",
      of(.paused, .hold, final: .ours),
      [.alreadyOurs],
      doing: [.commitCompleted],
      .completed
    ),
    Row(
      "A2: somebody has taken the name",
      of(.waiting, final: .foreign, partial: .equal),
      [.nameTaken, .waitForTurn, .continuePartial],
      doing: [.chooseName],
      .waiting,
      .range
    ),
    Row(
      "A2, F1: taken while it was about to be renamed",
      of(.finalizing, final: .foreign, partial: .complete),
      [.nameTaken, .finishRename],
      doing: [.chooseName, .placePartial],
      .completed,
      .finalize
    ),
    // What is about to be renamed.
    Row(
      "F1: killed before the rename",
      of(.finalizing, partial: .complete),
      [.finishRename],
      doing: [.placePartial],
      .completed,
      .finalize
    ),
    Row(
      "F3: the bytes are gone",
      of(.finalizing),
      [.finalizingLost, .noPartial],
      .waiting,
      .zero
    ),
    Row(
      "F3: gone, and held",
      of(.finalizing, .hold, partial: .shorter),
      [.finalizingLost],
      .paused
    ),
    Row(
      "F4: a task runs",
      of(.finalizing, task: .running, partial: .longer),
      [.finalizingLive],
      .running
    ),
    // Live tasks.
    Row("T6: as it should be", of(.running, task: .running, partial: .longer), [.adopt], .running),
    Row("T6: waiting is adopted", of(.waiting, task: .running), [.adopt], .running),
    Row("T6: to be retried is adopted", of(.failedRetryable, task: .running), [.adopt], .running),
    Row(
      "T8: paused",
      of(.paused, .hold, task: .running, partial: .longer),
      [.stopTask],
      doing: [.cancelTask],
      .paused
    ),
    Row(
      "T8: failed for good",
      of(.failedPermanent, task: .running),
      [.stopTask],
      doing: [.cancelTask],
      .failedPermanent
    ),
    Row(
      "T8: running, and to be held",
      of(.running, .hold, task: .running),
      [.stopTask],
      doing: [.cancelTask],
      .paused
    ),
    // No task.
    Row(
      "Z1: killed while it ran",
      of(.running, partial: .longer),
      [.interrupted, .cutLonger],
      .waiting,
      .range
    ),
    Row("Z1: killed, and to be held", of(.running, .hold, partial: .longer), [.leave], .paused),
    Row("Z2: its turn will come", of(.waiting), [.waitForTurn, .noPartial], .waiting, .zero),
    Row(
      "Z3: its next try will come",
      of(.failedRetryable, partial: .equal),
      [.waitForRetry, .continuePartial],
      .failedRetryable,
      .range
    ),
    Row("Z4: paused stays paused", of(.paused, .hold, partial: .complete), [.leave], .paused),
    Row(
      "Z4: failed for good stays so",
      of(.failedPermanent, partial: .over),
      [.leave],
      .failedPermanent
    ),
    // Where the next byte comes from.
    Row(
      "P1: all bytes are there",
      of(.waiting, partial: .complete, canContinue: false),
      [.waitForTurn, .allBytesThere],
      .waiting,
      .finalize
    ),
    Row(
      "P9: something cut the file",
      of(.waiting, partial: .shorter),
      [.waitForTurn, .distrustShorter],
      .waiting,
      .zero
    ),
    Row(
      "P10: longer than the whole",
      of(.waiting, partial: .over),
      [.waitForTurn, .cutOver],
      .waiting,
      .range
    ),
    Row(
      "P11: no validator and no digest",
      of(.waiting, partial: .equal, canContinue: false),
      [.waitForTurn, .cannotContinue],
      .waiting,
      .zero
    ),
  ]

  @Test(arguments: rows) func `a row of the table`(row: Row) {
    let decision = Reconciler.decide(row.given)
    #expect(
      decision
        == ReconcileDecision(
          rules: row.rules,
          actions: row.actions,
          result: row.result,
          plan: row.plan
        )
    )
  }

  @Test func `every rule has an example`() {
    #expect(Set(Self.rows.flatMap(\.rules)) == Set(ReconcileRule.allCases))
  }

  @Test func `the names of the rules are those of the table`() {
    #expect(Set(ReconcileRule.allCases.map(\.rawValue)).count == ReconcileRule.allCases.count)
  }
}
