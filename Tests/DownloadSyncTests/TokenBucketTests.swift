import Testing

@testable import DownloadSync

@Suite struct TokenBucketTests {
  @Test func `a bucket allows its rate and a burst of a tenth of a second`() {
    let start = ContinuousClock.now
    var bucket = TokenBucket(bytesPerSecond: 1_000, at: start)
    #expect(bucket.delay(at: start) == .zero)
    bucket.charge(500, at: start)
    #expect(bucket.delay(at: start) == .seconds(0.5))
    #expect(bucket.delay(at: start + .seconds(0.25)) == .seconds(0.25))
    #expect(bucket.delay(at: start + .seconds(0.5)) == .zero)
    // After a long pause only the burst is available.
    bucket.charge(200, at: start + .seconds(100))
    #expect(bucket.delay(at: start + .seconds(100)) == .seconds(0.1))
    // A clock that does not advance, or a call out of order, changes nothing.
    #expect(bucket.delay(at: start) == .seconds(0.1))
  }

  @Test func `without a limit there is no wait`() {
    let limiter = RateLimiter(bytesPerSecond: nil)
    limiter.charge(.max)
    #expect(limiter.delay == .zero)
    limiter.bytesPerSecond = 10
    limiter.charge(1_000)
    #expect(limiter.delay > .seconds(90))
    // A new limit clears the debt of the previous one.
    limiter.bytesPerSecond = 1_000
    #expect(limiter.bytesPerSecond == 1_000)
    #expect(limiter.delay == .zero)
  }
}
