/// What follows the commits of a store: a value that is brought from one to the next.
protocol Followed: Sendable {
  associatedtype Change: Sendable

  /// Which commit it has been brought to; `nil` before the first time.
  var position: CommitPosition? { get }

  /// Brings it to the transaction's commit; returns what is to be told of it, if anything: nothing
  /// of what the commits `unheard` have changed alone.
  mutating func refresh(
    in transaction: borrowing Snapshot,
    _ feed: CommitFeed,
    unheard: Set<UInt64>
  ) throws -> Change?
}

/// One iterator's way through the commits.
struct Follower<Value: Followed> {
  private let store: ObjectStore
  private let lease: ObserverLease
  /// `nil` once it has ended.
  private var value: Value?

  init(_ store: ObjectStore, _ observer: ObserverID, _ value: Value) {
    self.store = store
    self.value = value
    lease = store.feed.lease(observer)
  }

  mutating func next() async throws(StoreError) -> Value.Change? {
    // Given away, so that its parts are changed in place.
    guard let value = value.take() else { return nil }
    let (change, next) = try await Self.next(value, store, lease)
    if change != nil { self.value = next }
    return change
  }

  @concurrent
  private static func next(
    _ value: consuming Value,
    _ store: ObjectStore,
    _ lease: ObserverLease
  ) async throws(StoreError) -> (Value.Change?, Value) {
    do {
      while !Task.isCancelled, !store.feed.isClosed {
        let (isSettled, change) = try await store.read { snapshot in
          guard let unheard = lease.takeUnheard(through: snapshot.changeCount) else {
            return (false, nil as Value.Change?)
          }
          return (true, try value.refresh(in: snapshot, store.feed, unheard: unheard))
        }
        if let change { return (change, value) }
        if isSettled, let position = value.position {
          await store.feed.wait(after: position.number)
        } else {
          // The commit can be read, and is published next.
          await Task.yield()
        }
      }
    } catch is CancellationError {
      // Ends as between two looks.
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.other, "observing \(store.path) failed", cause: error)
    }
    return (nil, value)
  }
}
