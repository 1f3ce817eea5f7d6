internal import DownloadStore
internal import ObjectStore
internal import Synchronization

/// The members of a group as the store has them, kept current while this exists.
final class GroupMembers: Sendable {
  private struct State {
    var follower = GroupFollower()
    var failure: StoreError?
  }

  /// What the observation writes and others read.
  private final class Shared: Sendable {
    // Held while differences are taken over.
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

  /// Waits for the first look.
  ///
  /// - Throws: `StoreError`.
  func load() async throws {
    var looks = looks.makeAsyncIterator()
    _ = await looks.next()
    if let failure = shared.state.withLock(\.failure) { throw failure }
  }

  /// The sums, with live downloads as far as they are, and their speed.
  ///
  /// - Throws: `StoreError`.
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
