import DownloadStore
import TestTraits
import Testing

@Suite struct ProgressEstimateTests {
  @Test(.requirements("ZF14", "MO7"))
  func `the fraction is received bytes divided by expected bytes`() {
    #expect(ProgressEstimate(received: 25, expected: 100).fraction == 0.25)
    #expect(ProgressEstimate(received: 0, expected: 100).fraction == 0)
    #expect(ProgressEstimate(received: 100, expected: 100).fraction == 1)
    #expect(ProgressEstimate(received: 0, expected: 0).fraction == 1)
  }

  @Test(
    .requirements("ZF14"),
    arguments: [(10, nil), (10, 9), (10, -1), (-1, 10), (0, -1)] as [(Int64, Int64?)]
  )
  func `an unknown or impossible size has no fraction and no time remaining`(
    received: Int64,
    expected: Int64?
  ) {
    let estimate = ProgressEstimate(received: received, expected: expected, bytesPerSecond: 5)
    #expect(estimate.fraction == nil)
    #expect(estimate.percentage == nil)
    #expect(estimate.remaining == nil)
  }

  @Test func `the percentage is 100 only when every byte has arrived`() {
    let size: Int64 = 1 << 60
    #expect(ProgressEstimate(received: size - 1, expected: size).percentage == 99)
    #expect(ProgressEstimate(received: size, expected: size).percentage == 100)
  }

  @Test func `the time remaining is the missing bytes divided by the speed`() {
    let estimate = ProgressEstimate(received: 400, expected: 1000, bytesPerSecond: 200)
    #expect(estimate.remaining == .seconds(3))
  }

  @Test(arguments: [nil, 0, -1, -.infinity, .nan] as [Double?])
  func `without a positive speed there is no time remaining`(speed: Double?) {
    let estimate = ProgressEstimate(received: 400, expected: 1000, bytesPerSecond: speed)
    #expect(estimate.remaining == nil)
  }

  @Test(arguments: [nil, 0, 7] as [Double?])
  func `a complete download has zero time remaining`(speed: Double?) {
    let estimate = ProgressEstimate(received: 1000, expected: 1000, bytesPerSecond: speed)
    #expect(estimate.remaining == .zero)
  }

  @Test func `the time remaining is at most a century`() {
    let estimate = ProgressEstimate(received: 0, expected: .max, bytesPerSecond: 1e-300)
    #expect(estimate.remaining == .seconds(3_155_760_000))
  }
}
