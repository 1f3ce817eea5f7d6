internal import Foundation

/// Reads a date of HTTP in the three forms that a recipient has to take (RFC 9110, 5.6.7).
enum HTTPDate {
  private static let formats = [
    "EEE, dd MMM yyyy HH:mm:ss zzz",
    "EEEE, dd-MMM-yy HH:mm:ss zzz",
    "EEE MMM d HH:mm:ss yyyy",
  ]

  /// The moment that a text names; `nil` for any other text.
  ///
  /// A year of two digits is the one that is at most fifty years after `now`.
  static func moment(_ text: String, now: Date) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    // The hundred years that end fifty years from now.
    formatter.twoDigitStartDate = now.addingTimeInterval(-50 * 365.25 * 86_400)
    for format in formats {
      formatter.dateFormat = format
      if let date = formatter.date(from: text) { return date }
    }
    return nil
  }
}
