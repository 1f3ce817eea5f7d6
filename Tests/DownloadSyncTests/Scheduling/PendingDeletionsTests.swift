import Testing

@testable import DownloadSync

@Suite struct PendingDeletionsTests {
  private let start = ContinuousClock.now
  private let policy = RetryPolicy(maximumAttempts: 3, base: .seconds(1), cap: .seconds(5))

  @Test func `the wait doubles up to its limit, and never ends`() {
    var deletions = PendingDeletions()
    var now = start
    for seconds in [1, 2, 4, 5, 5, 5] {
      deletions.noteFailure(of: "a", at: now, policy)
      #expect(deletions.due(at: now + .seconds(seconds) - .milliseconds(1)) == [])
      now += .seconds(seconds)
      #expect(deletions.due(at: now) == ["a"])
    }
  }

  @Test func `a run that is idle waits for the first tries only`() {
    var deletions = PendingDeletions()
    #expect(!deletions.delayEnd(atMost: 3))
    for isAwaited in [true, true, false, false] {
      deletions.noteFailure(of: "a", at: start, policy)
      #expect(deletions.delayEnd(atMost: 3) == isAwaited)
    }
    deletions.noteFailure(of: "b", at: start, policy)
    #expect(deletions.delayEnd(atMost: 3))
  }

  @Test func `a deletion that lasts is not tried again`() {
    var deletions = PendingDeletions()
    deletions.noteFailure(of: "a", at: start, policy)
    deletions.noteFailure(of: "b", at: start, policy)
    deletions.remove("a")
    #expect(deletions.urls == ["b"])
    #expect(deletions.due(at: start + .seconds(1)) == ["b"])
  }
}
