internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync

/// The lines that show the progress of an engine: one per running download, then a summary.
struct ProgressFrame: Sendable {
  var downloads: [ProgressLine]
  /// The lines of downloads that wait for their next attempts.
  var retries: [String] = []
  var summary: ProgressSummary

  /// The maximum number of lines about the next attempts.
  private static let maximumRetries = 5

  /// Returns the lines for a terminal of this size; none of them is as wide as the terminal.
  ///
  /// Downloads that do not fit on the screen are counted in a line of their own.
  func lines(in size: (columns: Int, lines: Int), isColored: Bool = false) -> [ScreenLine] {
    // The last column stays free: some terminals wrap when it is written.
    let columns = max(1, size.columns - 1)
    let longest = downloads.map { TerminalText.widestWidth($0.name) }.max() ?? 0
    // Lines are no wider than their contents, so that fewer of them wrap in a narrower terminal.
    let width = min(columns, longest + ProgressLine.widthBesideName)
    // The summary and the line with the cursor.
    let room = max(1, size.lines - 2)
    let isCut = downloads.count > room
    var lines = downloads.prefix(isCut ? room - 1 : room).map { download in
      ScreenLine(
        download.text(width: width, longestName: longest, isColored: isColored),
        width: width
      )
    }
    if isCut {
      let more = "… and \(downloads.count - lines.count) more"
      lines.append(ScreenLine(TerminalText.truncated(more, to: columns)))
    }
    let left = max(0, room - lines.count)
    for retry in retries.prefix(min(left, Self.maximumRetries)) {
      lines.append(ScreenLine(TerminalText.truncated(retry, to: columns)))
    }
    lines.append(ScreenLine(summary.text(width: columns)))
    return lines
  }
}

/// The totals of many downloads.
struct ProgressSummary: Sendable, Equatable {
  /// The number of completed downloads.
  var completed = 0
  /// The number of permanently failed downloads.
  var failed = 0
  /// The number of downloads that are running or wait for a slot, a retry or disk space.
  var remaining = 0
  /// The number of bytes still to receive; `nil` if the size of a remaining download is unknown.
  var remainingBytes: Int64?
  /// The sum of the speeds in bytes per second; `nil` before one can be measured.
  var bytesPerSecond: Double?

  /// Returns the line, at most `width` columns wide; parts that do not fit are dropped from the end.
  ///
  /// - Parameters:
  ///   - width: The width in columns.
  ///   - isRunning: Whether an engine runs: without one there is no speed and no remaining time.
  ///   - counts: What is counted in place of the states; `nil` for the states.
  ///   - speed: Returns the text of a speed.
  /// - Returns: The line without a line end.
  func text(
    width: Int,
    isRunning: Bool = true,
    counts: String? = nil,
    speed: (Double) -> String = Speed.text
  ) -> String {
    var parts = counts.map { [$0] } ?? ["\(completed) completed", "\(remaining) remaining"]
    if counts == nil, failed > 0 { parts.append("\(failed) failed") }
    if isRunning {
      parts.append(bytesPerSecond.map(speed) ?? "-- B/s")
      parts.append("ETA " + (remainingTime.map(TimeSpan.text) ?? "--"))
    }
    while parts.count > 1, parts.joined(separator: "  ").count > width { parts.removeLast() }
    return TerminalText.truncated(parts.joined(separator: "  "), to: width)
  }

  /// The remaining time in seconds at the current speed; `nil` if it is unknown.
  private var remainingTime: Double? {
    guard let remainingBytes, let bytesPerSecond, bytesPerSecond > 0 else { return nil }
    return Double(remainingBytes) / bytesPerSecond
  }

  /// Adds a running download.
  mutating func add(_ estimate: ProgressEstimate) {
    remaining += 1
    let left = estimate.fraction == nil ? nil : estimate.expected.map { $0 - estimate.received }
    remainingBytes = Self.sum(remainingBytes, left)
    if let speed = estimate.bytesPerSecond { bytesPerSecond = (bytesPerSecond ?? 0) + speed }
  }

  /// The sum of byte counts; `nil` if one is unknown.
  ///
  /// Sizes come from servers, so the sum may overflow; it is clamped then.
  static func sum(_ left: Int64?, _ right: Int64?) -> Int64? {
    guard let left, let right else { return nil }
    let (sum, isTooLarge) = left.addingReportingOverflow(right)
    return isTooLarge ? .max : sum
  }
}

/// The progress line of one download.
struct ProgressLine: Sendable, Equatable {
  var name: String
  var estimate: ProgressEstimate
  /// The received ranges of a file with gaps, which the bar then shows.
  var ranges: [Range<Int64>]?

  /// The width of a line with a bar of full width, without the name.
  static let widthBesideName = 2 + maximumBarWidth + 2 + 4 + 2 + 17 + 2 + 13 + 2 + 9

