internal import DownloadSync
internal import DownloadURLSession
internal import Foundation

#if AsyncHTTPClient
  internal import DownloadAsyncHTTPClient
#endif

/// A transport whose total rate limit may change while it runs.
protocol RateLimitedTransport: Transport, AnyObject {
  /// The limit in bytes per second; `nil` for none.
  var bytesPerSecond: Int64? { get set }
}

extension URLSessionTransport: RateLimitedTransport {}

#if AsyncHTTPClient
  extension AsyncHTTPClientTransport: RateLimitedTransport {}
#endif

/// Applies a schedule of rate limits to a transport.
struct RateFollower: Sendable {
  let schedule: RateSchedule
  /// The limit outside all windows.
  let otherLimit: Int64?

  /// The longest sleep: the local clock may be set, or change for summer time.
  private static let longestSleep = 60

  /// Changes the limit at each boundary, until the task is cancelled.
  func follow(_ transport: any RateLimitedTransport) async {
    while !Task.isCancelled {
      let second = Self.secondOfDay(Date())
      let limit = schedule.bytesPerSecond(atMinute: second / 60, otherwise: otherLimit)
      // A new limit forgets how much was transferred.
      if transport.bytesPerSecond != limit { transport.bytesPerSecond = limit }
      let rest = min(Self.longestSleep, schedule.secondsToBoundary(afterSecond: second))
      // A cancelled sleep ends the loop.
      try? await Task.sleep(for: .seconds(rest))
    }
  }

  /// The second of the local day.
  static func secondOfDay(_ date: Date, in timeZone: TimeZone = .current) -> Int {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    let time = calendar.dateComponents([.hour, .minute, .second], from: date)
    return ((time.hour ?? 0) * 60 + (time.minute ?? 0)) * 60 + (time.second ?? 0)
  }
}
