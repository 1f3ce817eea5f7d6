import Foundation

/// Adds up the time of what runs between its starts and stops.
struct Stopwatch: Sendable {
  private(set) var wall: Duration = .zero
  /// The time that the thread had a processor: what does not wait is measured best so beside
  /// others.
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
  /// What a clock of the system shows.
  static func now(on clock: clockid_t) -> Duration {
    var time = timespec()
    unsafe clock_gettime(clock, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// The number of units of so many seconds.
  func inUnits(of seconds: Double) -> Double {
    let (whole, attoseconds) = components
    return (Double(whole) + Double(attoseconds) * 1e-18) / seconds
  }
}
