internal import DownloadStore
internal import ObjectStore
internal import SystemInterface

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
  private let ownCommits: OwnCommits
  /// The number of the last commit that was examined.
  private var lastCommit: UInt64
  /// The position in the store's history up to which changes have been returned.
  private var position: HistoryToken
  /// Whether another writer has committed since ``position``.
  private var isBehind = false

  /// Starts after the last commit of a store.
  ///
  /// - Throws: `StoreError`.
  init(_ store: Store, _ ownCommits: OwnCommits) throws {
    self.store = store
    self.ownCommits = ownCommits
    position = try store.historyToken()
    lastCommit = try store.commitNumber()
  }

  /// Whether another writer has committed since the last call of ``next()``.
  ///
  /// Blocks for the time of a short read transaction.
  ///
  /// - Throws: `StoreError`.
  mutating func hasChanges() throws -> Bool {
    guard !isBehind else { return true }
    // In this order, a commit between the two reads counts as not read yet.
    let now = try store.historyToken()
    let commit = try store.commitNumber()
    switch ownCommits.author(ofCommitsAfter: lastCommit, through: commit) {
    // The end of the commit that is being made wakes the engine again.
    case .undecided:
      return false
    case .engine:
      lastCommit = commit
      position = now
      return false
    case .others:
      lastCommit = commit
      isBehind = true
      return true
    }
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

/// Tells the engine's own commits from those of other writers, by their numbers.
///
/// The engine commits on a background thread, and its transfers commit on the queues of the
/// transport. Each registers its number while the transaction holds the store's write lock, so that
/// the number is known before anyone can see the commit.
final class OwnCommits: Sendable {
  /// The author of a range of commits.
  enum Author: Sendable, Hashable {
    case engine
    /// At least one commit is another writer's.
    case others
    /// A commit is still being made, and may have been visible just before its write returns.
    case undecided
  }

  private struct State {
    /// The numbers of the commits that are being made.
    var open: Set<UInt64> = []
    var committed: Set<UInt64> = []
    /// Whether an answer was ``Author/undecided``.
    var isAwaited = false
  }

  /// Called when a commit has ended whose outcome was asked for.
  private let wake: @Sendable () -> Void
  // Only held to access the fields.
  private let state = Mutex(State())

  init(wake: @escaping @Sendable () -> Void) {
    self.wake = wake
  }

  /// Writes in a transaction of its own, and registers its commit.
  ///
  /// Blocks until the store has committed. Uses the synchronous `write`, whose commit contains no
  /// changes of other writers.
  ///
  /// - Throws: `StoreError`, or the error of `body`.
  func write<R>(
    to store: Store,
    _ body: (inout StoreTransaction) throws -> R
  ) throws -> R {
    var number: UInt64?
    do {
      let result = try store.write { tx in
        let result = try body(&tx)
        if tx.hasChanges {
          number = tx.commitNumber
          open(tx.commitNumber)
        }
        return result
      }
      if let number { close(number, isCommitted: true) }
      return result
    } catch {
      if let number { close(number, isCommitted: false) }
      throw error
    }
  }

  /// Returns who has made the commits in a range of numbers.
  ///
  /// Numbers up to `last` are not asked for again, once the answer is not ``Author/undecided``.
  func author(ofCommitsAfter first: UInt64, through last: UInt64) -> Author {
    state.withLock { state in
      var author = Author.engine
      var number = first
      while number < last, author != .others {
        number += 1
        if state.committed.contains(number) { continue }
        author = state.open.contains(number) ? .undecided : .others
      }
      if author == .undecided {
        state.isAwaited = true
      } else {
        state.committed = state.committed.filter { $0 > last }
      }
      return author
    }
  }

  /// Notes that a commit with this number is about to be made.
  func open(_ number: UInt64) {
    state.withLock { state in _ = state.open.insert(number) }
  }

  /// Notes that the commit was made, or that its transaction was rolled back.
  func close(_ number: UInt64, isCommitted: Bool) {
    let isAwaited = state.withLock { state in
      state.open.remove(number)
      if isCommitted { state.committed.insert(number) }
      defer { state.isAwaited = false }
      return state.isAwaited
    }
    if isAwaited { wake() }
  }
}
