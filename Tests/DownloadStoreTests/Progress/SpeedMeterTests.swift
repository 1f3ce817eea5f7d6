import DownloadStore
import TestSupport
import TestTraits
import Testing

@Suite struct SpeedMeterTests {
  private let start = SuspendingClock.now

  private func moment(_ seconds: Double) -> SuspendingClock.Instant {
    start.advanced(by: .seconds(seconds))
  }

  /// Returns a meter that was updated ten times a second.
  private func meter(
    from begin: Double = 0,
    to end: Double,
    _ received: (Double) -> Int64
  ) -> SpeedMeter {
    var meter = SpeedMeter()
    for step in Int(begin * 10)...Int(end * 10) {
      meter.note(received(Double(step) / 10), at: moment(Double(step) / 10))
    }
    return meter
  }

  @Test func `there is no speed before the first measurement`() {
    var meter = SpeedMeter()
    #expect(meter.bytesPerSecond(at: start) == nil)
    meter.note(500, at: start)
    #expect(meter.bytesPerSecond(at: start) == nil)
    meter.note(600, at: moment(0.1))
    #expect(meter.bytesPerSecond(at: moment(0.1)) == nil)
    meter.note(700, at: moment(0.2))
    #expect(meter.bytesPerSecond(at: moment(0.2)) == 1000)
  }

  @Test func `bytes present at the start do not count`() {
    let meter = meter(to: 2) { 1_000_000_000 + Int64($0 * 500) }
    #expect(abs(meter.bytesPerSecond(at: moment(2))! - 500) < 0.001)
  }

  @Test(.requirements("ZY55")) func `a constant transfer rate is reported exactly at any time`() {
    for second in [0.5, 1, 3, 10, 100] {
      let meter = meter(to: second) { Int64($0 * 4000) }
      #expect(abs(meter.bytesPerSecond(at: moment(second))! - 4000) < 0.01)
    }
  }

  @Test func `a change of speed shows within seconds`() {
    let meter = meter(to: 20) { $0 < 10 ? Int64($0 * 1000) : Int64(10_000 + ($0 - 10) * 100) }
    #expect(abs(meter.bytesPerSecond(at: moment(20))! - 100) < 10)
  }

  @Test func `the speed of a stalled download falls to zero without updates`() {
    let meter = meter(to: 5) { Int64($0 * 1000) }
    let speeds = (0...40).map { meter.bytesPerSecond(at: moment(5 + Double($0) / 10))! }
    #expect(zip(speeds, speeds.dropFirst()).allSatisfy { $0 >= $1 })
    #expect(speeds[0] > 999 && speeds[15] > 0)
    #expect(speeds.last == 0)
  }

  @Test func `updates without new bytes lower the speed to zero after the window`() {
    let meter = meter(to: 10) { Int64(min($0, 5) * 1000) }
    #expect(meter.bytesPerSecond(at: moment(10)) == 0)
  }

  @Test func `a burst after a stall is averaged over the window`() {
    var meter = meter(to: 60) { _ in 0 }
    meter.note(3_000_000, at: moment(60.5))
    let speed = meter.bytesPerSecond(at: moment(60.5))!
    #expect(speed > 0 && speed <= 1_000_000)
  }

  @Test func `a falling byte count restarts the measurement`() {
    var meter = meter(to: 3) { Int64($0 * 1000) }
    meter.note(0, at: moment(3.5))
    #expect(meter.bytesPerSecond(at: moment(3.5)) == nil)
    meter.note(100, at: moment(4.5))
    #expect(meter.bytesPerSecond(at: moment(4.5)) == 100)
  }

  @Test func `an update older than the last one is ignored`() {
    var meter = meter(to: 3) { Int64($0 * 1000) }
    let before = meter.bytesPerSecond(at: moment(3))
    meter.note(9_999_999, at: moment(1))
    #expect(meter.bytesPerSecond(at: moment(3)) == before)
  }

  @Test func `frequent updates do not change the result`() {
    var often = SpeedMeter()
    for step in 0...100_000 {
      often.note(Int64(step), at: moment(Double(step) / 10_000))
    }
    #expect(abs(often.bytesPerSecond(at: moment(10))! - 10_000) < 100)
  }

  /// Streams with stalls, bursts, falling byte counts and irregular intervals.
  @Test(arguments: 0..<200 as Range<UInt64>)
  func `the speed is never negative or above the fastest interval`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var meter = SpeedMeter()
    var received = Int64.random(in: 0...1 << 40, using: &random)
    var seconds = 0.0
    var fastest = 0.0
    meter.note(received, at: start)
    for _ in 0..<300 {
      let pause = Double.random(in: 0.01...2, using: &random)
      seconds += pause
      switch Int.random(in: 0..<10, using: &random) {
      case 0: received = Int64.random(in: 0...received, using: &random)
      case 1, 2, 3: break
      case 4:
        received += 1 << 32
        // A burst arrives at one instant, so its reported speed is its mean over the measured time.
        fastest = max(fastest, Double(1 << 32) / min(pause, 0.2))
      default:
        let arrived = Int64.random(in: 0...1 << 24, using: &random)
        received += arrived
        fastest = max(fastest, Double(arrived) / pause)
      }
      meter.note(received, at: moment(seconds))
      let later = moment(seconds + Double.random(in: 0...5, using: &random))
      for now in [moment(seconds), later] {
        guard let speed = meter.bytesPerSecond(at: now) else { continue }
        #expect(speed >= 0 && speed <= fastest * 1.000001)
        let estimate = ProgressEstimate(
          received: received,
          expected: received + 1000,
          bytesPerSecond: speed
        )
        #expect(estimate.remaining.map { $0 >= .zero } ?? (speed == 0))
      }
    }
  }
}
