internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// What `list --watch` shows of a list on a terminal: its first downloads, and the totals of all.
///
/// A list of up to ``WatchedList/maximumCount`` downloads is read as a whole. The downloads of a
/// longer one that are neither among the first nor running are counted by their states.
struct WatchContent: Sendable {
  private let listing: RecordListing
  /// The list, or its parts, one after the other.
  private var lists: [WatchedList]
  /// The first downloads of the list, or all of them.
  private(set) var entries: [DownloadEntry] = []
  /// The running downloads of the list.
  private(set) var running: [DownloadEntry] = []
  /// The number of downloads in the list.
  private(set) var count = 0
  /// The totals of a list that is not read as a whole.
  private var totals: ProgressSummary?

  /// Creates a content that has not been read.
  ///
  /// - Parameters:
  ///   - listing: The list.
  ///   - groups: The states of its parts, which are shown one after the other; `nil` for one part in
  ///     the order of the list. An index serves each part.
  init(of listing: RecordListing, groups: [[DownloadState]]? = nil) {
    self.listing = listing
    let parts = groups?.map { states in
      var part = listing
      part.condition = DownloadRecord.columns.state.isIn(states) && listing.condition
      return part
    }
    lists = (parts ?? [listing]).map { WatchedList($0) }
  }

  /// Whether a download waits for its next attempt, the time to which changes.
  var isRetrying: Bool { entries.contains { $0.record.state == .failedRetryable } }

  /// Reads what has changed, from one snapshot.
  ///
  /// - Throws: `StoreError`; `CancellationError`.
  mutating func update(from store: RecordStore) throws {
    let roots = try store.roots()
    self = try store.objects.read { tx in
      var content = self
      try content.update(in: &tx, roots)
      return content
    }
  }

  /// Returns the totals of the list.
  func summary(_ speeds: ListSpeeds) -> ProgressSummary {
    guard var totals else { return speeds.summary(of: entries) }
    totals.bytesPerSecond = speeds.values.isEmpty ? nil : speeds.values.values.reduce(0, +)
    return totals
  }

  private mutating func update(in tx: inout Snapshot, _ roots: Roots) throws {
    for index in lists.indices { try lists[index].update(in: &tx, roots) }
    entries = Array(lists.flatMap(\.entries).prefix(listing.limit ?? .max))
    guard lists.contains(where: \.isCut) else {
      running = listing.engineRuns ? entries.filter { $0.record.state == .running } : []
      count = entries.count
      totals = nil
      return
    }
    let counts = try listing.counts(in: &tx)
    count = min(counts.values.reduce(0, +), listing.limit ?? .max)
    var totals = ProgressSummary(remainingBytes: nil)
    totals.completed = counts[.completed] ?? 0
    totals.failed = counts[.failedPermanent] ?? 0
    let remaining: [DownloadState] = [.waiting, .running, .failedRetryable, .finalizing]
    totals.remaining = remaining.reduce(0) { $0 + (counts[$1] ?? 0) }
    self.totals = totals
    let isRunning = DownloadRecord.columns.state == .running
    var active = RecordListing(condition: isRunning && listing.condition)
    active.limit = WatchedList.maximumCount
    running = []
    // Without an engine there is no transfer.
    guard listing.engineRuns else { return }
    try active.read(in: &tx, roots) { entries in try entries { running.append($0) } }
  }
}

extension RecordListing {
  /// Returns the number of matching downloads by state, without the limit.
  ///
  /// - Throws: `StoreError`; `CancellationError`.
  /// - Complexity: O(n) in the matches: their entries of the index on the state if the condition
  ///   tests nothing else, otherwise their records.
  fileprivate func counts(in tx: inout Snapshot) throws -> [DownloadState: Int] {
    var counts: [DownloadState: Int] = [:]
    func query(_ state: DownloadState) -> Query<DownloadRecord> {
      Query(condition && DownloadRecord.columns.state == state)
    }
    guard try tx.explain(query(.waiting)).isExact else {
      _ = try tx.fetch(Query(condition)) { view in counts[try view.state, default: 0] += 1 }
      return counts
    }
    for state in DownloadState.allCases { counts[state] = try tx.count(query(state)) }
    return counts
  }
}
