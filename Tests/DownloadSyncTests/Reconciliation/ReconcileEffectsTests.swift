import DownloadStore
import Foundation
import Testing

@testable import DownloadSync

/// The effects of actions, plans and decisions.
@Suite struct ReconcileEffectsTests {
  private func effects(
    _ actions: [ReconcileAction] = [],
    _ result: ReconcileResult = .state(.paused),
    plan: TransferPlan? = nil
  ) -> ReconcileEffects {
    ReconcileDecision(rules: [], actions: actions, result: result, plan: plan).effects
  }

  @Test func `a decision without actions keeps everything and commits its state`() {
    let effects = effects()
    #expect(effects.task == .keep && effects.partial == .keep && effects.resumeData == .keep)
    #expect(effects.record == .keep(.paused))
    #expect(!effects.deletesFinal && !effects.choosesName && !effects.rollsBack)
  }

  @Test func `every action has an effect`() {
    let plan = TransferPlan(rules: [.p7], actions: [], source: .range)
    for action in ReconcileAction.allCases {
      #expect(effects([action], plan: plan) != effects(plan: plan), "\(action)")
    }
  }

  @Test func `a plan from zero rolls back before it deletes the partial file`() {
    let plan = TransferPlan(
      rules: [.p4],
      actions: [.dropResumeData, .deletePartial],
      source: .zero
    )
    let effects = effects([.plan], .state(.waiting), plan: plan)
    #expect(effects.rollsBack && effects.partial == .drop && effects.resumeData == .drop)
    #expect(self.effects([.deletePartial], .state(.cancelled)).partial == .delete)
  }

  @Test(arguments: ReconcileCase.Conditions.all)
  func `the effects of every case agree with its decision`(conditions: ReconcileCase.Conditions) {
    for given in ReconcileCase.all(conditions) {
      let decision = Reconciler.decide(given)
      let effects = decision.effects
      switch effects.record {
      case .keep(let state):
        #expect(decision.result.states.map(\.state) == [state], "\(given)")
      case .fail: #expect(decision.result == .waitingOrFailed, "\(given)")
      case .finalize, .redoRename: #expect(decision.result == .placed, "\(given)")
      case .complete: #expect(decision.result == .state(.completed), "\(given)")
      case .delete: #expect(decision.result == .state(.none), "\(given)")
      }
      // The bytes of a live task are kept until it has ended, and a plan that counts committed
      // bytes keeps them.
      if effects.rollsBack { #expect(decision.plan?.source == .zero, "\(given)") }
      if effects.partial == .truncate { #expect(!effects.rollsBack, "\(given)") }
      if effects.partial == .drop { #expect(effects.rollsBack, "\(given)") }
      if effects.deletesFinal { #expect(given.stored == .removed, "\(given)") }
      if effects.task == .adopt { #expect(given.task.isLive, "\(given)") }
    }
  }

  @Test func `the engine reads decisions only through their effects`() throws {
    let folder = URL(filePath: #filePath).appending(
      path: "../../../../Sources/DownloadSync/Engine"
    ).standardizedFileURL
    let files = try FileManager.default.contentsOfDirectory(
      at: folder,
      includingPropertiesForKeys: nil
    )
    #expect(files.count > 10)
    for file in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      for word in [
        "decision.result", "decision.actions", ".actions.contains", ".decision.rules",
        "decision.plan",
      ] {
        #expect(!text.contains(word), "\(file.lastPathComponent) reads \(word)")
      }
    }
  }
}
