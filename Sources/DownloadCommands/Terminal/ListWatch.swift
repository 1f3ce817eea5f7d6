internal import DownloadStore
internal import ObjectStore

/// Shows a list again whenever the store changes.
struct ListWatch {
  let list: ListCommand
  let store: RecordStore

  /// Runs until a signal arrives or the reader closes the pipe.
  func run() async throws {
    let stop = StopLatch()
    let signals = StopSignals { _ in stop.stop() }
    defer { withExtendedLifetime(signals) {} }
    let output = Output.current
    let isScreen = Terminal.output.isInteractive
    if isScreen { try output.write(Terminal.hideCursor + Terminal.clearAll) }
    defer { if isScreen { try? output.write(Terminal.showCursor) } }
    var shown: UInt64?
    var shownSize: (columns: Int, lines: Int)?
    while !stop.isStopped, isScreen || !Terminal.output.hasLostReader {
      let count = try store.objects.commitNumber()
      let size = isScreen ? Terminal.output.size : nil
      if count != shown || size?.columns != shownSize?.columns || size?.lines != shownSize?.lines {
        try show(in: size)
        shown = count
        shownSize = size
      }
      await stop.wait(.milliseconds(500))
    }
    if signals.first == .terminate { throw CommandFailure(.terminated) }
  }

  private func show(in size: (columns: Int, lines: Int)?) throws {
    let entries = try list.entries(in: store)
    guard let size else {
      let width = Terminal.output.width
      let style = TerminalStyle(width: width)
      return try list.display.output.render(entries, style: style, to: Output.current.write)
    }
    var text = ""
    list.display.output.render(entries, style: TerminalStyle(width: size.columns)) { text += $0 }
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    if lines.count > size.lines - 1 {
      let missing = lines.count - size.lines + 2
      lines = lines.prefix(max(0, size.lines - 2))
      lines.append("… and \(missing) more")
    }
    let frame = lines.map { "\($0)\(Terminal.clearLine)\n" }.joined()
    try Output.current.write(Terminal.home + frame + Terminal.clearBelow)
  }
}
