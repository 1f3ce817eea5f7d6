import DownloadStore
import Testing

@testable import DownloadSync

/// Looks at every case there is.
@Suite struct ReconcilerSpaceTests {
  static let space: [ReconcileCase] = {
    var space: [ReconcileCase] = []
    for stored in [nil] + DownloadState.allCases.map(Optional.some) {
      for intent in DownloadIntent.allCases {
        for task in ReconcileCase.LiveTask.allCases {
          for final in FileFacts.Final.allCases {
            for partial in FileFacts.Partial.allCases {
              for canContinue in [false, true] {
                space.append(
                  ReconcileCase(
                    stored: stored,
                    intent: intent,
                    task: task,
                    final: final,
                    partial: partial,
                    canContinue: canContinue
                  )
                )
              }
            }
          }
        }
      }
    }
    return space
  }()

  /// Every case that meets a condition, with its decision.
  private func cases(
    where condition: (ReconcileCase) -> Bool = { _ in true }
  ) -> [(given: ReconcileCase, decision: ReconcileDecision)] {
    Self.space.filter(condition).map { ($0, Reconciler.decide($0)) }
  }

  private static func isHeld(_ given: ReconcileCase) -> Bool {
    given.stored == .paused || given.stored == .failedPermanent || given.intent == .hold
  }

  private static func isGivenUp(_ given: ReconcileCase) -> Bool {
    given.intent == .discard || given.intent == .keep || given.stored == .removed
      || given.stored == .cancelled
  }

  @Test func `the space has every case once`() {
    #expect(Self.space.count == 10 * 4 * 2 * 3 * 6 * 2)
    #expect(Set(Self.space).count == Self.space.count)
  }

