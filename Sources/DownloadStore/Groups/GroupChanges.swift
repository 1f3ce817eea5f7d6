public import ObjectStore

/// How far a group is, from now on; ends when the task is cancelled or the store's observations end.
///
/// An element is told when a sum has changed; its speed is as of then, and `nil` once the group is at
/// rest.
///
/// - Complexity: The first element costs O(members), each further one what has changed.
public struct GroupChanges: AsyncSequence, Sendable {
  /// How far the group is.
  public typealias Element = GroupProgress
  /// What ends the sequence when reading fails.
  public typealias Failure = StoreError

  let group: DownloadGroup
  let interval: Duration

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator {
    Iterator(
      changes: group.differences().makeAsyncIterator(),
      interval: interval
    )
  }

  /// Follows one group.
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

    /// Waits for the next change of the sums and returns it: the first time what there is, without
    /// waiting; `nil` at the end.
    ///
    /// - Throws: `StoreError`, as an observation of the store.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(StoreError) -> GroupProgress? {
      while true {
        if let last {
          // What changes meanwhile is one element.
          try? await Task.sleep(until: last.at.advanced(by: interval))
        }
        guard let change = try await changes.next() else { return nil }
        follower.follow(change)
        let now = SuspendingClock.now
        meter.note(follower.tally.arrived, at: now)
        var progress = follower.tally.progress
        guard progress != last?.progress else { continue }
        last = (progress, .now)
        // What stands still has no speed, even if something arrived a moment ago.
        if !progress.isAtRest { progress.bytesPerSecond = meter.bytesPerSecond(at: now) }
        return progress
      }
    }
  }
}
