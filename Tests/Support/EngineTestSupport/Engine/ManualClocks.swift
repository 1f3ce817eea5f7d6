package import DownloadSync
package import Foundation
internal import SystemInterface

/// A system clock and a monotonic clock, both set by the test.
package final class ManualClocks: Sendable {
  private let start = ContinuousClock.now
  private let state = Mutex((elapsed: Duration.zero, offset: TimeInterval.zero))

  package init() {}

  package var instant: ContinuousClock.Instant {
    start.advanced(by: state.withLock { $0.elapsed })
  }

  package var date: Date {
    let seconds = state.withLock { $0.elapsed / .seconds(1) + $0.offset }
    return Date(timeIntervalSince1970: 1_700_000_000 + seconds)
  }

  /// Advances both clocks.
  package func advance(by duration: Duration) {
    state.withLock { $0.elapsed += duration }
  }

  /// Sets the system clock forward or back.
  package func set(by seconds: TimeInterval) {
    state.withLock { $0.offset += seconds }
  }

  /// The real environment with this monotonic clock.
  package var environment: EngineEnvironment {
    var environment = EngineEnvironment.live
    environment.instant = { [self] in instant }
    return environment
  }
}
