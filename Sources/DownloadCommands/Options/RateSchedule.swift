internal import ArgumentParser
internal import CommandLineSupport

/// Rate limits by the time of day.
struct RateSchedule: Sendable, Hashable {
  /// A window of the day with a rate limit of its own.
  struct Window: Sendable, Hashable {
    /// The first minute of the day.
    var start: Int
    /// The minute after the last one; at or before ``start`` if the window crosses midnight.
    var end: Int
    /// The limit in bytes per second; `nil` for none.
    var bytesPerSecond: Int64?

    func contains(_ minute: Int) -> Bool {
      start < end ? (start..<end).contains(minute) : minute >= start || minute < end
    }
  }

  static let minutesPerDay = 1440

  /// The windows; the first one that contains a time applies.
  let windows: [Window]

  /// Parses windows such as `08:00-18:00=2M,22:00-06:00=none`.
  ///
  /// - Throws: `ValidationError` with the window that is wrong.
  init(_ text: String) throws(ValidationError) {
    var windows: [Window] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: "=", omittingEmptySubsequences: false)
      let times = words[0].split(separator: "-", omittingEmptySubsequences: false)
      guard words.count == 2, times.count == 2, let start = ClockTime.minute(times[0]),
        let end = ClockTime.minute(times[1], allowsMidnight: true), start != end,
        words[1] == "none" || words[1] == "0" || ByteAmount.parse(String(words[1])) != nil
      else {
        throw ValidationError(
          "'\(part)' is not a window with a rate, such as 08:00-18:00=2M or 22:00-06:00=none."
        )
      }
      windows.append(
        Window(start: start, end: end, bytesPerSecond: ByteAmount.parse(String(words[1])))
      )
    }
    self.windows = windows
  }

  /// The limit at a minute of the day, in bytes per second.
  ///
  /// - Parameters:
  ///   - minute: The minute of the day, from 0.
  ///   - other: The limit outside all windows.
  /// - Returns: The limit; `nil` for none.
  func bytesPerSecond(atMinute minute: Int, otherwise other: Int64?) -> Int64? {
    guard let window = windows.first(where: { $0.contains(minute) }) else { return other }
    return window.bytesPerSecond
  }

  /// The number of seconds from a second of the day to the next start or end of a window.
  func secondsToBoundary(afterSecond second: Int) -> Int {
    let day = Self.minutesPerDay * 60
    return windows.flatMap { [$0.start, $0.end] }
      .map { boundary in
        let rest = (boundary * 60 - second) % day
        return rest <= 0 ? rest + day : rest
      }
      .min() ?? day
  }
}

/// Times of day.
enum ClockTime {
  /// Parses `HH:MM` to the minute of the day; `nil` for anything else.
  ///
  /// `24:00` is a time only if `allowsMidnight`.
  static func minute(_ text: Substring, allowsMidnight: Bool = false) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ (1...2).contains($0.count) }), parts[1].count == 2,
      let hour = Digits.number(parts[0]), let minute = Digits.number(parts[1]), minute < 60,
      hour < 24 || (allowsMidnight && hour == 24 && minute == 0)
    else { return nil }
    return Int(hour * 60 + minute)
  }
}
