internal import DownloadStore

/// The progress line of one download.
struct ProgressLine: Sendable, Equatable {
  var name: String
  var estimate: ProgressEstimate

  /// Returns the line, at most `width` columns wide.
  ///
  /// The least important parts are dropped first.
  func text(width: Int) -> String {
    let name = TerminalText.safe(name)
    var columns = columns
    func room() -> Int { width - columns.reduce(0) { $0 + 2 + TerminalText.width($1) } }
    let least = min(TerminalText.width(name), 12)
    // Dropped from the end: remaining time, speed, amounts. The percentage is kept longest.
    while columns.count > 1, room() < least { columns.removeLast() }
    if room() < 1 { return TerminalText.truncated(columns.first ?? name, to: width) }
    let barWidth = barWidth(room: room())
    if barWidth > 0 { columns.insert(bar(barWidth), at: 0) }
    let nameWidth = room()
    let shown = TerminalText.truncated(name, to: nameWidth)
    return ([TerminalText.padded(shown, to: nameWidth)] + columns).joined(separator: "  ")
  }

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

  /// The width of the bar: what remains beside a name of 24 columns.
  private func barWidth(room: Int) -> Int {
    let width = min(30, room - 2 - 24)
    return width >= 8 ? width : 0
  }

  private func bar(_ width: Int) -> String {
    guard let fraction = estimate.fraction else {
      return "[" + String(repeating: " ", count: width - 2) + "]"
    }
    let full = Int(Double(width - 2) * fraction)
    let rest = String(repeating: " ", count: width - 2 - full)
    return "[" + String(repeating: "=", count: full) + rest + "]"
  }
}
