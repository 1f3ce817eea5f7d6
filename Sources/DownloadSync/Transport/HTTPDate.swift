internal import Foundation

/// A parser for the three date formats that an HTTP recipient must accept (RFC 9110, 5.6.7).
enum HTTPDate {
  private static let formats = [
    "EEE, dd MMM yyyy HH:mm:ss zzz",
    "EEEE, dd-MMM-yy HH:mm:ss zzz",
    "EEE MMM d HH:mm:ss yyyy",
  ]

  /// Parses a date; returns `nil` for any other text.
  ///
  /// A two-digit year is at most fifty years after `now`.
  static func moment(_ text: String, now: Date) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    // A two-digit year falls within the hundred years that end fifty years from now.
    formatter.twoDigitStartDate = now.addingTimeInterval(-50 * 365.25 * 86_400)
    for format in formats {
      formatter.dateFormat = format
      if let date = formatter.date(from: text) { return date }
    }
    return nil
  }
}
