import DownloadStore
import Testing

@testable import DownloadSync

/// Breaks the table in one place at a time; the invariants must detect it.
@Suite struct ReconcileMutationTests {
  struct Mutation: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var breaks: ReconcileInvariant
    var mutate: @Sendable (inout ReconcileTable) -> Void

    init(
      _ name: String,
      _ breaks: ReconcileInvariant,
      _ mutate: @escaping @Sendable (inout ReconcileTable) -> Void
    ) {
      testDescription = name
      self.breaks = breaks
      self.mutate = mutate
    }

    /// Returns a mutation of one rule.
    static func of(
      _ id: ReconcileRule.ID,
      _ name: String,
      _ breaks: ReconcileInvariant,
      _ change: @escaping @Sendable (inout ReconcileRule) -> Void
    ) -> Self {
      Self("\(id.rawValue) \(name)", breaks) { table in
        guard let index = table.rules.firstIndex(where: { $0.id == id }) else { return }
        change(&table.rules[index])
      }
    }

    /// Returns a mutation of one planning rule.
    static func of(
      _ id: TransferPlan.Rule.ID,
      _ name: String,
      _ breaks: ReconcileInvariant,
      _ change: @escaping @Sendable (inout TransferPlan.Rule) -> Void
    ) -> Self {
      Self("\(id.rawValue) \(name)", breaks) { table in
        guard let index = table.planRules.firstIndex(where: { $0.id == id }) else { return }
        change(&table.planRules[index])
      }
    }
  }

  static let mutations: [Mutation] = [
    .of(.x2, "deletes the finished file", .i2) { $0.actions.append(.deleteFinal) },
    Mutation("A2 is left out", .i2) { $0.rules.removeAll { $0.id == .a2 } },
    Mutation("A1 is left out", .i2) { $0.rules.removeAll { $0.id == .a1 } },
    Mutation("Z4 is left out", .i1) { $0.rules.removeAll { $0.id == .z4 } },
    Mutation("T9 is left out", .i1) { $0.rules.removeAll { $0.id == .t9 } },
    .of(.z1, "reports running", .i3) { $0.outcome = .becomes(.state(.running)) },
    .of(.t8, "adopts", .i4) { $0.actions = [.adopt] },
    .of(.c1, "does not cancel the task", .i4) { $0.actions.removeAll { $0 == .cancelTask } },
    .of(.n1, "does not cancel the task", .i4) { $0.actions.removeAll { $0 == .cancelTask } },
    .of(.z4, "plans", .i4) { $0.actions = [.plan] },
    .of(.p2, "uses corrupt resume data", .i5) { $0.pattern.resumeData = [.valid, .corrupt] },
    .of(.p2, "uses a transport without resume data", .i5) { $0.pattern.takesResumeData = nil },
    .of(.t1, "deletes the delivered file", .i6) { $0.actions = [.deleteDelivered] },
    .of(.t1, "drops a paused download", .i7) {
      $0.patterns[0].stored = ReconcileCase.Stored.wantsToRun
    },
    .of(.t6, "deletes the partial file", .i8) { $0.actions.append(.deletePartial) },
    .of(.p9, "trusts the committed bytes", .i9) { $0.source = .range },
    .of(.p8, "cuts nothing", .i9) { $0.actions = [] },
    .of(.p1, "finalizes a changed file", .i11) { $0.pattern.isPartialChanged = nil },
    .of(.p12, "checks nothing", .i11) { $0.actions = [] },
    Mutation("P13 is left out", .i11) { $0.planRules.removeAll { $0.id == .p13 } },
    .of(.p4, "keeps the partial file and resumes it", .i9) {
      $0.actions = [.dropResumeData]
      $0.source = .range
    },
    .of(.n4, "does nothing", .i10) { $0.actions = [] },
    .of(.c4, "keeps the resume data", .i10) { $0.actions.removeAll { $0 == .dropResumeData } },
    .of(.z2, "fails", .i10) { $0.outcome = .becomes(.state(.failedRetryable)) },
    .of(.x1, "never ends", .i10) { $0.outcome = .staysPending },
    .of(.f5, "plans immediately", .i10) {
      $0.outcome = .becomes(.state(.finalizing))
      $0.patterns[0].task = nil
    },
  ]

  @Test(arguments: mutations) func `a broken rule is seen`(mutation: Mutation) {
    var table = ReconcileTable.standard
    mutation.mutate(&table)
    let conditions = [
      ReconcileCase.Conditions(),
      ReconcileCase.Conditions(hasFreeSlot: false, takesResumeData: false, removesFile: true),
      ReconcileCase.Conditions(isPartialChanged: true),
      ReconcileCase.Conditions(hasPieceDigests: true, isPartialChanged: true),
    ]
    #expect(table.broken(conditions, until: mutation.breaks)[mutation.breaks] != nil)
  }

  @Test func `a mutation breaks every invariant`() {
    #expect(Set(Self.mutations.map(\.breaks)) == Set(ReconcileInvariant.allCases))
  }
}
