internal import DownloadStore
internal import ObjectStore

/// Follows the changes that the user and other processes make to the records of a store.
///
/// Owns the position up to which an engine has read the store's history.
struct StoreFollower {
  /// The changes since the last call of ``next()``.
  enum Changes {
    /// No other writer has changed records.
    case none
    /// The inserted records, those whose change concerns the engine, and the URLs of deleted ones.
    case some(inserted: [DownloadRecord], updated: [DownloadRecord], deleted: [String])
    /// There are too many changes, or the store's history no longer contains them all.
    case unknown
  }

  /// The maximum number of changed records that are read.
  static let maximumChanges = 4_096

  private let store: Store
  private var commits: CommitFollower
  /// The position in the store's history up to which changes have been returned.
  private var position: HistoryToken
  /// Whether another writer has committed since ``position``.
  private var isBehind = false

  /// Starts after the last commit of a store.
  ///
  /// - Throws: `StoreError`.
  init(_ store: Store) throws {
    self.store = store
    position = try store.historyToken()
    commits = try CommitFollower(store)
  }

  /// Excludes a write of the engine from the changes.
  ///
  /// The engine commits on a background thread, and its transfers commit on the queues of the
  /// transport: all their writes name this observer, and are synchronous, so that their commits
  /// contain no changes of other writers.
  var observer: ObserverID { commits.observer }

  /// Whether another writer has committed since the last call of ``next()``.
  ///
  /// Blocks for the time of a short read transaction.
  ///
  /// - Throws: `StoreError`.
  mutating func hasChanges() throws -> Bool {
    // The end of a commit that is being made wakes the engine again.
    try look() == .others
  }

  /// Whether no other writer has committed since the last call of ``next()``.
  ///
  /// False while a commit of the engine is being made: it hides those of others. Otherwise as
  /// ``hasChanges()``.
  mutating func isCurrent() throws -> Bool { try look() == .none }

  private mutating func look() throws -> CommitFollower.Commits {
    guard !isBehind else { return .others }
    // In this order, a commit between the two reads counts as not read yet.
    let now = try store.historyToken()
    let found = try commits.next()
    if found == .none { position = now }
    isBehind = found == .others
    return found
  }

  /// Returns the changes that others have committed since the last call.
  ///
  /// Blocks for the time of one or two short read transactions.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(changes).
  mutating func next() throws -> Changes {
    guard try hasChanges() else { return .none }
    isBehind = false
    let changes = try store.read { [position] tx in
      try tx.changes(since: position, of: DownloadRecord.self, atMost: Self.maximumChanges)
    }
    switch changes {
    case .changes(let changes):
      position = changes.token
      let updated = changes.updated.filter { $0.fields.concernEngines }.map(\.object)
      return .some(inserted: changes.inserted, updated: updated, deleted: changes.deleted)
    case .expired:
      return .unknown
    }
  }

  /// Continues from a position up to which the caller has read all records.
  mutating func skip(to position: HistoryToken) {
    self.position = position
  }
}

extension ChangedFields<DownloadRecord> {
  /// Whether the change concerns the engine: more than the progress or the name has changed.
  fileprivate var concernEngines: Bool {
    contains(\.state) || contains(\.intent) || contains(\.generation) || contains(\.priority)
      || contains(\.startsImmediately) || contains(\.isHeld) || contains(\.nextRetryAt)
      || contains(\.root) || contains(\.notBefore) || contains(\.bytesPerSecond)
      || contains(\.connections)
  }
}
