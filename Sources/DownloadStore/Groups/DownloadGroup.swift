public import ObjectStore

/// The downloads with a tag.
///
/// A group is read from the store, in any process. Bytes are counted up to the last checkpoint,
/// about a second ago; the engine's own group counts every byte.
///
/// ```swift
/// for try await progress in store.group("models").changes(every: .seconds(1)) {
///   print(progress.completed, "of", progress.members, "files")
///   if progress.isAtRest { break }
/// }
/// ```
public struct DownloadGroup: Sendable {
  /// The tag.
  public let tag: String
  /// The store of the records.
  let store: RecordStore

  /// The records of the group.
  public var query: Query<DownloadRecord> {
    let tag = tag
    return DownloadRecord.where { $0.tags.contains(tag) }
  }

  /// The current progress of the group.
  ///
  /// - Throws: `StoreError`.
  /// - Complexity: O(members).
  public func progress() throws -> GroupProgress {
    var tally = GroupTally()
    for record in try store.records(query) { tally[record.id] = GroupTally.Member(record) }
    return tally.progress
  }

  /// The progress of the group, now and after each change.
  ///
  /// Each iterator follows the store independently. Changes between two calls are combined, so a
  /// slow reader costs nothing and always gets the latest state.
  ///
  /// - Parameter interval: The minimum time between two elements.
  /// - Returns: A sequence that ends when the reading task is cancelled.
  public func changes(every interval: Duration = .milliseconds(200)) -> GroupChanges {
    GroupChanges(group: self, interval: interval)
  }

  /// Observes the fields of the group's records that the sums depend on.
  package func differences() -> ResultChanges<DownloadRecord> {
    store.objects.observe(query, fields: [\.state, \.received, \.expected, \.tags])
  }
}

extension RecordStore {
  /// The group of downloads with a tag, which may be empty.
  public func group(_ tag: String) -> DownloadGroup {
    DownloadGroup(tag: tag, store: self)
  }
}

/// The progress of a group as a sequence; ends when the task is cancelled or the store's
/// observations end.
///
/// A new element follows each change of the sums. Its speed is the current one, and `nil` once the
/// group is at rest.
///
/// - Complexity: O(members) for the first element, O(changes) for each further one.
public struct GroupChanges: AsyncSequence, Sendable {
  /// The progress of the group.
  public typealias Element = GroupProgress
  /// The error that ends the sequence if reading fails.
  public typealias Failure = StoreError

  let group: DownloadGroup
  let interval: Duration

  /// Starts observing.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      changes: group.differences().makeAsyncIterator(),
      interval: interval
    )
  }

  /// Observes one group.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var changes: ResultChanges<DownloadRecord>.Iterator
    fileprivate let interval: Duration
    private var follower = GroupFollower()
    private var meter = SpeedMeter()
    private var last: (progress: GroupProgress, at: ContinuousClock.Instant)?

    fileprivate init(changes: ResultChanges<DownloadRecord>.Iterator, interval: Duration) {
      self.changes = changes
      self.interval = interval
    }

    /// Returns the current sums at the first call, and then waits for the next change; `nil` at the
    /// end.
    ///
    /// - Throws: `StoreError`, as an observation of the store.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> GroupProgress? {
      while true {
        if let last {
          // Changes during the wait are one element.
          try? await Task.sleep(until: last.at.advanced(by: interval))
        }
        guard let change = try await changes.next() else { return nil }
        follower.follow(change)
        let now = SuspendingClock.now
        meter.note(follower.tally.arrived, at: now)
        var progress = follower.tally.progress
        guard progress != last?.progress else { continue }
        last = (progress, .now)
        // A group at rest has no speed, even if bytes arrived a moment ago.
        if !progress.isAtRest { progress.bytesPerSecond = meter.bytesPerSecond(at: now) }
        return progress
      }
    }
  }
}
