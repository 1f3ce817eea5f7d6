package import Foundation

/// The meaning of a date that a file gives as a number of seconds.
package enum NumericDates: String, CaseIterable, Sendable {
  /// Seconds since 1970-01-01T00:00:00Z.
  case unix
  /// Seconds since 2001-01-01T00:00:00Z, as in exports.
  case reference = "2001"

  package func date(_ seconds: Double) -> Date {
    switch self {
    case .unix: Date(timeIntervalSince1970: seconds)
    case .reference: Date(timeIntervalSinceReferenceDate: seconds)
    }
  }
}

/// Dates as other programs write them.
package enum ImportedDate {
  private static let daysTo2001 = 11_323

  /// Parses a day, or a day and a time, in the forms of ISO 8601, SQLite and PostgreSQL.
  ///
  /// Examples are `2026-01-31`, `2026-01-31T08:00:00.25Z` and `2026-01-31 08:00:00+01`. A time
  /// without an offset is in UTC, and so is a day, which is its first second.
  ///
  /// - Returns: The date; `nil` if the text is not one, such as a day or an hour that does not exist.
  package static func date(_ text: String) -> Date? {
    parts(text).map { $0.seconds - ($0.offset ?? 0) }
      .map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Parses a day and a time with an offset, as ``date(_:)`` does.
  ///
  /// - Returns: The date; `nil` also for a text without an offset.
  package static func zonedDate(_ text: String) -> Date? {
    parts(text).flatMap { parts in parts.offset.map { parts.seconds - $0 } }
      .map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  /// Returns the seconds since 2001 that the text names, and its offset from UTC, if it has one.
  private static func parts(_ text: String) -> (seconds: Double, offset: Double?)? {
    var scanner = Scanner(bytes: Array(text.utf8))
    guard let year = scanner.number(4), scanner.skip("-"), let month = scanner.number(2),
      scanner.skip("-"), let day = scanner.number(2),
      let days = days(year, month, day)
    else { return nil }
    var seconds = Double((days - daysTo2001) * 86_400)
    guard !scanner.isAtEnd else { return (seconds, nil) }
    guard scanner.skip("T") || scanner.skip("t") || scanner.skip(" "),
      let hour = scanner.number(2), hour < 24, scanner.skip(":"),
      let minute = scanner.number(2), minute < 60
    else { return nil }
    seconds += Double(hour * 3_600 + minute * 60)
    if scanner.skip(":") {
      guard let second = scanner.number(2), second < 60 else { return nil }
      seconds += Double(second)
      if scanner.skip(".") {
        guard let fraction = scanner.fraction() else { return nil }
        seconds += fraction
      }
    }
    if scanner.isAtEnd { return (seconds, nil) }
    guard let offset = scanner.offset(), scanner.isAtEnd else { return nil }
    return (seconds, Double(offset))
  }

  /// The days from 1970-01-01; `nil` if there is no such day.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int? {
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let lengths = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    guard year > 0, (1...12).contains(month), (1...lengths[month - 1]).contains(day) else {
      return nil
    }
    let past = year - 1
    let leapDays = past / 4 - past / 100 + past / 400
    return past * 365 + leapDays - 719_162 + lengths[..<(month - 1)].reduce(0, +) + day - 1
  }

  /// Reads the parts of a date.
  private struct Scanner {
    let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) {
      self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    private var digit: Int? {
      guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
      return Int(bytes[position]) - 0x30
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }

    /// Reads a number with exactly `count` digits.
    mutating func number(_ count: Int) -> Int? {
      var value = 0
      for _ in 0..<count {
        guard let digit else { return nil }
        value = value * 10 + digit
        position += 1
      }
      return value
    }

    /// Reads the digits of a fraction, at least one.
    mutating func fraction() -> Double? {
      let start = position
      while digit != nil { position += 1 }
      guard position > start else { return nil }
      return Double("0." + String(decoding: bytes[start..<position], as: UTF8.self))
    }

    /// Reads an offset from UTC in seconds.
    mutating func offset() -> Int? {
      if skip("Z") || skip("z") { return 0 }
      let isNegative = skip("-")
      guard isNegative || skip("+"), let hours = number(2), hours < 24 else { return nil }
      var minutes = 0
      if !isAtEnd {
        _ = skip(":")
        guard let number = number(2), number < 60 else { return nil }
        minutes = number
      }
      let seconds = hours * 3_600 + minutes * 60
      return isNegative ? -seconds : seconds
    }
  }
}
