#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Byte counts in text; units are powers of 1024.
package enum ByteAmount {
  /// Parses `500K`, `1.5M`, `2MB` or `2MiB`; `nil` for anything else and for less than one byte.
  ///
  /// The units K, M, G and T are the same with `B` and `iB`, in any case. Parts of a byte are
  /// dropped.
  package static func parse(_ text: String) -> Int64? {
    var rest = text.lowercased()[...]
    let isBinary = rest.hasSuffix("ib")
    if rest.hasSuffix("b") { rest.removeLast(isBinary ? 2 : 1) }
    let shifts: [Character: Int128] = ["k": 10, "m": 20, "g": 30, "t": 40]
    let shift = rest.last.flatMap { shifts[$0] }
    if shift != nil { rest.removeLast() }
    guard shift != nil || !isBinary, let (count, divisor) = Digits.decimal(rest) else { return nil }
    let bytes = Int128(count) * (1 << (shift ?? 0)) / Int128(divisor)
    return bytes > 0 ? Int64(exactly: bytes) : nil
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
    return tenths < 1000
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

  /// The width of ``column(_:)``.
  package static let columnWidth = 10

  /// Returns the speed in ten columns: ` 512 B/s`, `1.50 KiB/s`, `12.3 MiB/s`, ` 117 MiB/s`.
  ///
  /// Four of them are for the number, so that a table that is shown again each second keeps its
  /// widths: 1000 KiB/s are `0.97 MiB/s`.
  package static func column(_ bytesPerSecond: Double) -> String {
    let units = ["B/s", "KiB/s", "MiB/s", "GiB/s", "TiB/s", "PiB/s"]
    var value = Double(byteCount(bytesPerSecond))
    var unit = 0
    while value >= 1000, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    // Truncated, not rounded: 9.999 must not become 10.00.
    let hundredths = Int64(value * 100)
    let whole = hundredths / 100
    let decimals = hundredths % 100
    let number =
      switch whole {
      case _ where unit == 0 || whole >= 100: "\(whole)"
      case 10...: "\(whole).\(decimals / 10)"
      default: "\(whole).\(decimals < 10 ? "0" : "")\(decimals)"
      }
    return TerminalText.padded("\(number) \(units[unit])", to: columnWidth, alignedRight: true)
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

  /// Returns whole seconds in the form that ``parse(_:)`` reads, such as `1d12h`; `0s` for zero.
  package static func units(_ seconds: Int64) -> String {
    let parts = [
      (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m"),
      (seconds % 60, "s"),
    ]
    let text = parts.filter { $0.0 != 0 }.map { "\($0)\($1)" }.joined()
    return text.isEmpty ? "0s" : text
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

  /// Parses a number with at most nine decimals as a count and the power of ten that divides it;
  /// `nil` for anything else and on overflow.
  package static func decimal(_ text: Substring) -> (count: Int64, divisor: Int64)? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard let whole = number(parts[0]) else { return nil }
    guard parts.count > 1 else { return (whole, 1) }
    guard parts.count == 2, parts[1].utf8.count <= 9, let rest = number(parts[1]) else {
      return nil
    }
    let divisor = parts[1].utf8.reduce(Int64(1)) { power, _ in power * 10 }
    let (scaled, overflow) = whole.multipliedReportingOverflow(by: divisor)
    let (count, carry) = scaled.addingReportingOverflow(rest)
    return overflow || carry ? nil : (count, divisor)
  }
}
