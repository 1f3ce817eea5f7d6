package import ArgumentParser

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Byte counts in text; units are powers of 1024.
package enum ByteAmount {
  /// Parses `500K` or `2M`: digits, then optionally K, M, G or T; `nil` for anything else and zero.
  package static func parse(_ text: String) -> Int64? {
    let shifts: [Character: Int64] = ["K": 10, "M": 20, "G": 30, "T": 40]
    let shift = text.last.flatMap { shifts[Character($0.uppercased())] }
    let digits = shift == nil ? text[...] : text.dropLast()
    guard let count = Digits.number(digits), count > 0 else { return nil }
    let (result, overflow) = count.multipliedReportingOverflow(by: 1 << (shift ?? 0))
    return overflow ? nil : result
  }

  /// Returns the count with about three digits: `1.5 MiB`.
  package static func text(_ count: Int64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var value = Double(count)
    var unit = 0
    while value >= 1000, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    guard unit > 0 else { return "\(count) B" }
    let tenths = Int64((value * 10).rounded())
    return value < 100
      ? "\(tenths / 10).\(tenths % 10) \(units[unit])" : "\(tenths / 10) \(units[unit])"
  }
}

/// A byte count as the value of an option, which shows its default as a user would write it.
package struct ByteAmountSetting: Sendable, Hashable, CustomStringConvertible {
  package let byteCount: Int64

  /// Creates the value of an option.
  package init(byteCount: Int64) { self.byteCount = byteCount }

  /// The count with the largest unit that leaves no rest: `8M`.
  package var description: String {
    let units: [(suffix: String, shift: Int64)] = [("T", 40), ("G", 30), ("M", 20), ("K", 10)]
    let unit = units.first { byteCount > 0 && byteCount & (1 << $0.shift - 1) == 0 }
    return unit.map { "\(byteCount >> $0.shift)\($0.suffix)" } ?? "\(byteCount)"
  }
}

/// Transfer speeds in text; units are powers of 1024.
package enum Speed {
  /// Returns the whole bytes per second, clamped, because larger values do not convert to `Int64`.
  package static func byteCount(_ bytesPerSecond: Double) -> Int64 {
    Int64(max(0, min(bytesPerSecond, 1e18)))
  }

  /// Returns `512 B/s`, or two decimals from one KiB: `1.50 KiB/s`, `12.34 MiB/s`.
  package static func text(_ bytesPerSecond: Double) -> String {
    let count = byteCount(bytesPerSecond)
    guard count >= 1024 else { return "\(count) B/s" }
    let (divisor, unit): (Double, String) = count < 1 << 20 ? (1024, "KiB/s") : (1_048_576, "MiB/s")
    // Truncated, not rounded: 1024.00 KiB/s belongs to the next unit.
    let hundredths = Int64(Double(count) / divisor * 100)
    let decimals = hundredths % 100
    return "\(hundredths / 100).\(decimals < 10 ? "0" : "")\(decimals) \(unit)"
  }
}

/// Durations in text.
package enum TimeSpan {
  /// Parses `7d`, `12h`, `30m`, `45s` or a combination (`1d12h`) to seconds; `nil` for anything else.
  package static func parse(_ text: String) -> Int64? {
    let units: [Character: Int64] = ["d": 86_400, "h": 3600, "m": 60, "s": 1]
    var rest = text[...]
    var total: Int64 = 0
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      guard let count = Digits.number(digits), let unit = rest.popFirst().flatMap({ units[$0] })
      else { return nil }
      let (part, isTooLong) = count.multipliedReportingOverflow(by: unit)
      let (sum, isTooLongNow) = total.addingReportingOverflow(part)
      guard !isTooLong, !isTooLongNow else { return nil }
      total = sum
    }
    return total
  }

  /// Returns the duration as a clock shows it: `0:07`, `1:02:03`, `3 d`.
  package static func text(_ seconds: Double) -> String {
    guard seconds.isFinite, (0..<100 * 86_400).contains(seconds) else { return "—" }
    let seconds = Int64(seconds.rounded(.up))
    func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    if seconds >= 2 * 86_400 { return "\(seconds / 86_400) d" }
    if seconds >= 3600 {
      return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }
    return "\(seconds / 60):\(two(seconds % 60))"
  }
}

/// A duration on the command line, in whole seconds: `45s`, `1d12h`.
package struct SpanArgument: ExpressibleByArgument, Sendable, Hashable, CustomStringConvertible {
  package let duration: Duration

  /// Creates the argument for an option's default.
  package init(_ duration: Duration) {
    self.duration = duration
  }

  /// Parses at most a year; `nil` for anything else.
  package init?(argument: String) {
    guard let seconds = TimeSpan.parse(argument), seconds <= 365 * 86_400 else { return nil }
    duration = .seconds(seconds)
  }

  package var description: String { "\(duration.components.seconds)s" }
  package var defaultValueDescription: String { description }

  /// Refuses a duration of less than a second.
  ///
  /// - Throws: `ValidationError`.
  package func validate(_ option: String) throws(ValidationError) {
    guard duration >= .seconds(1) else {
      throw ValidationError("\(option) must be at least 1s.")
    }
  }
}

/// Timestamps in output.
package enum Timestamp {
  private static let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

  /// Returns ISO 8601 in UTC with milliseconds, of fixed length: `2026-01-31T08:00:00.250Z`.
  package static func text(_ date: Date) -> String {
    date.formatted(style)
  }
}

/// Decimal digits without a sign or blanks.
package enum Digits {
  /// Parses the number; `nil` for anything else and on overflow.
  package static func number(_ text: Substring) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(text)
  }
}
