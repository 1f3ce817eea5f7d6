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
    limiter.charge(100_000)
    #expect(limiter.delay > .seconds(9_000))
    // A new limit clears the debt of the previous one.
    limiter.bytesPerSecond = 1_000
    #expect(limiter.bytesPerSecond == 1_000)
    #expect(limiter.delay == .zero)
  }

  @Test func `of the transport's limit and that of the store the lower one counts`() {
    let limiter = RateLimiter(bytesPerSecond: 1_000)
    limiter.sharedBytesPerSecond = 1_000_000
    limiter.charge(10_000_000)
    #expect(limiter.delay > .seconds(9_000))
    limiter.sharedBytesPerSecond = 10
    #expect(limiter.bytesPerSecond == 1_000)
    #expect(limiter.delay == .zero)
    limiter.charge(100_000)
    #expect(limiter.delay > .seconds(9_000))
    limiter.bytesPerSecond = nil
    // The limit that applies has not changed, and so the debt stays.
    #expect(limiter.isLimited && limiter.delay > .seconds(8_000))
    limiter.sharedBytesPerSecond = nil
    #expect(!limiter.isLimited && limiter.delay == .zero)
  }
}
