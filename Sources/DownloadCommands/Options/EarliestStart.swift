internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import Foundation

/// The values of `--not-before`.
enum EarliestStart {
  /// Parses a time.
  ///
  /// - Parameters:
  ///   - text: ISO 8601, such as `2026-01-31T08:00:00Z`; without a zone it is local time. Or `HH:MM`,
  ///     the next time that the local clock shows it.
  ///   - now: The current time.
  ///   - timeZone: The local time zone.
  /// - Returns: The time.
  /// - Throws: `ValidationError`.
  static func date(
    _ text: String,
    now: Date = Date(),
    timeZone: TimeZone = .current
  ) throws(ValidationError) -> Date {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    if let minute = ClockTime.minute(text[...]) {
      let time = DateComponents(hour: minute / 60, minute: minute % 60, second: 0)
      // A time that a change of the clock skips is the next one that exists.
      let next = calendar.nextDate(after: now, matching: time, matchingPolicy: .nextTime)
      if let next { return next }
    }
    // Foundation's parser accepts a day and an hour that do not exist, and ignores what follows.
    if let date = ImportedDate.zonedDate(text) ?? local(text, calendar), RecordLimits.isDate(date) {
      return date
    }
    throw ValidationError(
      "'\(text)' is not a time: use ISO 8601, such as 2026-01-31T08:00:00Z, or HH:MM."
    )
  }

  /// Parses `YYYY-MM-DD`, `YYYY-MM-DDTHH:MM` or `YYYY-MM-DDTHH:MM:SS` as local time.
  ///
  /// A time that a change of the clock skips is later by that change, as in Foundation: of an hour from
  /// 02:00 on, 02:30 is 03:30.
  private static func local(_ text: String, _ calendar: Calendar) -> Date? {
    let halves = text.split(separator: "T", omittingEmptySubsequences: false)
    let day = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    let time =
      halves.count == 1
      ? ["0", "0"] : halves[1].split(separator: ":", omittingEmptySubsequences: false)
    let numbers = (day + time).compactMap { Digits.number($0).flatMap { Int(exactly: $0) } }
    guard halves.count <= 2, day.count == 3, day[0].count == 4, (2...3).contains(time.count),
      numbers.count == day.count + time.count
    else { return nil }
    let components = DateComponents(
      year: numbers[0],
      month: numbers[1],
      day: numbers[2],
      hour: numbers[3],
      minute: numbers[4],
      second: numbers.count == 6 ? numbers[5] : 0
    )
    // In a zone whose clock never changes, only what no calendar has is invalid.
    var steady = calendar
    steady.timeZone = .gmt
    return components.isValidDate(in: steady) ? calendar.date(from: components) : nil
  }
}