  private static let maximumBarWidth = 30

  /// Returns the line, at most `width` columns wide.
  ///
  /// The least important parts are dropped first.
  ///
  /// - Parameters:
  ///   - width: The width in columns.
  ///   - longestName: The width of the longest name of all lines, so that their parts are aligned.
  ///   - isColored: Whether the bar is colored.
  /// - Returns: The line without a line end.
  func text(width: Int, longestName: Int? = nil, isColored: Bool = false) -> String {
    let name = TerminalText.safe(name)
    // In the order of ``columns``; `nil` for one that does not fit.
    var columns = columns.map(Optional.some)
    func room() -> Int {
      width - columns.compactMap(\.self).reduce(0) { $0 + 2 + TerminalText.width($1) }
    }
    let longest = longestName ?? TerminalText.widestWidth(name)
    let least = min(longest, 12)
    // The percentage is kept longest; the amounts are of use if the size is unknown.
    var droppable = estimate.fraction == nil ? [1, 2, 3] : [2, 3, 1]
    while room() < least, let index = droppable.popLast() { columns[index] = nil }
    if room() < 1 { return TerminalText.truncated(columns[0] ?? name, to: width) }
    // A short bar would say less than the name.
    let isWhole = !columns.contains(nil)
    let barWidth = isWhole ? barWidth(room: room(), longest) : 0
    let nameWidth = room() - (barWidth > 0 ? barWidth + 2 : 0)
    let bar: String
    if let ranges, let expected = estimate.expected {
      bar = ProgressBar.map(ranges, of: expected, width: barWidth, isColored: isColored)
    } else {
      bar = ProgressBar.text(estimate.fraction, width: barWidth, isColored: isColored)
    }
    let rest = (barWidth > 0 ? [bar] : []) + columns.compactMap(\.self)
    let shown = TerminalText.truncated(name, to: nameWidth, onAnyTerminal: true)
    let blanks = String(repeating: " ", count: nameWidth - TerminalText.widestWidth(shown))
    let position =
      TerminalText.hasUncertainWidth(shown) ? Terminal.column(nameWidth + 1) : ""
    return TerminalText.isolated(shown) + blanks + position + "  "
      + rest.joined(separator: "  ")
  }

  /// The percentage, the amounts, the speed and the remaining time.
  private var columns: [String] {
    let percent = estimate.percentage.map { "\($0)%" } ?? "--%"
    let whole = estimate.expected.map { "/" + ByteAmount.text($0) } ?? ""
    let speed = estimate.bytesPerSecond.map(Speed.text) ?? "--"
    let remaining = estimate.remaining.map { TimeSpan.text($0 / .seconds(1)) } ?? "--"
    return [
      TerminalText.padded(percent, to: 4, alignedRight: true),
      TerminalText.padded(ByteAmount.text(estimate.received) + whole, to: 17, alignedRight: true),
      TerminalText.padded(speed, to: 13, alignedRight: true),
      TerminalText.padded("ETA " + remaining, to: 9),
    ]
  }

  /// The width of the bar: what remains beside a name of 24 columns, or shorter names.
  private func barWidth(room: Int, _ longestName: Int) -> Int {
    let width = min(Self.maximumBarWidth, room - 2 - min(24, longestName))
    return width >= 8 ? width : 0
  }
}

/// A progress bar of characters.
enum ProgressBar {
  /// Returns the bar; empty while the fraction is unknown.
  static func text(_ fraction: Double?, width: Int, isColored: Bool = false) -> String {
    let inner = max(0, width - 2)
    let full = Int(Double(inner) * max(0, min(1, fraction ?? 0)))
    let done = String(repeating: "=", count: full)
    let shown = isColored && full > 0 ? TerminalColor.cyan.applied(to: done) : done
    return "[" + shown + String(repeating: " ", count: inner - full) + "]"
  }

  /// Returns a bar in which each column stands for a part of the file: `=` if all of it was received,
  /// `-` if some of it was.
  static func map(
    _ ranges: [Range<Int64>],
    of size: Int64,
    width: Int,
    isColored: Bool = false
  ) -> String {
    let inner = max(0, width - 2)
    let columns = (0..<inner).map { column -> Character in
      func offset(_ column: Int) -> Int64 { Int64(Int128(size) * Int128(column) / Int128(inner)) }
      let part = offset(column)..<max(offset(column) + 1, offset(column + 1))
      let received = ranges.reduce(0) { $0 + $1.clamped(to: part).count }
      return received == part.count ? "=" : received > 0 ? "-" : " "
    }
    let shown = String(columns)
    return "[" + (isColored ? TerminalColor.cyan.applied(to: shown) : shown) + "]"
  }
}
