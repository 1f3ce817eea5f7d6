internal import DownloadStore
internal import ObjectStore
internal import SystemInterface

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
      running[id] = GroupTally.Member(
        state: .running,
        received: download.received,
        expected: download.expected
      )
      if let more = download.bytesPerSecond { speed = (speed ?? 0) + more }
    }
    var progress = tally.progress(with: live.update(running) { tally[$0] })
    progress.bytesPerSecond = speed
    return progress
  }
}
