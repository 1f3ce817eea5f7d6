/// The results of an observed query, from now on: a sequence that ends when the task is cancelled
/// or with ``ObjectStore/endObservations()``.
///
/// Each iterator observes on its own. Between two elements it holds no snapshot of the store open,
/// and however many commits there were, one element tells them all; so a slow reader costs nothing
/// and always comes to the last state.
public struct ResultChanges<Root: Model>: AsyncSequence, Sendable {
  /// One look at the result.
  public typealias Element = ResultChange<Root>
  /// What ends the sequence when reading fails.
  public typealias Failure = StoreError

  let store: ObjectStore
  let query: Query<Root>
  let fields: UInt64
  /// What a write names that this sequence shall not hear of.
  public let observer = ObserverID()

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    Iterator(follower: Follower(store, observer, LiveResult(query, fields: fields)))
  }

  /// Observes one query.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var follower: Follower<LiveResult<Root>>

    /// Waits for the next change and returns it: the first time what there is, without waiting;
    /// `nil` when the task is cancelled or observations were ended.
    ///
    /// The work is done off the caller's actor.
    ///
    /// - Throws: ``StoreError`` with `damaged`, `unknownModel` or what else a read throws; then the
    ///   sequence has ended.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> ResultChange<Root>? {
      try await follower.next()
    }
  }
}

/// The changes of one observed object; as ``ResultChanges``.
public struct ObservedChanges<Root: Model>: AsyncSequence, Sendable {
  /// One look at the object.
  public typealias Element = ObservedObject<Root>
  /// What ends the sequence when reading fails.
  public typealias Failure = StoreError

  let store: ObjectStore
  let key: Root.PrimaryKey
  /// What a write names that this sequence shall not hear of.
  public let observer = ObserverID()

  /// Begins to observe.
  public func makeAsyncIterator() -> Iterator {
    Iterator(follower: Follower(store, observer, LiveObject(key)))
  }

  /// Observes one object.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var follower: Follower<LiveObject<Root>>

    /// Waits for the next change and returns it: the first time what there is, without waiting;
    /// `nil` when the task is cancelled or observations were ended.
    ///
    /// The work is done off the caller's actor.
    ///
    /// - Throws: ``StoreError`` with `damaged`, `unknownModel` or what else a read throws; then the
    ///   sequence has ended.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> ObservedObject<Root>? {
      try await follower.next()
    }
  }
}
