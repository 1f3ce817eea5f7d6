/// A sequence of the results of an observed query.
///
/// See ``Store/observe(_:)``.
///
/// Each iterator is an independent observation. Between two elements it holds no snapshot of the
/// store open, and several commits are combined into one element. A slow consumer therefore costs
/// nothing and always receives the latest state.
///
/// The sequence ends when the task is cancelled or after ``Store/stopObserving()``.
///
/// ```swift
/// let pinned: ResultChanges<Note> = store.observe(Note.where { $0.isPinned == true })
/// let observation = Task {
///   for try await change in pinned { print("\(change.snapshot.count) pinned notes") }
/// }
/// // Before shutdown:
/// store.stopObserving()
/// try await observation.value
/// ```
public struct ResultChanges<Root: Model>: AsyncSequence, Sendable {
  /// A result and its difference from the previous one.
  public typealias Element = ResultChange<Root>
  /// The error that ends the sequence if reading fails.
  public typealias Failure = StoreError

  let store: Store
  let query: Query<Root>
  let fields: UInt64
  /// The identifier of this sequence.
  ///
  /// Pass it to `Store.write(withoutNotifying:)` to exclude a write from the sequence.
  public let observer = ObserverID()

  /// Starts an observation.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: LiveValueIterator(store, observer, LiveResult(query, fields: fields)))
  }

  /// An iterator over the results of a query.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: LiveValueIterator<LiveResult<Root>>

    /// Waits for the next change and returns it.
    ///
    /// The first call returns the current result without waiting. Returns `nil` when the task is
    /// cancelled or observations were ended. Reading is done off the caller's actor.
    ///
    /// - Throws: ``StoreError`` with `damaged`, `unknownModel` or another code of a failed read.
    ///   The sequence has then ended.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> ResultChange<Root>? {
      try await base.next()
    }
  }
}

/// A sequence of the states of an observed object.
///
/// It behaves like ``ResultChanges``. See ``Store/observe(_:key:)``.
///
/// ```swift
/// let states: ObservedChanges<Note> = store.observe(Note.self, key: 1)
/// for try await state in states { show(state) }
/// ```
public struct ObservedChanges<Root: Model>: AsyncSequence, Sendable {
  /// The state of the object.
  public typealias Element = ObservedObject<Root>
  /// The error that ends the sequence if reading fails.
  public typealias Failure = StoreError

  let store: Store
  let key: Root.PrimaryKey
  /// The identifier of this sequence.
  ///
  /// Pass it to `Store.write(withoutNotifying:)` to exclude a write from the sequence.
  public let observer = ObserverID()

  /// Starts an observation.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: LiveValueIterator(store, observer, LiveObject(key)))
  }

  /// An iterator over the states of an object.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var base: LiveValueIterator<LiveObject<Root>>

    /// Waits for the next change and returns the object's state.
    ///
    /// The first call returns the current state without waiting. Returns `nil` when the task is
    /// cancelled or observations were ended. Reading is done off the caller's actor.
    ///
    /// - Throws: ``StoreError`` with `damaged`, `unknownModel` or another code of a failed read.
    ///   The sequence has then ended.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> ObservedObject<Root>? {
      try await base.next()
    }
  }
}

/// An element of ``ResultChanges``: the result of an observed query, and its difference from the
/// previous element.
public struct ResultChange<Root: Model>: Sendable {
  /// The current objects.
  public var snapshot: ResultSnapshot<Root>
  /// The objects that the difference is relative to.
  ///
  /// This is the previous element's snapshot, in which objects changed only by writes that exclude
  /// this sequence are already in their current state.
  public var base: ResultSnapshot<Root>
  /// The positions in ``base`` of objects that left the result or have moved, ascending.
  public var deletions: [Int] = []
  /// The positions in ``snapshot`` of objects that entered the result or have moved, ascending.
  public var insertions: [Int] = []
  /// The positions in ``snapshot`` of objects that have changed without moving, ascending.
  public var modifications: [Int] = []
  /// Whether this is the first element, which has no changes.
  public var isInitial = false
  /// The point in the history at which the snapshot was read; `nil` if the store has no history.
  public var token: HistoryToken?

  /// Whether the result has not changed.
  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }
}

/// An immutable collection of the objects of a query as of one commit.
///
/// The snapshots of an observation share unchanged objects. A snapshot does not keep a transaction
/// open.
public struct ResultSnapshot<Root: Model>: RandomAccessCollection, Sendable {
  /// An object and its object id.
  struct Entry: Sendable {
    var id: UInt64
    var object: Root
  }

  var entries = ChunkedArray<Entry>()

  /// Creates an empty snapshot.
  public init() {}

  init(_ entries: some Sequence<Entry>) {
    self.entries = ChunkedArray(entries)
  }

  /// The position of the first object, 0.
  public var startIndex: Int { 0 }
  /// The number of objects.
  public var endIndex: Int { entries.count }

  /// Returns the object at a position in the query's order.
  ///
  /// - Complexity: O(log n). Iteration over all objects is O(n).
  public subscript(position: Int) -> Root { entries[position].object }

  /// An iterator over the objects in order.
  public struct Iterator: IteratorProtocol {
    private let chunks: ContiguousArray<ContiguousArray<Entry>>
    private var chunk = 0
    private var offset = 0

    fileprivate init(_ chunks: ContiguousArray<ContiguousArray<Entry>>) {
      self.chunks = chunks
    }

    /// Returns the next object, or `nil` at the end.
    public mutating func next() -> Root? {
      guard chunk < chunks.count else { return nil }
      defer {
        offset += 1
        if offset == chunks[chunk].count { (chunk, offset) = (chunk + 1, 0) }
      }
      return chunks[chunk][offset].object
    }
  }

  /// Returns an iterator over the objects.
  public func makeIterator() -> Iterator { Iterator(entries.chunks) }
}

extension ResultSnapshot: Equatable where Root: Equatable {
  /// Whether both have the same objects in the same order.
  public static func == (left: Self, right: Self) -> Bool {
    left.count == right.count && left.elementsEqual(right)
  }
}
