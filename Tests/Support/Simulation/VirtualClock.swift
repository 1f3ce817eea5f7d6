internal import Foundation
internal import SystemInterface

/// The clock of a simulation, which advances only when the simulation advances it.
final class VirtualClock: Sendable {
  private struct State {
    var elapsed = Duration.zero
    var jump = Duration.zero
  }

  private let start = ContinuousClock.now
  // Used only by the simulation's thread.
  private let state = Mutex(State())

  /// The elapsed time.
  var elapsed: Duration { state.withLock { $0.elapsed } }

  /// The monotonic time.
  var instant: ContinuousClock.Instant { start.advanced(by: elapsed) }

  /// The wall clock time, which changes when the clock is set.
  var date: Date {
    let passed = state.withLock { $0.elapsed + $0.jump }
    return Date(timeIntervalSince1970: 1_700_000_000 + passed / .seconds(1))
  }

  /// Advances the time.
  func advance(by duration: Duration) {
    state.withLock { $0.elapsed += duration }
  }

  /// Sets the wall clock.
  func jump(by duration: Duration) {
    state.withLock { $0.jump += duration }
  }
}
