import DownloadStore
import Testing

@testable import DownloadSync

@Suite struct WaitStepTests {
  @Test func `a process leads only if its downloads have not ended and no engine runs`() {
    for event in WaitStep.Event.allCases {
      for haveEnded in [false, true] {
        for engineRuns in [false, true] {
          let step = WaitStep.next(after: event, haveEnded: haveEnded, engineRuns: engineRuns)
          let expected: WaitStep =
            if haveEnded || event == .ran { .end } else if event == .lockRefused || engineRuns {
              .follow
            } else { .lead }
          #expect(step == expected, "\(event) \(haveEnded) \(engineRuns)")
        }
      }
    }
  }

  @Test func `a goal is reached when the last of its downloads has ended, in any order`() {
    let urls = ["a", "b", "c"]
    for first in urls {
      for second in urls where second != first {
        var goal = FinishGoal(urls)
        var states: [String: DownloadState] = [:]
        var reads = 0
        func isReached() -> Bool {
          goal.isReached { url in
            reads += 1
            var record = DownloadRecord.sample(url: url)
            record.state = states[url] ?? .running
            return record
          }
        }
        #expect(!isReached())
        states[first] = .completed
        #expect(!isReached())
        states[second] = .paused
        #expect(!isReached())
        reads = 0
        #expect(!isReached() && reads == 1)
        states[second] = .waiting
        states[urls.first { $0 != first && $0 != second } ?? ""] = .failedPermanent
        #expect(!isReached())
        states[second] = .cancelled
        #expect(isReached())
      }
    }
    #expect(!FinishGoal(["\u{E9}"]).contains("e\u{301}"))
    var goal = FinishGoal(urls)
    #expect(goal.isReached { _ in nil })
    var none = FinishGoal([])
    #expect(none.isReached { _ in nil })
  }
}
