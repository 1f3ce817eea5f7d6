import DownloadStore
import Testing

@testable import DownloadSync

/// Checks every case under all facts.
@Suite struct ReconcileInvariantTests {
  @Test func `there are 9,600 distinct cases`() {
    let cases = ReconcileCase.all()
    #expect(cases.count == 10 * 10 * 4 * 6 * 4)
    #expect(Set(cases).count == 9_600)
  }

  @Test(arguments: ReconcileCase.Conditions.all)
  func `the invariants hold for every case, and the effects agree with each decision`(
    conditions: ReconcileCase.Conditions
  ) {
    var contradiction: String?
    let broken = ReconcileTable.standard.broken([conditions]) { given, decision in
      guard contradiction == nil else { return }
      contradiction = decision.effects.contradiction(of: decision, given)
    }
    #expect(broken == [:])
    #expect(contradiction == nil)
  }

  @Test func `every rule applies to a case, and every action belongs to a rule`() {
    var rules: Set<ReconcileRule.ID> = []
    var plans: Set<TransferPlan.Rule.ID> = []
    var actions: Set<ReconcileAction> = []
    var sources: Set<TransferPlan.Source> = []
    for conditions in [
      ReconcileCase.Conditions(), ReconcileCase.Conditions(hasFreeSlot: false, removesFile: true),
      ReconcileCase.Conditions(hasPieceDigests: true),
      ReconcileCase.Conditions(hasPieceDigests: true, isPartialChanged: true),
      ReconcileCase.Conditions(isPartialChanged: true),
      ReconcileCase.Conditions(continuesBytes: false),
    ] {
      for given in ReconcileCase.all(conditions) {
        let decision = Reconciler.decide(given)
        rules.formUnion(decision.rules)
        actions.formUnion(decision.actions)
        guard let plan = decision.plan else { continue }
        plans.formUnion(plan.rules)
        actions.formUnion(plan.actions)
        sources.insert(plan.source)
      }
    }
    #expect(rules == Set(ReconcileRule.ID.allCases))
    #expect(plans == Set(TransferPlan.Rule.ID.allCases))
    #expect(actions == Set(ReconcileAction.allCases))
    #expect(sources == Set(TransferPlan.Source.allCases))
  }

  @Test func `each rule belongs to one of the two tables`() {
    let (core, background) = (ReconcileTable.core, ReconcileTable.background)
    let rules = core.rules.map(\.id) + background.rules.map(\.id)
    #expect(rules.count == ReconcileRule.ID.allCases.count)
    #expect(Set(rules) == Set(ReconcileRule.ID.allCases))
    let plans = core.planRules.map(\.id) + background.planRules.map(\.id)
    #expect(plans.count == TransferPlan.Rule.ID.allCases.count)
    #expect(Set(plans) == Set(TransferPlan.Rule.ID.allCases))
  }

  @Test func `a task that does not continue the bytes on disk counts as none`() {
    for given in ReconcileCase.all(ReconcileCase.Conditions(continuesBytes: false))
    where [.running, .suspended, .doneOK, .canceling].contains(given.task) {
      let decision = Reconciler.decide(given)
      var other = given
      other.task = .none
      let alone = Reconciler.decide(other)
      #expect(decision.rules == [.d3] + alone.rules && decision.result == alone.result, "\(given)")
      #expect(decision.effects.task == (given.task == .canceling ? .keep : .cancel), "\(given)")
    }
  }

  @Test func `each rule is evaluated once, in the documented order`() {
    #expect(ReconcileTable.standard.rules.map(\.id) == ReconcileRule.ID.allCases)
    #expect(ReconcileTable.standard.planRules.map(\.id) == TransferPlan.Rule.ID.allCases)
  }

  @Test func `a foreign file changes only the chosen filename`() {
    for given in ReconcileCase.all() where given.final == .mismatch {
      var other = given
      other.final = .sizeOnly
      #expect(Reconciler.decide(given) == Reconciler.decide(other), "\(given)")
      other.final = .missing
      var taken = Reconciler.decide(given)
      taken.rules.removeAll { $0 == .a2 }
      taken.actions.removeAll { $0 == .chooseName }
      if given.stored != .completed { #expect(taken == Reconciler.decide(other), "\(given)") }
    }
  }
}
