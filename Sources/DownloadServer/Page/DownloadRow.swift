internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ProgramOutput

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A download in the list.
struct DownloadRow {
  let entry: DownloadEntry
  /// The speed in bytes per second; `nil` if it is not known.
  let speed: Double?
  /// Whether the row has buttons.
  let allowsChanges: Bool
  /// The list, for the links of tags.
  let query: DownloadListQuery

  private var record: DownloadRecord { entry.record }

  var html: HTML {
    """
    <tr role="row" class="is-\(entry.state)" data-id="\(record.id)" \
    data-state="\(entry.state) \(record.intent.rawValue)">\
    \(pick)\
    <th role="rowheader" scope="row" class="name">\
    <a href="/downloads/\(record.id)" data-key="name"><bdi>\(record.filename)</bdi></a>\
    <div class="under"><bdi>\(PageText.host(of: record.url))</bdi>\(tags)</div>\(why)</th>\
    <td role="cell" class="status">\(StateLabel(word: entry.state).html)</td>\
    <td role="cell" class="progress">\(ProgressCell(entry: entry).html)</td>\
    <td role="cell" class="speed number" data-field="speed">\(PageText.speed(speed))</td>\
    <td role="cell" class="left number" data-field="left">\(left)</td>\
    \(buttons)</tr>
    """
  }

  private var pick: HTML? {
    guard allowsChanges else { return nil }
    return """
      <td role="cell" class="pick"><input type="checkbox" name="id" value="\(record.id)" \
      form="commands" data-key="pick" aria-label="Select \(record.filename)"></td>
      """
  }

  private var tags: HTML? {
    guard !record.tags.isEmpty else { return nil }
    let links = record.tags.sorted().prefix(6).map { tag -> HTML in
      "<a class=\"chip\" href=\"\(query.with { $0.tag = tag }.address)\">\(tag)</a>"
    }
    return "<span class=\"chips\">\(Array(links))</span>"
  }

  private var why: HTML? {
    guard let text = DownloadSentence.text(of: entry) else { return nil }
    return "<div class=\"why \(entry.state)\" data-field=\"why\">\(text)</div>"
  }

  private var left: String {
    let estimate = ProgressEstimate(
      received: record.received,
      expected: record.expected,
      bytesPerSecond: speed
    )
    guard entry.isRunning, let remaining = estimate.remaining else { return "" }
    return PageText.duration(remaining / .seconds(1))
  }

  private var buttons: HTML? {
    guard allowsChanges else { return nil }
    let commands = RowCommand.commands(for: record)
    return """
      <td role="cell" class="do"><div class="actions">\(commands.first.map(button))\
      <details class="menu"><summary data-key="more" aria-label="More actions for \(record.filename)">\
      \(Icon.more.html)</summary><div>\(commands.dropFirst().map(button))\
      <a class="button" href="/change?id=\(record.id)">\(Icon.edit.html) Change…</a>\
      <a class="button danger" href="/remove?id=\(record.id)">\(Icon.trash.html) Remove…</a>\
      </div></details></div></td>
      """
  }

  private func button(_ command: RowCommand) -> HTML {
    """
    <button form="commands" name="one" value="\(command.rawValue) \(record.id)" \
    data-key="\(command.rawValue)" aria-label="\(command.title(for: record)): \(record.filename)">\
    \(command.icon.html) \(command.title(for: record))</button>
    """
  }
}

/// The bar and the amounts of a download.
struct ProgressCell {
  let entry: DownloadEntry

  var html: HTML {
    let record = entry.record
    let size: HTML =
      record.expected.map { " <span data-field=\"expected\">of \(ByteAmount.text($0))</span>" }
      ?? (record.state == .completed ? "" : " <span data-field=\"expected\">of unknown size</span>")
    let percent = entry.fraction.map { "\(PageText.percent($0))%" } ?? ""
    return """
      <progress max="1000" value="\(Int((entry.fraction ?? 0) * 1000))" \
      aria-label="Progress of \(record.filename)"></progress>\
      <div class="amount"><span><b data-field="received">\(ByteAmount.text(record.received))</b>\
      \(size)</span><span data-field="percent">\(percent)</span></div>
      """
  }
}

/// Why a download has failed, or what it waits for.
enum DownloadSentence {
  /// Returns the sentence, without a full stop and with secrets redacted; `nil` if the state says all.
  static func text(of entry: DownloadEntry) -> String? {
    let record = entry.record
    switch record.intent {
    case .pause where record.state != .paused: return "to be paused"
    case .cancel where record.state != .cancelled: return "to be cancelled, once an engine runs"
    case .remove: return "to be removed, once an engine runs"
    default: break
    }
    switch record.state {
    case .failedPermanent:
      guard let failure = record.attempts.last?.failure else { return nil }
      let attempts = record.failedAttempts
      let count = attempts > 1 && failure.code.isRetryable ? " (\(attempts) attempts)" : ""
      return FailureSentence.reason(failure, record) + count
    case .failedRetryable:
      let reason = record.attempts.last.map { FailureSentence.reason($0.failure, record) } ?? ""
      guard let next = record.nextRetryAt else { return reason }
      let wait = next.timeIntervalSinceNow
      return reason
        + (wait > 0 ? "; next attempt in \(PageText.duration(wait))" : "; next attempt soon")
    case .waiting where record.isHeld:
      return "another download was started in its place; Resume continues it"
    case .waiting where record.startsImmediately: return "starts before all others"
    case .waiting:
      if let time = record.notBefore, time > Date() { return "not before \(Timestamp.text(time))" }
      if record.attempts.last?.failure.code == .diskFull {
        return "waits for free space on the disk"
      }
      return nil
    case .running where !entry.isRunning:
      return "its engine has ended; the next engine continues it"
    case .completed:
      switch entry.fileStatus {
      case .missing: return entry.finishedFileText
      case .modified: return "the finished file was changed"
      default: break
      }
      return record.refreshFailure.map {
        "the last refresh failed: \(FailureSentence.reason($0, record))"
      }
    case .running, .paused, .finalizing, .cancelled, .removed: return nil
    }
  }
}
