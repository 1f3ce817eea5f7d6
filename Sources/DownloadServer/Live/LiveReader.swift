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
  /// The number of downloads whose ids are known.
  private static let maximumIDs = 10_000

  /// The position up to which the store was read; `nil` before the first look.
  private(set) var position: HistoryToken?
  private var commit: UInt64?
  private var earliest: ContinuousClock.Instant?
  private var lastSpeeds: ContinuousClock.Instant?
  /// The running downloads at ``position``, by id.
  private(set) var running: [String: DownloadRecord] = [:]
  /// The ids at ``position`` of downloads that have changed while the feed ran, by URL.
  private var ids: [StoredText: String] = [:]
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
    var change = LiveChange(token: LiveToken.text(of: try tx.historyToken()))
    if let found = try changes(since: position, in: &tx) {
      change.add(found, ids, roots, engineRuns: engineRuns)
      note(found)
    } else {
      change.isReset = true
      ids = [:]
    }
    let hadEngine = summary.engineRuns
    position = try tx.historyToken()
    if change.isReset || hadEngine != engineRuns {
      try readRunning(in: &tx, engineRuns: engineRuns)
    } else {
      for item in change.items {
        let record = item.entry.record
        running[record.id] = record.state == .running && engineRuns ? record : nil
      }
      for id in change.removed { running[id] = nil }
    }
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

  /// Returns what has changed after a client's position, with the running downloads at its end.
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
      var change = LiveChange(token: LiveToken.text(of: end))
      // A client without a position reads its view itself.
      if let client {
        if let found = try changes(since: client, in: &tx) {
          change.add(found, client == position ? ids : [:], roots, engineRuns: engineRuns)
        } else {
          change.isReset = true
        }
      }
      // The running downloads are those of the token: a client hears only of later changes.
      var current = self
      if position != end { try current.readRunning(in: &tx, engineRuns: engineRuns) }
      return (current.finished(change, roots), end)
    }
  }

  /// Returns the changes after a position; `nil` if there are too many, or the history lacks some.
  private func changes(
    since start: HistoryToken?,
    in tx: inout Snapshot
  ) throws -> ObjectChanges<DownloadRecord>? {
    guard let start,
      case .changes(let found) = try tx.changes(
        since: start,
        of: DownloadRecord.self,
        atMost: LiveFeed.maximumItems
      )
    else { return nil }
    return found
  }

  /// Keeps the ids of the changed downloads.
  private mutating func note(_ found: ObjectChanges<DownloadRecord>) {
    for url in found.deleted { ids[StoredText(url)] = nil }
    for record in found.inserted + found.updated.map(\.object) {
      ids[StoredText(record.url)] = record.id
    }
    if ids.count > Self.maximumIDs { ids = [:] }
  }

  private mutating func readRunning(in tx: inout Snapshot, engineRuns: Bool) throws {
    running = [:]
    guard engineRuns else { return }
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

extension LiveChange {
  /// Adds the changed and the removed downloads.
  ///
  /// The history has the URL of a deleted record, from which the id does not follow: a download keeps its
  /// id when it gets another URL, and may have had one of the user's choice.
  ///
  /// - Parameters:
  ///   - found: The changes since the client's position.
  ///   - ids: Ids at that position by URL. If the id of a deleted record is not among them, the client
  ///     reads its view again.
  ///   - roots: The folders of the store.
  ///   - engineRuns: Whether an engine runs on the store.
  fileprivate mutating func add(
    _ found: ObjectChanges<DownloadRecord>,
    _ ids: [StoredText: String],
    _ roots: Roots,
    engineRuns: Bool
  ) {
    var gone: Set<String> = []
    // The id of a record is never changed, so an update of it is another record with the same URL.
    let replaced = found.updated.filter { $0.fields.contains(\.id) }.map(\.object.url)
    for url in found.deleted + replaced {
      guard let id = ids[StoredText(url)] else {
        isReset = true
        continue
      }
      gone.insert(id)
    }
    for record in found.inserted + found.updated.map(\.object) {
      if record.state == .removed {
        gone.insert(record.id)
      } else {
        let entry = DownloadEntry(record, roots, engineRuns: engineRuns)
        items.append(Item(entry: entry))
      }
    }
    removed = gone.subtracting(items.map(\.entry.record.id)).sorted()
  }
}
