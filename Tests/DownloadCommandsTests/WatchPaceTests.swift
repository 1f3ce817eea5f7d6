import SystemInterface
import Testing

@testable import CommandLineSupport
@testable import DownloadCommands

/// The pauses between the reads of a watching list.
struct WatchPaceTests {
  /// A clock that only the test advances.
  private final class Clock: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(by duration: Duration) { instant.withLock { $0 += duration } }
  }

  private let clock = Clock()

  private func pace() -> WatchPace {
    WatchPace { [clock] in clock.now }
  }

  @Test func `the first read is allowed at once`() {
    #expect(pace().allowsRead())
  }

  @Test(
    arguments: [
      (Duration.microseconds(100), Duration.microseconds(9_900)),
      (.milliseconds(5), .milliseconds(495)),
      (.milliseconds(100), .milliseconds(9_900)),
      (.milliseconds(101.02), .seconds(10)),
      (.seconds(30), .seconds(10)),
    ]
  )
  func `a pause is 99 times as long as the read, up to ten seconds`(
    read: Duration,
    pause: Duration
  ) {
    var pace = pace()
    pace.measure { clock.advance(by: read) }
    #expect(!pace.allowsRead())
    clock.advance(by: pause - .nanoseconds(1))
    #expect(!pace.allowsRead())
    clock.advance(by: .nanoseconds(1))
    #expect(pace.allowsRead())
  }

  @Test func `a watch that always reads when it may spends a hundredth of the time on it`() {
    var pace = pace()
    var readCount = 0
    let start = clock.now
    while clock.now < start + .seconds(600) {
      if pace.allowsRead() {
        pace.measure { clock.advance(by: .milliseconds(20)) }
        readCount += 1
      }
      clock.advance(by: WatchPace.interval)
    }
    // A read of 20 ms and a pause of 1.98 s, which ends at the fourth look.
    #expect(readCount == 298)
  }

  @Test func `a read that throws begins no pause`() {
    struct Failure: Error {}
    var pace = pace()
    #expect(throws: Failure.self) {
      try pace.measure {
        clock.advance(by: .seconds(1))
        throw Failure()
      }
    }
    #expect(pace.allowsRead())
  }
}
