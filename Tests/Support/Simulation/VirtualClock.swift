internal import Foundation
internal import Synchronization

/// The time of a simulation, which passes when the simulation says so.
final class VirtualClock: Sendable {
  private struct State {
    var elapsed = Duration.zero
    var jump = Duration.zero
  }

  private let start = ContinuousClock.now
  // Used by the thread of the simulation alone.
  private let state = Mutex(State())

  /// How much time has passed.
  var elapsed: Duration { state.withLock { $0.elapsed } }

  /// The time that never goes back.
  var instant: ContinuousClock.Instant { start.advanced(by: elapsed) }

  /// The time of day, which jumps when somebody sets the clock.
  var date: Date {
    let passed = state.withLock { $0.elapsed + $0.jump }
    return Date(timeIntervalSince1970: 1_700_000_000 + passed / .seconds(1))
  }

  /// Has time pass.
  func advance(by duration: Duration) {
    state.withLock { $0.elapsed += duration }
  }

  /// Sets the clock on the wall.
  func jump(by duration: Duration) {
    state.withLock { $0.jump += duration }
  }
}
