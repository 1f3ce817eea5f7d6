import Foundation
import Testing

@testable import DownloadSync

@Suite struct RetryDeadlineTests {
  @Test(
    arguments: [
      (-1, 0), (0, 0), (1, 1), (299, 299), (300, 300), (301, 300), (86_400, 300),
    ] as [(TimeInterval, Int)]
  )
  func `a stored retry date is honored up to the longest delay`(
    seconds: TimeInterval,
    expected: Int
  ) {
    let now = Date(timeIntervalSince1970: 1_700_000_000)
    let instant = ContinuousClock.now
    let date = now.addingTimeInterval(seconds)
    let deadline = RetryDeadline(date, now: now, instant: instant, longestWait: .seconds(300))
    #expect(deadline == RetryDeadline(date: date, instant: instant + .seconds(expected)))
  }
}
