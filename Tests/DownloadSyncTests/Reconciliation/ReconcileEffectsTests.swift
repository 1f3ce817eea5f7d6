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

extension ReconcileEffects {
  /// Returns how the effects contradict the decision about a case, with the case; `nil` if they
  /// agree.
  ///
  /// `ReconcileInvariantTests` checks every case.
  func contradiction(of decision: ReconcileDecision, _ given: ReconcileCase) -> String? {
    let agrees =
      switch record {
      case .keep(let state): decision.result.states.map(\.state) == [state]
      case .fail: decision.result == .waitingOrFailed
      case .finalize, .redoRename: decision.result == .placed
      case .complete: decision.result == .state(.completed)
      case .delete: decision.result == .state(.none)
      }
    guard agrees else { return "the record of \(given)" }
    // The bytes of a live task are kept until it has ended, and a plan that counts committed bytes
    // keeps them.
    if rollsBack, decision.plan?.source != .zero { return "the roll-back of \(given)" }
    if partial == .truncate, rollsBack { return "the truncation of \(given)" }
    if partial == .drop, !rollsBack { return "the dropped bytes of \(given)" }
    if deletesFinal, given.stored != .removed { return "the deleted file of \(given)" }
    if task == .adopt, !given.task.isLive { return "the adopted task of \(given)" }
    return nil
  }
}
