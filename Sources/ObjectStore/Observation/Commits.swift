extension ObjectStore {
  /// Tells of each commit of any process, as soon as it can be read.
  ///
  /// For whoever decides itself what to look at, with ``changes(since:of:)`` for instance;
  /// ``observe(_:)`` tells what has changed. However many commits there were, one element tells of
  /// them all. The first element comes at once.
  ///
  /// The sequence keeps the store open. It ends with `nil` when the task is cancelled or after
  /// ``endObservations()``.
  public var commits: Commits { Commits(store: self) }
}

/// The commits of a store, from now on.
public struct Commits: AsyncSequence, Sendable {
  /// The number of the last commit that can be read.
  public typealias Element = UInt64
  /// What ends the sequence when the store cannot be read.
  public typealias Failure = StoreError

  let store: ObjectStore
  /// What a write names that this sequence shall not hear of.
  public let observer = ObserverID()

  /// Begins to wait for commits.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, lease: store.feed.lease(observer))
  }

  /// Waits for the commits of one store.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let store: ObjectStore
    fileprivate let lease: ObserverLease
    private var last: UInt64?

    fileprivate init(store: ObjectStore, lease: ObserverLease) {
      self.store = store
      self.lease = lease
    }

    /// Waits for a commit after the last one that was told, and returns its number; the first time
    /// without waiting.
    ///
    /// - Throws: ``StoreError`` with what reading throws.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> UInt64? {
      while !Task.isCancelled, !store.feed.isClosed {
        let number = try store.lastCommit()
        guard let unheard = lease.takeUnheard(through: number) else {
          // The commit can be read, and is published next.
          await Task.yield()
          continue
        }
        let before = last
        last = number
        // Commits are numbered without gaps.
        guard let before, number &- before == UInt64(unheard.count(where: { $0 > before })) else {
          return number
        }
        await store.feed.wait(after: number)
      }
      return nil
    }
  }
}

extension ObjectStore {
  fileprivate func lastCommit() throws(StoreError) -> UInt64 {
    do {
      return try changeCount()
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.other, "reading \(path) failed", cause: error)
    }
  }
}
