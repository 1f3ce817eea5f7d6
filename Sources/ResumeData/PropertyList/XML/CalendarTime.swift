/// Dates of XML property lists: `2001-01-01T00:00:00Z`, in the Gregorian calendar.
///
/// The day count is Howard Hinnant's `days_from_civil`.
enum CalendarTime {
  private static let secondsPerDay = 86_400
  /// From 0000-03-01 to 2001-01-01.
  private static let epochDay = 730_791
  private static let daysPer400Years = 146_097
  private static let years = 0...9_999
  /// The input range of ``text(_:)``, within which the day count cannot overflow.
  private static let seconds = -10_000 * 366 * secondsPerDay..<10_000 * 366 * secondsPerDay

  /// Parses a date to seconds since 2001-01-01; `nil` if the text is invalid.
  static func seconds(_ text: String) -> Int? {
    let bytes = Array(text.utf8)
    guard bytes.count == 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
      bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"),
      bytes[16] == UInt8(ascii: ":"), bytes[19] == UInt8(ascii: "Z"),
      let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
      let day = number(bytes[8..<10]), let hour = number(bytes[11..<13]),
      let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second < 60
    else { return nil }
    let days = days(year, month, day)
    guard date(days) == (year, month, day) else { return nil }
    return days * secondsPerDay + hour * 3_600 + minute * 60 + second
  }

  /// Formats a date in whole seconds, rounded down; `nil` if its year has more than four digits.
  static func text(_ seconds: Double) -> String? {
    // No `abs`: the magnitude of the smallest integer overflows.
    guard let seconds = Int(exactly: seconds.rounded(.down)), Self.seconds.contains(seconds)
    else { return nil }
    let day = (Double(seconds) / Double(secondsPerDay)).rounded(.down)
    let second = seconds - Int(day) * secondsPerDay
    let date = date(Int(day))
    guard years.contains(date.0) else { return nil }
    return "\(digits(date.0, 4))-\(digits(date.1))-\(digits(date.2))"
      + "T\(digits(second / 3_600)):\(digits(second / 60 % 60)):\(digits(second % 60))Z"
  }

  /// The days since 2001-01-01, computed with years that begin in March.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * daysPer400Years + dayOfEra - epochDay
  }

  private static func date(_ days: Int) -> (Int, Int, Int) {
    let days = days + epochDay
    let era = (days >= 0 ? days : days - daysPer400Years + 1) / daysPer400Years
    let dayOfEra = days - era * daysPer400Years
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
      return nil
    }
    return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private static func digits(_ value: Int, _ width: Int = 2) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.count)) + text
  }
}
