/// One running download on one line of a terminal.
struct ProgressLine: Sendable, Equatable {
  var name: String
  var received: Int64
  /// `nil` while the size is unknown.
  var expected: Int64?
  /// Bytes per second.
  var speed: Double?
  /// Seconds.
  var remaining: Double?

  /// The line, at most `width` columns wide: what matters least goes first.
  func text(width: Int) -> String {
    let name = TerminalText.safe(name)
    var facts = facts
    func room() -> Int { width - facts.reduce(0) { $0 + 2 + TerminalText.width($1) } }
    let least = min(TerminalText.width(name), 12)
    // From the end: time left, speed, amounts; the percentage stays longest.
    while facts.count > 1, room() < least { facts.removeLast() }
    if room() < 1 { return TerminalText.truncated(facts.first ?? name, to: width) }
    let barWidth = barWidth(room: room())
    if barWidth > 0 { facts.insert(bar(barWidth), at: 0) }
    let nameWidth = room()
    let shown = TerminalText.truncated(name, to: nameWidth)
    return ([TerminalText.padded(shown, to: nameWidth)] + facts).joined(separator: "  ")
  }

  private var fraction: Double? {
    guard let expected else { return nil }
    return expected > 0 ? min(1, Double(received) / Double(expected)) : 1
  }

  private var facts: [String] {
    let percent = fraction.map { "\(Int($0 * 100))%" } ?? "--%"
    let whole = expected.map { "/" + ByteAmount.text($0) } ?? ""
    let speed = speed.map { ByteAmount.text(Int64($0)) + "/s" } ?? "--"
    let remaining = remaining.map(TimeSpan.text) ?? "--"
    return [
      TerminalText.padded(percent, to: 4, alignedRight: true),
      TerminalText.padded(ByteAmount.text(received) + whole, to: 17, alignedRight: true),
      TerminalText.padded(speed, to: 10, alignedRight: true),
      TerminalText.padded("ETA " + remaining, to: 9),
    ]
  }

  /// A bar takes what a name of 24 columns leaves.
  private func barWidth(room: Int) -> Int {
    let width = min(30, room - 2 - 24)
    return width >= 8 ? width : 0
  }

  private func bar(_ width: Int) -> String {
    guard let fraction else { return "[" + String(repeating: " ", count: width - 2) + "]" }
    let full = Int(Double(width - 2) * fraction)
    let rest = String(repeating: " ", count: width - 2 - full)
    return "[" + String(repeating: "=", count: full) + rest + "]"
  }
}
