internal import LMDB

/// An observed value that is updated incrementally from commit to commit.
protocol LiveValue: Sendable {
  associatedtype Change: Sendable

  /// The commit that the value reflects; `nil` before the first refresh.
  var position: CommitPosition? { get }

  /// Updates the value to the transaction's commit.
  ///
  /// - Returns: The change to report, or `nil` if there is none. Changes made only by the commits
  ///   in `suppressed` are not reported.
  mutating func refresh(
    in transaction: borrowing Snapshot,
    _ feed: CommitFeed,
    suppressed: Set<UInt64>
  ) throws -> Change?
}

/// The shared implementation of the iterators of observation sequences.
struct LiveValueIterator<Value: LiveValue> {
  private let store: Store
  private let registration: ObserverRegistration
  /// `nil` after the sequence has ended.
  private var value: Value?

  init(_ store: Store, _ observer: ObserverID, _ value: Value) {
    self.store = store
    self.value = value
    registration = store.feed.register(observer)
  }

  mutating func next() async throws(StoreError) -> Value.Change? {
    // Move the value, so that its storage is unique and is changed in place.
    guard let value = value.take() else { return nil }
    let (change, next) = try await Self.next(value, store, registration)
    if change != nil { self.value = next }
    return change
  }

  @concurrent
  private static func next(
    _ value: consuming Value,
    _ store: Store,
    _ registration: ObserverRegistration
  ) async throws(StoreError) -> (Value.Change?, Value) {
    do {
      while !Task.isCancelled, !store.feed.isClosed {
        let (isPublished, change) = try await store.read { snapshot in
          guard let suppressed = registration.takeSuppressed(through: snapshot.commitNumber) else {
            return (false, nil as Value.Change?)
          }
          return (true, try value.refresh(in: snapshot, store.feed, suppressed: suppressed))
        }
        if let change { return (change, value) }
        if isPublished, let position = value.position {
          await store.feed.wait(after: position.number)
        } else {
          // The commit is visible and will be published next.
          await Task.yield()
        }
      }
    } catch is CancellationError {
      // Cancellation during a read ends the sequence, as it does between reads.
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.other, "observing \(store.path) failed", cause: error)
    }
    return (nil, value)
  }
}

/// The last commit that an observer has seen.
struct CommitPosition: Sendable, Hashable {
  /// The number of the last commit.
  var number: UInt64
  /// The corresponding point in the history; `nil` if the store has no history.
  var token: HistoryToken?

  init(_ source: ReaderSource) throws {
    number = source.commitNumber
    token = try source.historyToken()
  }
}

/// The changes of a range of commits to the objects of one model.
struct CommittedChanges {
  /// The changes of all commits.
  var all = CoalescedChanges()
  /// The changes of the commits that are not suppressed for the observer.
  var reported = CoalescedChanges()
}

extension ReaderSource {
  /// Returns the changes to the objects of a model between two commits.
  ///
  /// Takes them from memory if the feed has all of the commits, and otherwise from the history.
  /// Returns `nil` if neither covers the range.
  func changes<M: Model>(
    of model: M.Type,
    from old: CommitPosition,
    to now: CommitPosition,
    _ feed: CommitFeed,
    suppressed: Set<UInt64> = []
  ) throws -> CommittedChanges? {
    var changes = CommittedChanges()
    guard let tables = try schema.tables(of: model) else { return changes }
    func add(_ number: UInt64, _ entries: [HistoryEntry.ModelEntry]) {
      for entry in entries where entry.model == tables.name {
        let own = entry.changes(for: tables)
        changes.all.add(own)
        if !suppressed.contains(number) { changes.reported.add(own) }
      }
    }
    if old.number < now.number, let commits = feed.commits(after: old.number, through: now.number) {
      for commit in commits { add(commit.number, commit.models) }
      return changes
    }
    guard let token = old.token,
      try forEachEntry(since: token, of: tables.name, { add($0, $1.models) })
    else { return nil }
    return changes
  }
}
