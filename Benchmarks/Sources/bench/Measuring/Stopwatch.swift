import Foundation

/// Sums the time between its starts and stops.
struct Stopwatch: Sendable {
  private(set) var wall: Duration = .zero
  /// The processor time of the thread.
  ///
  /// The better measure for work that does not wait: other processes affect it less.
  private(set) var processor: Duration = .zero
  private var wallStart = ContinuousClock.now
  private var processorStart: Duration = .zero

  mutating func start() {
    wallStart = .now
    processorStart = .now(on: CLOCK_THREAD_CPUTIME_ID)
  }

  mutating func stop() {
    processor += .now(on: CLOCK_THREAD_CPUTIME_ID) - processorStart
    wall += .now - wallStart
  }

  mutating func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    start()
    defer { stop() }
    return try body()
  }
}

extension ContinuousClock.Instant {
  fileprivate static func - (left: Self, right: Self) -> Duration { right.duration(to: left) }
}

extension Duration {
  /// The current time of a system clock.
  static func now(on clock: clockid_t) -> Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The duration as a number of units of the given length in seconds.
  func inUnits(of seconds: Double) -> Double {
    let (whole, attoseconds) = components
    return (Double(whole) + Double(attoseconds) * 1e-18) / seconds
  }
}