  @Test func `a case is always decided alike`() {
    for given in Self.space { #expect(Reconciler.decide(given) == Reconciler.decide(given)) }
  }

  @Test func `every rule fires, and every decision about a record names one`() {
    let fired = Set(cases().flatMap(\.decision.rules))
    #expect(Set(ReconcileRule.allCases).subtracting(fired) == [])
    for (given, decision) in cases(where: { $0.stored != nil }) {
      #expect(!decision.rules.isEmpty, "\(given)")
      #expect(Set(decision.rules).count == decision.rules.count, "\(given)")
    }
    #expect(Set(cases().flatMap(\.decision.actions)) == Set(ReconcileAction.allCases))
  }

  @Test func `what is held, complete, given up or nobody's fetches nothing`() {
    let resting = cases { given in
      given.stored == nil || given.stored == .completed || Self.isGivenUp(given)
        || Self.isHeld(given)
    }
    for (given, decision) in resting {
      // A file that is complete gets its name: that needs no network.
      let mayFinish = given.stored == .finalizing && given.partial == .complete
      #expect(decision.plan == nil || (mayFinish && decision.plan == .finalize), "\(given)")
      #expect(decision.result != .running && decision.result != .waiting, "\(given)")
    }
  }

  @Test func `a task that must not run is stopped`() {
    for (given, decision) in cases(where: { $0.task == .running }) {
      let stops = decision.actions.contains(.cancelTask)
      #expect(stops != (decision.result == .running), "\(given)")
    }
    for (given, decision) in cases(where: { $0.task == .none }) {
      #expect(!decision.actions.contains(.cancelTask), "\(given)")
    }
  }

  @Test func `running means that a task runs`() {
    for (given, decision) in cases() where decision.result == .running {
      #expect(given.task == .running, "\(given)")
    }
  }

  @Test func `what may run either runs or has a plan`() {
    let wanted = cases { given in
      given.intent == .run && given.final != .ours
        && [.waiting, .running, .failedRetryable, .finalizing].contains(given.stored)
    }
    for (given, decision) in wanted {
      #expect((decision.result == .running) != (decision.plan != nil), "\(given)")
    }
  }

  @Test func `nothing is ever done to a finished file but to give it its name`() {
    for (given, decision) in cases() where decision.actions.contains(.placePartial) {
      #expect(given.partial == .complete, "\(given)")
      // Never over what is there: the name is chosen again first.
      let isFree = given.final == .missing
      let places = decision.actions.firstIndex(of: .placePartial)
      let chooses = decision.actions.firstIndex(of: .chooseName)
      #expect(isFree ? chooses == nil : chooses.map { $0 < places ?? 0 } == true, "\(given)")
    }
  }

  @Test func `a partial file is deleted only when it is of no use to anybody`() {
    for (given, decision) in cases() where decision.actions.contains(.deletePartial) {
      #expect(given.partial != .missing, "\(given)")
      let isUseless = Self.isGivenUp(given) || given.stored == .completed || given.final == .ours
      #expect(isUseless, "\(given)")
      // Never under a task that still writes it.
      let deletes = decision.actions.firstIndex(of: .deletePartial) ?? 0
      let cancels = decision.actions.firstIndex(of: .cancelTask)
      #expect(given.task == .none || cancels.map { $0 < deletes } == true, "\(given)")
    }
    for (given, decision) in cases(where: { $0.stored == nil }) {
      #expect(!decision.actions.contains(.deletePartial), "\(given)")
    }
  }

  @Test func `the last copy of a complete file is never deleted, unless it was given up`() {
    for (given, decision) in cases()
    where given.partial == .complete && given.final != .ours && !Self.isGivenUp(given)
      && !(given.stored == .completed && given.final == .foreign)
    {
      #expect(!decision.actions.contains(.deletePartial), "\(given)")
    }
  }

  @Test func `a record is deleted only on somebody's word, and last of all`() {
    for (given, decision) in cases() {
      let isUnwanted = given.stored == .removed || (given.stored != nil && given.intent == .discard)
      #expect(decision.actions.contains(.deleteRecord) == isUnwanted, "\(given)")
      if isUnwanted { #expect(decision.actions.last == .deleteRecord, "\(given)") }
      #expect((decision.result == nil) == (isUnwanted || given.stored == nil), "\(given)")
    }
  }

  @Test func `bytes that may be of another entity are never continued`() {
    for (given, decision) in cases() where decision.plan == .range {
      #expect(given.canContinue, "\(given)")
      #expect([.equal, .longer, .over].contains(given.partial), "\(given)")
    }
    for (given, decision) in cases() where decision.plan == .finalize {
      #expect(given.partial == .complete, "\(given)")
    }
  }

  @Test func `no failure is forgotten`() {
    for (given, decision) in cases(where: { $0.stored == .failedPermanent }) {
      let isKept = Self.isGivenUp(given) || given.final == .ours
      #expect(isKept || decision.result == .failedPermanent, "\(given)")
    }
  }

  /// The world after a decision was carried out.
  private func after(_ given: ReconcileCase, _ decision: ReconcileDecision) -> ReconcileCase {
    var next = given
    for action in decision.actions {
      switch action {
      case .cancelTask: next.task = .none
      case .deletePartial: next.partial = .missing
      case .commitCompleted: next.stored = .completed
      case .placePartial:
        #expect(next.final == .missing && next.partial == .complete, "\(given)")
        next.final = .ours
        next.partial = .missing
      case .chooseName: next.final = .missing
      case .deleteRecord: next.stored = nil
      }
    }
    next.stored = decision.result
    return next
  }

  @Test func `deciding again and again comes to rest`() {
    for start in Self.space {
      var given = start
      var steps = 0
      while steps < 5 {
        let next = after(given, Reconciler.decide(given))
        if next == given { break }
        given = next
        steps += 1
      }
      #expect(steps <= 2, "\(start) takes \(steps) steps")
      #expect(given.stored != .removed, "\(start)")
      // Nothing stays between two states.
      if given.stored == .finalizing { Issue.record("\(start) stays finalizing") }
      if given.stored == .running { #expect(given.task == .running, "\(start)") }
    }
  }
}
