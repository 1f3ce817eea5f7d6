internal import CommandLineSupport
internal import DownloadReports
internal import DownloadStore
internal import Foundation

/// The screen of `list --watch`: a heading, the downloads that fit, and the keys.
///
/// Pure: the lines depend on these values, the size and the style only.
struct WatchFrame {
  /// The first downloads of the list.
  var entries: [DownloadEntry]
  /// The number of downloads in the list.
  var count: Int
  /// The speeds of running downloads by their ids, in bytes per second.
  var speeds: [String: Double]
  var summary: ProgressSummary
  /// The process of the engine, as `process 1`; `nil` if none runs.
  var engine: String?
  /// The rate limit of the store in bytes per second; `nil` if there is none.
  var limit: Int64?
  var view = WatchView()
  /// Whether options or names of the command select downloads.
  var isSelection = false
  /// Whether keys are read.
  var hasKeys = true
  /// What the last key has done; empty for nothing.
  var message = ""
  /// The format of the table.
  var output = ListOutput()
  var now = Date()

  /// The keys, the most important first.
  static let keys = "q quit  p pause  r resume  t retry failed  f filter  s sort  ↑↓ select  ? keys"

  /// All keys with their effects.
  static let allKeys = [
    "↑ ↓, k j            select a download",
    "Page Up, Page Down  move the selection by a screen",
    "Home End, g G       select the first or the last download",
    "p                   pause the selected download",
    "r                   resume the selected download",
    "t                   resume all downloads of the list that failed",
    "f                   show all, the active, the failed, or the completed downloads",
    "s                   sort by state, name, size, or age",
    "?                   show these keys, or the list again",
    "q, Ctrl-C           end",
  ]

  /// What an empty list says.
  private var emptyText: String {
    if view.filter != .all { return "No download is \(view.filter.rawValue): f shows others." }
    if isSelection { return "No download matches the selection." }
    return "No downloads: \(SuggestedCommand.text("add URL")) adds one."
  }

  /// The fewest lines of a terminal on which the keys are shown.
  private static let fewestLines = 6

  /// Returns the lines: none is wider than the terminal, and they are not more than it has.
  ///
  /// The selected download is always among them.
  func lines(
    in size: (columns: Int, lines: Int),
    _ style: TerminalStyle = TerminalStyle()
  ) -> (frame: [ScreenLine], keys: ScreenLine?) {
    var style = style
    style.width = size.columns
    let showsKeys = size.lines >= Self.fewestLines
    let room = room(in: size.lines)
    let isCut = count > room
    let rows = rows(in: size.lines)
    let position = view.position(in: entries.map(\.record.id))
    let start = max(0, min(position - rows + 1, entries.count - rows))
    let shown = Array(entries.dropFirst(start).prefix(rows))
    let selected = hasKeys && position < entries.count ? entries[position].record.id : nil
    let table = output.table(shown, speeds: speeds, selected: selected, now: now)
    var lines = [heading(width: size.columns)]
    if view.showsKeys {
      lines += Self.allKeys.map { TerminalText.truncated($0, to: size.columns) }
    } else if entries.isEmpty {
      lines.append(TerminalText.truncated(emptyText, to: size.columns))
    } else {
      lines += table.lines(style)
    }
    if isCut, room > 1, !view.showsKeys {
      let more = count - shown.count
      let place = start > 0 ? "… \(start) above, \(more - start) below" : "… and \(more) more"
      lines.append(TerminalText.truncated(place, to: size.columns))
    }
    let keys = message.isEmpty ? hasKeys ? Self.keys : "Ctrl-C quits" : message
    return (
      lines.prefix(max(1, size.lines - (showsKeys ? 1 : 0))).map { ScreenLine($0) },
      showsKeys
        ? ScreenLine(TerminalText.truncated(TerminalText.safe(keys), to: size.columns)) : nil
    )
  }

  /// The number of lines for downloads, and for the number of those that do not fit.
  private func room(in lines: Int) -> Int {
    let fixed = 1 + (output.hasHeader ? 1 : 0) + (lines >= Self.fewestLines ? 1 : 0)
    return max(1, lines - fixed)
  }

  /// Returns the number of downloads that a terminal shows.
  func rows(in lines: Int) -> Int {
    let room = room(in: lines)
    return count > room ? max(1, room - 1) : room
  }

  /// The totals, and the engine, the limit, the filter and the order if there is room.
  private func heading(width: Int) -> String {
    let isFiltered = view.filter != .all
    // The totals are those of the downloads that the filter shows.
    var text = summary.text(
      width: width,
      isRunning: engine != nil && (!isFiltered || view.filter == .active),
      counts: isFiltered ? "\(count) \(view.filter.rawValue)" : nil,
      speed: Speed.column
    )
    func add(_ part: String, first: Bool = false) {
      guard text.count + 2 + part.count <= width else { return }
      text = first ? "\(part)  \(text)" : "\(text)  \(part)"
    }
    // What is added first is dropped last.
    if isFiltered { add("filter: \(view.filter.rawValue)") }
    if let limit { add("limit \(ByteAmount.text(limit))/s") }
    add(engine.map { "engine: \($0)" } ?? "no engine runs", first: true)
    if view.order != .state { add("sort: \(view.order.rawValue)") }
    return text
  }

  /// Returns what a download waits for or why it failed; empty if its state says everything.
  static func reason(of entry: DownloadEntry, now: Date) -> String {
    let record = entry.record
    switch record.state {
    case .failedPermanent: return entry.lastAttempt.map { entry.message(of: $0) } ?? ""
    case .failedRetryable:
      let wait = max(0, record.nextRetryAt?.timeIntervalSince(now) ?? 0)
      let reason = entry.lastAttempt.map { ": " + entry.message(of: $0) } ?? ""
      // It may wait for its turn.
      let time = wait > 0 ? "in \(TimeSpan.text(wait))" : "is next"
      return "attempt \(record.failedAttempts + 1) \(time)\(reason)"
    case .waiting: return QueuePositionText.text(of: record, revealsSecrets: false, now: now) ?? ""
    case .running, .paused, .finalizing, .completed, .cancelled, .removed: return ""
    }
  }
}
