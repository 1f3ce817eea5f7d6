internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync

/// The downloads of a run that wait for their next attempts, for the lines on the screen.
struct PendingRetries: Sendable {
  /// The maximum number of downloads that are held.
  private static let maximumCount = 100

  private var waiting: [(record: DownloadRecord, due: ContinuousClock.Instant)] = []

  /// Notes an event.
  mutating func note(_ event: DownloadEvent, at now: ContinuousClock.Instant = .now) {
    guard let url = event.url else { return }
    waiting.removeAll { $0.record.url == url }
    if case .retrying(let record, _, let wait) = event, waiting.count < Self.maximumCount {
      waiting.append((record, now + wait))
    }
  }

  /// Returns a line for each download, the next one first: `a.iso: attempt 2 of 8 in 3 s`.
  func lines(_ text: EventLine, at now: ContinuousClock.Instant = .now) -> [String] {
    waiting.sorted { $0.due < $1.due }.map { record, due in
      let wait = now.duration(to: due)
      let time = wait > .zero ? " in \(WaitText.text(max(wait, .seconds(1))))" : ""
      return "\(TerminalText.safe(record.filename)): \(text.attempt(record))\(time)"
    }
  }
}
