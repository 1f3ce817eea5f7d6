/// Tells whether a store has commits that the owner of the follower has not made.
///
/// The owner's writes exclude it, and it counts them:
///
/// ```swift
/// var others = try CommitFollower(store)
/// try store.write(withoutNotifying: [others.observer]) { tx in try tx.upsert(note) }
/// print(try others.next())  // none
/// ```
///
/// In contrast to ``Commits`` it never waits, and keeps no watcher of the store.
package struct CommitFollower: Sendable {
  /// The commits since a follower was last asked.
  package enum Commits: Sendable, Hashable {
    /// There is none, or the owner has made all.
    case none
    /// At least one commit is another writer's.
    case others
    /// A commit of the owner is visible, but its write has not returned.
    ///
    /// Its end wakes the observers of the store; ask again then.
    case undecided
  }

  /// The identifier of this follower, for the owner's writes.
  package let observer: ObserverID
  private let store: Store
  private let registration: ObserverRegistration
  /// The last commit that was examined.
  private var last: UInt64

  /// Starts after the last commit of a store.
  ///
  /// - Throws: ``StoreError`` if the store cannot be read.
  package init(_ store: Store) throws(StoreError) {
    self.store = store
    observer = ObserverID()
    registration = store.feed.register(observer, isWatching: false)
    last = try store.lastCommit()
  }

  /// Examines the commits since the last call that was decided.
  ///
  /// Blocks for one short read transaction.
  ///
  /// - Throws: ``StoreError`` if the store cannot be read.
  package mutating func next() throws(StoreError) -> Commits {
    let number = try store.lastCommit()
    guard number != last else { return .none }
    guard let own = registration.takeSuppressed(through: number) else { return .undecided }
    // Commit numbers are consecutive, so equal counts mean that the owner has made every commit.
    let isOwn = number &- last == UInt64(own.count(where: { $0 > last }))
    last = number
    return isOwn ? .none : .others
  }
}
