internal import DownloadReports
internal import DownloadStore
internal import DownloadSync
internal import ObjectStore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// What a feed knows of its store: the position in the history, the running downloads, their speeds, and
/// the totals.
///
/// A value: a look at the store returns the next one.
struct LiveReader: Sendable {
  /// The result of a look.
  struct Step: Sendable {
    var reader: LiveReader
    /// The position at which the change begins; `nil` for the first look.
    var base: HistoryToken?
    /// The change; `nil` for the first look, and without news.
    var change: LiveChange?
  }

  /// The time after which the speeds of running downloads are computed again without a commit: nothing
  /// arrives.
  private static let decay = Duration.seconds(2)

  /// The position up to which the store was read; `nil` before the first look.
  private(set) var position: HistoryToken?
  private var commit: UInt64?
  private var earliest: ContinuousClock.Instant?
  private var lastSpeeds: ContinuousClock.Instant?
  private(set) var running: [String: DownloadRecord] = [:]
  private(set) var speeds = ListSpeeds()
  private var counts = StateCounts()
  /// Whether the totals have changed since they were counted.
  private var needsCounts = true
  private(set) var summary = LiveChange.Summary()

  /// Looks at a store.
  ///
  /// - Returns: What it knows then; `nil` if it was too early, or nothing has changed.
  /// - Throws: `StoreError`.
  func step(in store: RecordStore) throws -> Step? {
    let now = ContinuousClock.now
    guard earliest.map({ $0 <= now }) ?? true else { return nil }
    let number = try store.objects.commitNumber()
    // An engine that was killed has committed nothing.
    let engineRuns = store.hasEngine
    let isStale = !running.isEmpty && lastSpeeds.map { $0 + Self.decay <= now } ?? true
    guard
      number != commit || engineRuns != summary.engineRuns || isStale
        || needsCounts && counts.isDue(at: now)
    else { return nil }
    var next = self
    next.commit = number
    next.earliest = now + LiveFeed.interval
    let roots = try store.roots()
    let change = try store.objects.read { tx in
      try next.update(in: &tx, roots, engineRuns: engineRuns)
    }
    return Step(reader: next, base: position, change: position == nil ? nil : change)
  }

  private mutating func update(
    in tx: inout Snapshot,
    _ roots: Roots,
    engineRuns: Bool
  ) throws -> LiveChange {
    var change = try changes(since: position, in: &tx, roots, engineRuns: engineRuns)
    let hadEngine = summary.engineRuns
    position = try tx.historyToken()
    if change.isReset || hadEngine != engineRuns { try readRunning(in: &tx) }
    for item in change.items {
      let record = item.entry.record
      running[record.id] = record.state == .running && engineRuns ? record : nil
    }
    for id in change.removed { running[id] = nil }
    if !engineRuns { running = [:] }
    measure(roots)
    if !change.items.isEmpty || !change.removed.isEmpty || change.isReset { needsCounts = true }
    if needsCounts, counts.isDue(at: .now) {
      try counts.update(in: &tx)
      needsCounts = false
    }
    // The states that depend on the engine have other words now.
    if hadEngine != engineRuns { change.isReset = true }
    summary.counts = counts.words(engineRuns: engineRuns)
    summary.engineRuns = engineRuns
    summary.bytesPerSecond = speeds.values.values.reduce(0, +)
    return finished(change, roots)
  }

  /// Adds the running downloads, the speeds and the totals to a change.
  private func finished(_ change: LiveChange, _ roots: Roots) -> LiveChange {
    var change = change
    if change.isReset {
      change.items = []
      change.removed = []
    } else {
      let listed = Set(change.items.map(\.entry.record.id))
      for record in running.values.sorted(by: { $0.id < $1.id })
      where !listed.contains(record.id) && change.items.count < LiveFeed.maximumItems {
        change.items.append(LiveChange.Item(entry: DownloadEntry(record, roots)))
      }
    }
    for index in change.items.indices {
      let record = change.items[index].entry.record
      guard record.state == .running else { continue }
      change.items[index].bytesPerSecond = speeds.values[record.id]
    }
    change.summary = summary
    return change
  }

  /// Returns what has changed after a client's position.
  ///
  /// - Returns: The change, and its end.
  /// - Throws: `StoreError`.
  func change(
    since client: HistoryToken?,
    in store: RecordStore
  ) throws -> (LiveChange, HistoryToken) {
    let roots = try store.roots()
    let engineRuns = summary.engineRuns
    return try store.objects.read { tx in
      let end = try tx.historyToken()
      // A client without a position reads its view itself.
      let change =
        client == nil
        ? LiveChange(token: LiveToken.text(of: end))
        : try changes(since: client, in: &tx, roots, engineRuns: engineRuns)
      return (finished(change, roots), end)
    }
  }

  private func changes(
    since start: HistoryToken?,
    in tx: inout Snapshot,
    _ roots: Roots,
    engineRuns: Bool
  ) throws -> LiveChange {
    var change = LiveChange(token: LiveToken.text(of: try tx.historyToken()))
    guard let start,
      case .changes(let found) = try tx.changes(
        since: start,
        of: DownloadRecord.self,
        atMost: LiveFeed.maximumItems
      )
    else {
      change.isReset = true
      return change
    }
    for record in found.inserted + found.updated.map(\.object) {
      guard record.state != .removed else {
        change.removed.append(record.id)
        continue
      }
      let entry = DownloadEntry(record, roots, engineRuns: engineRuns)
      change.items.append(LiveChange.Item(entry: entry))
    }
    // A download has been shown as removed before its record is deleted, unless both happened since.
    let kept = Set(change.items.map(\.entry.record.id))
    change.removed += found.deleted.map { RecordIdentity.id(forURL: $0) }
      .filter { !kept.contains($0) }
    return change
  }

  private mutating func readRunning(in tx: inout Snapshot) throws {
    let query = DownloadRecord.where { $0.state == .running }.limit(LiveFeed.maximumRunning)
    running = Dictionary(
      try tx.fetch(query).map { ($0.id, $0) },
      uniquingKeysWith: { first, _ in first }
    )
  }

  private mutating func measure(_ roots: Roots) {
    let entries = running.values.map { DownloadEntry($0, roots) }
    speeds.note(entries, at: .now)
    lastSpeeds = .now
  }
}
