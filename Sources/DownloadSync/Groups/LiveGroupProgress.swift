internal import DownloadStore

/// Follows a group in a running engine: the current progress, then each change, until the run ends.
///
/// Stored values count for downloads at rest, and current values for running ones.
struct LiveGroupProgress: ProgressSource {
  private let engine: DownloadEngine
  private let group: DownloadGroup
  private let interval: Duration
  private let members: GroupMembers
  private let runEnd: EventSubscription
  private var live = LiveMembers()
  private var last: GroupProgress?
  private var hasEnded = false

  init(engine: DownloadEngine, group: DownloadGroup, interval: Duration) {
    self.engine = engine
    self.group = group
    self.interval = interval
    members = GroupMembers(of: group)
    runEnd = engine.hub.subscribe(to: .nothing, capacity: 1)
  }

  /// Returns the current progress at the first call, and then waits for a change; `nil` at the
  /// end.
  ///
  /// - Throws: `StoreError` if the store cannot be read.
  mutating func next(
    isolation actor: isolated (any Actor)?
  ) async throws -> GroupProgress? {
    while !hasEnded {
      if last == nil {
        try await members.load()
      } else {
        await runEnd.consumer.waitForEnd(atMost: interval)
      }
      guard !Task.isCancelled else { return nil }
      hasEnded = runEnd.consumer.takeEnd()
      let progress =
        hasEnded
        ? try group.progress()
        : try members.progress(with: await engine.currentProgress(), &live)
      guard progress != last || hasEnded else { continue }
      last = progress
      return progress
    }
    return nil
  }
}
