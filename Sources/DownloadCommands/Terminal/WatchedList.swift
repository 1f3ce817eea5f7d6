internal import DownloadReports
internal import DownloadStore
internal import ObjectStore

/// The first downloads of a list, kept up to date from the store's history.
///
/// After a commit it reads the downloads that have changed and those that it holds, and not the
/// others, unless these may have entered the list. A list that takes only a few milliseconds to read
/// is read as a whole each time.
struct WatchedList: Sendable {
  /// The maximum number of downloads that are held.
  static let maximumCount = 1000
  /// With more changes than this, the list is read as a whole.
  private static let maximumChanges = 20_000
  private static let shortRead = Duration.milliseconds(5)

  private let listing: RecordListing
  private let shortRead: Duration
  /// The first downloads of the list.
  private(set) var entries: [DownloadEntry] = []
  /// The position in the store's history up to which the entries are current.
  private var position: HistoryToken?
  /// The roots of the entries, whose changes are not changes of downloads.
  private var roots: Roots?
  /// The time that reading the whole list has taken.
  private var cost = Duration.zero
  /// The number of times that the whole list was read.
  private(set) var readCount = 0

  /// Creates a list that has not been read.
  ///
  /// - Parameters:
  ///   - listing: The list.
  ///   - shortRead: The cost of a whole read up to which changes are not examined.
  init(_ listing: RecordListing, shortRead: Duration = Self.shortRead) {
    self.listing = listing
    self.shortRead = shortRead
  }

  /// Whether the list has more than ``maximumCount`` downloads, so that ``entries`` has only its
  /// beginning.
  var isCut: Bool { entries.count > Self.maximumCount }

  /// The list of the entries: one more than ``maximumCount`` tells that there are more.
  private var first: RecordListing {
    var first = listing
    first.limit = min(listing.limit ?? .max, Self.maximumCount + 1)
    return first
  }

  /// Reads what has changed up to a snapshot.
  ///
  /// - Throws: `StoreError`; `CancellationError`.
  mutating func update(in tx: inout Snapshot, _ roots: Roots) throws {
    if let position, cost > shortRead, roots == self.roots,
      case .changes(let changes) = try tx.changes(since: position, of: DownloadRecord.self)
    {
      let changed = changes.updated.map(\.object.url) + changes.inserted.map(\.url)
      if changed.count + changes.deleted.count <= Self.maximumChanges,
        try apply(changed, deleted: changes.deleted, in: &tx, roots)
      {
        self.position = changes.token
        return
      }
    }
    let start = ContinuousClock.now
    position = try tx.historyToken()
    self.roots = roots
    entries = try Self.entries(of: first, in: &tx, roots)
    cost = start.duration(to: .now)
    readCount += 1
  }

  /// Computes the entries from the previous ones and the changed downloads.
  ///
  /// - Returns: Whether that is possible: no other download can have entered the list. All others
  ///   come after the last of the previous entries, if the list has a limit.
  private mutating func apply(
    _ changed: [String],
    deleted: [String],
    in tx: inout Snapshot,
    _ roots: Roots
  ) throws -> Bool {
    guard !changed.isEmpty || !deleted.isEmpty else { return true }
    let shown = entries.map(\.record.url)
    var candidates = first
    // No index serves a negation, so the candidates are looked up by their URLs: an index on the
    // state may find a million.
    candidates.condition =
      DownloadRecord.columns.url.isIn(shown + changed) && !(!first.condition)
    let result = try Self.entries(of: candidates, in: &tx, roots)
    if let limit = first.limit, entries.count >= limit, let last = shown.last {
      guard !changed.contains(last), !deleted.contains(last), result.count >= limit else {
        return false
      }
      // The last entry has not changed. If it is still among the results, none may follow it.
      let position = result.lastIndex { StoredText($0.record.url) == StoredText(last) }
      guard position == nil || position == result.count - 1 else { return false }
    }
    entries = result
    return true
  }

  private static func entries(
    of listing: RecordListing,
    in tx: inout Snapshot,
    _ roots: Roots
  ) throws -> [DownloadEntry] {
    var found: [DownloadEntry] = []
    try listing.read(in: &tx, roots) { entries in try entries { found.append($0) } }
    return found
  }
}
