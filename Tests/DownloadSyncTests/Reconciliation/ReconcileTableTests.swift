import DownloadStore
import Testing

@testable import DownloadSync

/// An example of each row of the table, and the cases in which a row is easily wrong.
@Suite struct ReconcileTableTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var given: ReconcileCase
    var rules: String
    var actions: String
    var result: String
    var plan: String

    var testDescription: String { "\(rules) \(plan): \(given)" }
  }

  /// A row in the terms of the table: a case as `stored task final partial resumeData`, whose last parts
  /// can be omitted, and its decision.
  static func row(
    _ words: String,
    _ rules: String,
    _ actions: String,
    _ result: String,
    _ plan: String = "",
    conditions: ReconcileCase.Conditions = ReconcileCase.Conditions()
  ) -> Row {
    let words = words.split(separator: " ").map(String.init)
    func value<Value: RawRepresentable<String>>(_ index: Int, _ usual: Value) -> Value {
      guard words.indices.contains(index) else { return usual }
      guard let value = Value(rawValue: words[index]) else {
        preconditionFailure("\(words[index]) is not a term of the table")
      }
      return value
    }
    return Row(
      given: ReconcileCase(
        stored: value(0, .none),
        task: value(1, .none),
        final: value(2, .missing),
        partial: value(3, .missing),
        resumeData: value(4, .none),
        conditions: conditions
      ),
      rules: rules,
      actions: actions,
      result: result,
      plan: plan
    )
  }

  private static let noSlot = ReconcileCase.Conditions(hasFreeSlot: false)
  static let noResumeData = ReconcileCase.Conditions(takesResumeData: false)
  private static let withFile = ReconcileCase.Conditions(removesFile: true)
  static let unvouched = ReconcileCase.Conditions(canContinue: false)
  static let withPieces = ReconcileCase.Conditions(hasPieceDigests: true)
  static let changed = ReconcileCase.Conditions(isPartialChanged: true)
  static let changedPieces = ReconcileCase.Conditions(
    hasPieceDigests: true,
    isPartialChanged: true
  )
  private static let early = ReconcileCase.Conditions(isRetryDue: false)
  private static let misplaced = ReconcileCase.Conditions(continuesBytes: false)

  static let rows =
    several + discarded + ownerless + complete + named + renaming + tasks + rest + plans

  private static let several = [
    row(
      "running dupRunning",
      "D1+T6",
      "keep the one with most bytes; cancel others without resume data; adopt",
      "running"
    ),
    row(
      "paused dupRunning missing equal",
      "D1+T8",
      "keep the one with most bytes; cancel others without resume data; cancel producing resume data",
      "paused"
    ),
    row(
      "running dupDoneRunning mismatch",
      "D2+A2+T1",
      "keep the finished; cancel others without resume data; choose the name again at finalise; "
        + "place the delivered file",
      "finalizing → completed"
    ),
    row(
      "running running missing equal",
      "D3+Z1",
      "cancel task; plan",
      "waiting at the head of its priority",
      "P7 range",
      conditions: misplaced
    ),
    row("paused doneOK", "D3+Z4", "delete delivered", "paused", conditions: misplaced),
  ]

  private static let discarded = [
    row(
      "removed none ours equal valid",
      "X1",
      "delete partial; drop resume data; delete record",
      "none"
    ),
    row("removed none ours", "X1", "delete final; delete record", "none", conditions: withFile),
    row("removed none mismatch", "X1", "delete record", "none", conditions: withFile),
    row("removed running missing longer", "X1", "cancel task; delete partial", "removed(pending)"),
    row("removed canceling", "X1", "", "removed(pending)"),
    row("removed doneOK", "X1", "delete delivered; delete record", "none"),
    row(
      "cancelled suspended ours over stale",
      "X2",
      "cancel task; delete partial; drop resume data",
      "cancelled",
      conditions: withFile
    ),
    row("cancelled doneBadStatus", "X2", "delete delivered", "cancelled"),
  ]

  private static let ownerless = [
    row("none", "", "", "none"),
    row("none errNoResume", "", "", "none"),
    row("none doneBadStatus", "", "", "none"),
    row("none running missing equal valid", "N1", "cancel task", "none"),
    row("none canceling", "N2", "wait for the callback", "none"),
    row("none doneOK", "N3", "delete delivered", "none"),
    row("none none mismatch complete valid", "N4", "delete after a minute, unless locked", "none"),
    row("none none ours missing corrupt", "", "", "none"),
  ]

  private static let complete = [
    row("completed none ours", "C1", "", "completed"),
    row(
      "completed running ours complete valid",
      "C1",
      "cancel task; delete partial; drop resume data",
      "completed"
    ),
    row(
      "completed doneOK missing complete",
      "C2",
      "place the delivered file",
      "finalizing → completed"
    ),
    row("completed none missing complete", "C3", "place the partial", "finalizing → completed"),
    row(
      "completed none missing equal",
      "C4",
      "delete partial",
      "completed (localPath nil)"
    ),
    row("completed running", "C4", "cancel task", "completed (localPath nil)"),
    row(
      "completed none sizeOnly missing valid",
      "C5",
      "drop resume data",
      "completed (modified)"
    ),
    row(
      "completed doneOK mismatch complete",
      "C5",
      "delete delivered; delete partial",
      "completed (modified)"
    ),
  ]

  private static let named = [
    row("finalizing none ours complete", "A1", "commit completed; delete partial", "completed"),
    row("paused none ours", "A1", "commit completed", "completed"),
    row("running running ours", "A1", "commit completed; cancel task", "completed"),
    row(
      "waiting none sizeOnly equal",
      "A2+Z2",
      "choose the name again at finalise; plan",
      "waiting",
      "P7 range"
    ),
    row(
      "finalizing none mismatch complete",
      "A2+F1",
      "choose the name again at finalise; redo the rename",
      "finalizing → completed"
    ),
    row("failedP none mismatch", "A2+Z4", "choose the name again at finalise", "failedP"),
  ]

  private static let renaming = [
    row("finalizing none missing complete", "F1", "redo the rename", "finalizing → completed"),
    row(
      "finalizing running missing complete",
      "F1",
      "cancel task; redo the rename",
      "finalizing → completed"
    ),
    row(
      "finalizing doneOK missing longer",
      "F2",
      "place the delivered file",
      "finalizing → completed"
    ),
    row(
      "finalizing none missing equal",
      "F3",
      "plan",
      "waiting",
      "P7 range"
    ),
    row(
      "finalizing doneBadStatus",
      "F3",
      "plan",
      "waiting",
      "P6 zero"
    ),
    row(
      "finalizing running missing missing valid",
      "F4",
      "adopt; drop resume data",
      "running",
      conditions: noSlot
    ),
    row("finalizing suspended", "F4", "adopt; resume it", "running"),
    row("finalizing canceling", "F5", "wait for the callback", "finalizing(pending)"),
    row(
      "finalizing errResume missing equal corrupt",
      "F6",
      "store resume data; plan",
      "waiting",
      "P2 resumeData"
    ),
  ]

  private static let tasks = [
    row(
      "paused doneOK missing longer valid",
      "T1",
      "place the delivered file; drop resume data",
      "finalizing → completed"
    ),
    row("waiting doneBadStatus", "T2", "classify status", "waiting or failed"),
    row("failedP doneBadStatus", "T2", "", "failedP"),
    row("running errResume missing missing stale", "T3", "store resume data", "waiting or failed"),
    row("waiting errResume", "T3", "store resume data", "waiting"),
    row("paused errResume", "T3", "store resume data", "paused"),
    row(
      "running errNoResume missing longer valid",
      "T4",
      "",
      "waiting or failed"
    ),
    row("failedR errNoResume", "T4", "plan from partial", "failedR", "P6 zero"),
    row("paused errNoResume missing longer", "T4", "", "paused"),
    row("running canceling", "T5", "wait for the callback", "running(pending)"),
    row(
      "running running missing longer valid",
      "T6",
      "adopt; drop resume data",
      "running",
      conditions: noSlot
    ),
    row("waiting running", "T6", "adopt", "running"),
    row("failedR running", "T6", "adopt", "running", conditions: early),
    row("waiting suspended", "T7", "adopt; resume it", "running"),
    row("paused suspended", "T8", "cancel producing resume data", "paused"),
    row("failedP running", "T8", "cancel producing resume data", "failedP"),
    row("waiting running", "T9", "cancel producing resume data", "waiting", conditions: noSlot),
    row("failedR suspended", "T9", "cancel producing resume data", "failedR", conditions: noSlot),
  ]

  private static let rest = [
    row(
      "running none missing longer",
      "Z1",
      "plan",
      "waiting at the head of its priority",
      "P8 truncate to the committed bytes, range",
      conditions: noSlot
    ),
    row("waiting", "Z2", "plan", "waiting", "P6 zero"),
    row("waiting none missing equal", "Z2", "", "waiting", conditions: noSlot),
    row("failedR none missing equal", "Z3", "plan", "waiting", "P7 range", conditions: noSlot),
    row("failedR none missing equal", "Z3", "", "failedR", conditions: early),
    row("paused none missing complete stale", "Z4", "", "paused"),
  ]

  @Test(arguments: rows) func `a row of the table`(row: Row) {
    let decision = Reconciler.decide(row.given)
    #expect(decision.rules.map(\.rawValue).joined(separator: "+") == row.rules)
    #expect(decision.actions.map(\.rawValue).joined(separator: "; ") == row.actions)
    #expect(decision.result.description == row.result)
    let plan = decision.plan.map { plan in
      let steps = plan.actions.map(\.rawValue) + [plan.source.rawValue]
      return plan.rules.map(\.rawValue).joined(separator: "+") + " "
        + steps.joined(separator: ", ")
    }
    #expect(plan ?? "" == row.plan)
  }

  @Test func `every rule has an example`() {
    let decisions = Self.rows.map { Reconciler.decide($0.given) }
    #expect(Set(decisions.flatMap(\.rules)) == Set(ReconcileRule.ID.allCases))
    #expect(
      Set(decisions.flatMap { $0.plan?.rules ?? [] }) == Set(TransferPlan.Rule.ID.allCases)
    )
  }
}
