import Testing

@testable import DownloadSync

@Suite struct ResourceShortageTests {
  private let start = ContinuousClock.now

  @Test func `the delay doubles up to its limit and starts again after progress`() {
    var shortage = ResourceShortage()
    var now = start
    var delays: [Duration] = []
    for _ in 0..<7 {
      let delay = shortage.note(at: now, running: 0)
      delays.append(delay)
      #expect(shortage.delaysStarts(at: now))
      now += delay
      #expect(!shortage.delaysStarts(at: now))
    }
    #expect(delays == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
    shortage.noteProgress(limit: 4)
    #expect(shortage.note(at: now, running: 0) == .seconds(1))
  }

  @Test func `failures within one delay count once`() {
    var shortage = ResourceShortage()
    #expect(!shortage.delaysStarts(at: start))
    #expect(shortage.note(at: start, running: 0) == .seconds(1))
    #expect(shortage.note(at: start + .milliseconds(400), running: 0) == .milliseconds(600))
    #expect(shortage.note(at: start + .seconds(1), running: 0) == .seconds(2))
  }

  @Test func `the limit falls to the transfers that ran at the shortage and rises with progress`() {
    var shortage = ResourceShortage()
    let limits = ConcurrencyLimits(maximumRunning: 4, maximumPerHost: 3)
    func running() -> Int { shortage.limiting(limits).maximumRunning }
    #expect(shortage.limiting(limits) == limits)
    // Of four that start together, two find no descriptor.
    _ = shortage.note(at: start, running: 3)
    _ = shortage.note(at: start, running: 2)
    #expect(running() == 2 && shortage.limiting(limits).maximumPerHost == 3)
    shortage.noteProgress(limit: 4)
    #expect(running() == 3)
    // If nothing runs, one transfer may start.
    _ = shortage.note(at: start + .seconds(1), running: 0)
    #expect(running() == 1)
    for expected in [2, 3, 4, 4] {
      shortage.noteProgress(limit: 4)
      #expect(running() == expected)
    }
    #expect(shortage.limiting(ConcurrencyLimits(maximumRunning: 9)).maximumRunning == 9)
  }
}
