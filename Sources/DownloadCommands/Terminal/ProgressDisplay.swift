internal import DownloadStore
internal import DownloadSync

/// Shows an engine's progress: bars below event lines on a terminal, event lines only elsewhere.
actor ProgressDisplay {
  private let output: Output
  private let isScreen: Bool
  /// The widths of the bars above the cursor.
  private var drawn: [Int] = []
  private var isCursorHidden = false
  private var pending: [String] = []
  private var hasFailures = false

  init(output: Output = .current, isScreen: Bool = Terminal.messages.isInteractive) {
    self.output = output
    self.isScreen = isScreen
  }

  /// Follows the engine until its run ends.
  ///
  /// `events` must have been subscribed before the run.
  nonisolated func follow(_ engine: DownloadEngine, _ events: DownloadEvents) async {
    let drawing = isScreen ? Task { await draw(engine) } : nil
    for await event in events { await tell(event) }
    drawing?.cancel()
    await drawing?.value
    await finish()
  }

  /// Restores the terminal before an immediate exit.
  static func restoreTerminal() {
    if Terminal.messages.isInteractive { Output.current.draw(Terminal.showCursor) }
  }

  private nonisolated func draw(_ engine: DownloadEngine) async {
    while !Task.isCancelled {
      await draw(await engine.currentProgress(), in: Terminal.messages.size)
      try? await Task.sleep(for: .milliseconds(100))
    }
  }

  private func tell(_ event: DownloadEvent) {
    if case .failed = event, !hasFailures {
      hasFailures = true
      Worker.current?.tell(.failed)
    }
    guard let line = EventLine.text(for: event) else { return }
    // A started download is shown as a bar.
    if isScreen, case .started = event { return }
    if isScreen { pending.append(TerminalText.safe(line)) } else { output.say(line) }
  }

  private func draw(
    _ progress: [DownloadProgress],
    in size: (columns: Int, lines: Int)
  ) {
    let lines = progress.map { download in
      ProgressLine(name: download.filename, estimate: download.estimate)
        .text(width: size.columns - 1)
    }
    // Lines that do not fit on the screen could not be redrawn in place.
    redraw(Array(lines.prefix(max(1, size.lines - 1))), columns: size.columns)
  }

  private func redraw(_ bars: [String], columns: Int) {
    var frame = isCursorHidden ? "" : Terminal.hideCursor
    isCursorHidden = true
    // After a terminal was made narrower, the drawn bars occupy more rows.
    frame += Terminal.up(drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) })
    for line in pending + bars { frame += line + Terminal.clearLine + "\n" }
    frame += Terminal.clearBelow
    pending = []
    drawn = bars.map(TerminalText.width)
    output.draw(frame)
  }

  private func finish() {
    guard isScreen else { return }
    redraw([], columns: Terminal.messages.size.columns)
    output.draw(Terminal.showCursor)
  }
}

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

/// An engine event as one line of text.
enum EventLine {
  /// The line; `nil` for an event that is not printed.
  static func text(for event: DownloadEvent) -> String? {
    switch event {
    case .started(let record, let offset):
      offset > 0
        ? "started \(record.filename) from byte \(offset)"
        : "started \(record.filename) (\(Redaction.url(record.url)))"
    case .rolledBack(let url, let bytes):
      bytes > 0 ? "starting over \(Redaction.url(url)): \(bytes) bytes were dropped" : nil
    case .completed(let record):
      "completed \(record.filename) (\(ByteAmount.text(record.received)))"
    case .retrying(let record, let failure, let wait):
      "retrying \(record.filename) in \(TimeSpan.text(wait / .seconds(1))): "
        + reason(failure, record)
    case .failed(let record, let failure):
      "failed \(record.filename): \(reason(failure, record))"
    case .waitingForDiskSpace(let record):
      "the disk is full: \(record.filename) waits for free space"
    case .released(let url):
      "released \(Redaction.url(url))"
    case .interceptorFailed(let url, let failure):
      "interceptor \(failure.interceptor) failed for \(Redaction.url(url)): \(failure.message)"
    case .missed(let count):
      "\(count) messages were dropped"
    }
  }

  private static func reason(_ failure: DownloadFailure, _ record: DownloadRecord) -> String {
    let message = ([record.url] + record.mirrors).reduce(failure.message) {
      $0.replacing($1, with: Redaction.url($1))
    }
    return "\(failure.code.rawValue), \(message)"
  }
}
