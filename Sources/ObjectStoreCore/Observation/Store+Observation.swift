extension Store {
  /// Observes the result of a query.
  ///
  /// The first element is the current result; each further element is a change.
  ///
  /// ```swift
  /// for try await change in store.observe(Note.where { $0.isPinned == true }) {
  ///   list.update(change.snapshot, change.deletions, change.insertions, change.modifications)
  /// }
  /// ```
  ///
  /// Commits of other processes are observed like those of this process. After a commit, the cost
  /// is proportional to the changes, not to the size of the result. The query is run again only if
  /// it has a limit, an offset or an order by a computed value, or if the observer is further
  /// behind than the history reaches.
  ///
  /// If a changed field moves an object in the order, the move is reported as a deletion and an
  /// insertion.
  ///
  /// The sequence keeps the store open. It ends when the task is cancelled or after
  /// ``stopObserving()``, and throws ``StoreError`` if reading fails.
  public func observe<M: Model>(_ query: Query<M>) -> ResultChanges<M> {
    ResultChanges(store: self, query: query, fields: .max)
  }

  /// Observes the result of a query, and ignores modifications of other fields than `fields`.
  ///
  /// Snapshots still contain the current values of all fields.
  ///
  /// - Parameters:
  ///   - query: The query to observe.
  ///   - fields: Columns of the model, such as `[\.state, \.title]`.
  /// - Returns: A sequence as ``observe(_:)`` returns it.
  /// - Precondition: Each key path identifies a column.
  public func observe<M: Model>(
    _ query: Query<M>,
    fields: [PartialKeyPath<M.Columns>]
  ) -> ResultChanges<M> {
    let bits = ChangedFields<M>(positions: fields.map(M.position)).bits
    return ResultChanges(store: self, query: query, fields: bits)
  }

  /// Observes the object with a primary key.
  ///
  /// The first element is the current state; each further element follows an insertion, change or
  /// deletion of the object.
  ///
  /// - Parameters:
  ///   - model: The object's type.
  ///   - key: Its primary key. The object need not exist yet.
  /// - Returns: A sequence that ends as that of ``observe(_:)``.
  public func observe<M: Model>(_ model: M.Type, key: M.PrimaryKey) -> ObservedChanges<M> {
    ObservedChanges(store: self, key: key)
  }

  /// Ends all current and future observations of this store value.
  ///
  /// Call it before shutdown: loops over observation sequences end and release the store.
  public func stopObserving() {
    feed.close()
  }
}

extension Store {
  /// The commits of this and other processes, as a sequence of commit numbers.
  ///
  /// Use it to decide yourself what to read after a commit, for example with
  /// ``changes(since:of:)``. Use ``observe(_:)`` to get the changes of a query. The first element
  /// is the last commit and is delivered immediately. Several commits between two elements are
  /// combined into one.
  ///
  /// ```swift
  /// for try await _ in store.commits {
  ///   try refresh(store)
  /// }
  /// ```
  ///
  /// The sequence keeps the store open. It ends when the task is cancelled or after
  /// ``stopObserving()``.
  public var commits: Commits { Commits(store: self) }
}

/// A sequence of the numbers of a store's commits.
///
/// See ``Store/commits``.
///
/// ```swift
/// let commits: Commits = store.commits
/// for try await number in commits { print("commit \(number)") }
/// ```
public struct Commits: AsyncSequence, Sendable {
  /// The number of the last visible commit.
  public typealias Element = UInt64
  /// The error that ends the sequence if the store cannot be read.
  public typealias Failure = StoreError

  let store: Store
  /// The identifier of this sequence.
  ///
  /// Pass it to `Store.write(withoutNotifying:)` to exclude a write from the sequence.
  public let observer = ObserverID()

  /// Starts an observation.
  public func makeAsyncIterator() -> Iterator {
    Iterator(store: store, registration: store.feed.register(observer))
  }

  /// An iterator that waits for commits.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let store: Store
    fileprivate let registration: ObserverRegistration
    private var last: UInt64?

    fileprivate init(store: Store, registration: ObserverRegistration) {
      self.store = store
      self.registration = registration
    }

    /// Waits for a commit after the previous element and returns the number of the last commit.
    ///
    /// The first call returns without waiting. Returns `nil` when the task is cancelled or
    /// observations were ended.
    ///
    /// - Throws: ``StoreError`` if the store cannot be read.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> UInt64? {
      while !Task.isCancelled, !store.feed.isClosed {
        let number = try store.lastCommit()
        guard let suppressed = registration.takeSuppressed(through: number) else {
          // The commit is visible and will be published next.
          await Task.yield()
          continue
        }
        let before = last
        last = number
        // Commit numbers are consecutive, so equal counts mean that every commit was suppressed.
        guard let before, number &- before == UInt64(suppressed.count(where: { $0 > before }))
        else { return number }
        await store.feed.wait(after: number)
      }
      return nil
    }
  }
}

extension Store {
  func lastCommit() throws(StoreError) -> UInt64 {
    do {
      return try commitNumber()
    } catch let error as StoreError {
      throw error
    } catch {
      throw StoreError(.other, "reading \(path) failed", cause: error)
    }
  }
}
