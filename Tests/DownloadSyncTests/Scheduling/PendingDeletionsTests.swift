import Testing

@testable import DownloadSync

@Suite struct PendingDeletionsTests {
  private let start = ContinuousClock.now
  private let policy = RetryPolicy(maximumAttempts: 3, base: .seconds(1), cap: .seconds(5))

  @Test func `the retry delay doubles up to its limit, and retries never end`() {
    var deletions = PendingDeletions()
    var now = start
    for seconds in [1, 2, 4, 5, 5, 5] {
      deletions.noteFailure(of: "a", at: now, policy)
      #expect(deletions.due(at: now + .seconds(seconds) - .milliseconds(1)) == [])
      now += .seconds(seconds)
      #expect(deletions.due(at: now) == ["a"])
    }
  }

  @Test func `an idle run waits for the first retries only`() {
    var deletions = PendingDeletions()
    #expect(!deletions.delayEnd(atMost: 3))
    for isAwaited in [true, true, false, false] {
      deletions.noteFailure(of: "a", at: start, policy)
      #expect(deletions.delayEnd(atMost: 3) == isAwaited)
    }
    deletions.noteFailure(of: "b", at: start, policy)
    #expect(deletions.delayEnd(atMost: 3))
  }

  @Test func `a completed deletion is not retried`() {
    var deletions = PendingDeletions()
    deletions.noteFailure(of: "a", at: start, policy)
    deletions.noteFailure(of: "b", at: start, policy)
    deletions.remove("a")
    #expect(deletions.urls == ["b"])
    #expect(deletions.due(at: start + .seconds(1)) == ["b"])
  }
}
