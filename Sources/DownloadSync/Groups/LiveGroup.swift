public import DownloadStore

extension DownloadEngine {
  /// How far the downloads of a tag are, every byte counted, synced or not.
  ///
  /// Ends with the run, after an element of how it left the group.
  ///
  /// - Parameters:
  ///   - tag: The tag; there need not be a record that has it.
  ///   - interval: The least time between two elements.
  /// - Returns: A sequence that ends with the run.
  /// - Complexity: O(members) at first, then O(changes + live downloads) an element.
  public nonisolated func group(
    _ tag: String,
    every interval: Duration = .milliseconds(200)
  ) -> LiveGroup {
    LiveGroup(engine: self, group: store.group(tag), interval: interval)
  }
}

/// How far a group is in a running engine: the store's sums, with live downloads as far as they are.
public struct LiveGroup: AsyncSequence, Sendable {
  /// How far the group is.
  public typealias Element = GroupProgress

  let engine: DownloadEngine
  let group: DownloadGroup
  let interval: Duration

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator {
    Iterator(group: self)
  }

  /// Follows one group.
  public struct Iterator: AsyncIteratorProtocol {
    private let group: LiveGroup
    private let members: GroupMembers
    private let runEnd: EventSubscription
    private var live = LiveMembers()
    private var last: GroupProgress?
    private var hasEnded = false

    fileprivate init(group: LiveGroup) {
      self.group = group
      members = GroupMembers(of: group.group)
      runEnd = group.engine.hub.subscribe(to: .nothing, capacity: 1)
    }

    /// The sums, once they are others; `nil` at the end.
    ///
    /// - Throws: `StoreError`, as an observation of the store.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws -> GroupProgress? {
      while !hasEnded {
        if last == nil {
          try await members.load()
        } else {
          await runEnd.consumer.waitForEnd(atMost: group.interval)
        }
        guard !Task.isCancelled else { return nil }
        hasEnded = runEnd.consumer.takeEnd()
        let progress =
          hasEnded
          ? try group.group.progress()
          : try members.progress(with: await group.engine.progress(), &live)
        guard progress != last || hasEnded else { continue }
        last = progress
        return progress
      }
      return nil
    }
  }
}
