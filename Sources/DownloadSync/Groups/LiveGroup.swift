public import DownloadStore

extension DownloadEngine {
  /// The progress of the downloads with a tag, counting every received byte, synced or not.
  ///
  /// ```swift
  /// for try await progress in engine.group("models") {
  ///   print(progress.completed, "of", progress.members)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - tag: The tag; no record need have it yet.
  ///   - interval: The minimum time between two elements.
  /// - Returns: A sequence that ends with the engine's run. Its last element is the stored progress
  ///   at the end of the run.
  /// - Complexity: O(members) for the first element, then O(changes + running downloads) for each.
  public nonisolated func group(
    _ tag: String,
    every interval: Duration = .milliseconds(200)
  ) -> LiveGroup {
    LiveGroup(engine: self, group: store.group(tag), interval: interval)
  }
}

/// The progress of a group in a running engine, as a sequence.
///
/// Stored values count for downloads at rest, and current values for running ones. The first
/// element is the current progress; each further one is a change. The sequence ends with the
/// engine's run and when the reading task is cancelled.
public struct LiveGroup: AsyncSequence, Sendable {
  /// The progress of the group.
  public typealias Element = GroupProgress

  let engine: DownloadEngine
  let group: DownloadGroup
  let interval: Duration

  /// Starts following the group.
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

    /// Returns the current progress at the first call, and then waits for a change; `nil` at the
    /// end.
    ///
    /// - Throws: `StoreError` if the store cannot be read.
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
