internal import DownloadStore
internal import ObjectStore
internal import SystemInterface

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

/// The stored members of a group, kept current by an observation until this object is released.
final class GroupMembers: Sendable {
  private struct State {
    var follower = GroupFollower()
    var failure: StoreError?
  }

  /// The state that the observation writes and ``GroupMembers/progress(with:_:)`` reads.
  private final class Shared: Sendable {
    // Held while a change is applied or the tally is copied.
    let state = Mutex(State())
  }

  private let shared = Shared()
  private let looks: AsyncStream<Void>
  private let task: Task<Void, Never>

  init(of group: DownloadGroup) {
    let (looks, looked) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.looks = looks
    task = Task.detached { [shared] in
      do throws(StoreError) {
        for try await change in group.differences() {
          shared.state.withLock { $0.follower.follow(change) }
          looked.yield()
        }
      } catch {
        shared.state.withLock { $0.failure = error }
      }
      looked.finish()
    }
  }

  deinit {
    task.cancel()
  }

  /// Waits until the members are loaded.
  ///
  /// - Throws: `StoreError` if the observation has failed.
  func load() async throws {
    var looks = looks.makeAsyncIterator()
    _ = await looks.next()
    if let failure = shared.state.withLock(\.failure) { throw failure }
  }

  /// The progress of the group, with the current values of the running downloads and their total
  /// speed.
  ///
  /// - Parameters:
  ///   - downloads: The running downloads, members of the group or not.
  ///   - live: The members whose values are newer than the stored ones; updated.
  /// - Returns: The sums over all members, with a speed if that of any running member is known.
  /// - Throws: `StoreError` if the observation has failed.
  func progress(
    with downloads: [DownloadProgress],
    _ live: inout LiveMembers
  ) throws -> GroupProgress {
    let (tally, failure) = shared.state.withLock { ($0.follower.tally, $0.failure) }
    if let failure { throw failure }
    var running: [String: GroupTally.Member] = [:]
    var speed: Double?
    for download in downloads {
      let id = download.recordID
      guard tally[id] != nil else { continue }
      running[id] = GroupTally.Member(download)
      if let more = download.bytesPerSecond { speed = (speed ?? 0) + more }
    }
    var progress = tally.progress(with: live.update(running) { tally[$0] })
    progress.bytesPerSecond = speed
    return progress
  }
}

/// The members of a group, or the shared downloads, whose progress is newer than the stored one.
///
/// These are the running downloads, and those that have just ended, until the observation sees the
/// commit of their end. Without the latter a sum would drop when a transfer ends, and rise again
/// with that commit.
struct LiveMembers: Sendable {
  private struct Entry: Sendable {
    var live: GroupTally.Member
    /// The stored values when the download was last seen running.
    var stored: GroupTally.Member?
  }

  private var entries: [String: Entry] = [:]

  /// Replaces the running downloads, and returns all members whose progress is newer than the
  /// stored one.
  ///
  /// - Parameters:
  ///   - running: The running members of the group by record id.
  ///   - stored: Returns the stored values of a member; `nil` if the record is not a member.
  /// - Returns: The newer values by record id.
  mutating func update(
    _ running: [String: GroupTally.Member],
    _ stored: (_ id: String) -> GroupTally.Member?
  ) -> [String: GroupTally.Member] {
    entries = entries.filter { id, entry in
      guard running[id] == nil, let stored = stored(id) else { return false }
      // A checkpoint that is observed after the end of the transfer is not the commit of the end.
      return stored == entry.stored || stored.state == .running
    }
    for (id, member) in running {
      entries[id] = Entry(live: member, stored: stored(id))
    }
    return entries.mapValues(\.live)
  }
}

extension LiveMembers {
  /// Replaces the running downloads, and returns all counts that are newer than the records.
  ///
  /// - Parameters:
  ///   - transfers: The running downloads.
  ///   - records: The records, read before the transfers.
  /// - Returns: The newer counts by record id.
  mutating func update(
    _ transfers: [DownloadProgress],
    _ records: [DownloadRecord]
  ) -> [String: GroupTally.Member] {
    let running = Dictionary(transfers.map { ($0.recordID, GroupTally.Member($0)) }) { $1 }
    var stored: [String: GroupTally.Member] = [:]
    for record in records where running[record.id] != nil || entries[record.id] != nil {
      stored[record.id] = GroupTally.Member(record)
    }
    return update(running) { stored[$0] }
  }
}

extension GroupTally.Member {
  /// Creates the member of a running download.
  fileprivate init(_ download: DownloadProgress) {
    self.init(state: .running, received: download.received, expected: download.expected)
  }
}
