internal import DownloadStore
internal import ObjectStore

/// Wakes a process that follows the engine of another one: after commits, and when that engine may
/// have ended.
///
/// The store notifies about commits of other processes, and the system about the lock file. Without
/// these notifications the process looks twice a second.
final class FollowWakes: Sendable {
  private let tasks: [Task<Void, Never>]
  private let watch: EngineLockWatch
  private let signals: AsyncStream<Void>

  /// Starts to watch a store.
  ///
  /// The caller looks at the lock again after this: the engine may have ended before the watch began.
  init(_ store: RecordStore) {
    let (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    watch = EngineLockWatch(storePath: store.path) { signal.yield() }
    // A lock file that is deleted and created again is not watched.
    let interval = watch.isActive ? Duration.seconds(5) : .milliseconds(500)
    let objects = store.objects
    tasks = [
      Task {
        await EngineEnvironment.watch({ objects.commits }) { _ in signal.yield() }
      },
      Task {
        while (try? await Task.sleep(for: interval)) != nil { signal.yield() }
      },
    ]
  }

  deinit {
    for task in tasks { task.cancel() }
  }

  /// Waits for the next reason to look at the store; returns early if the task is cancelled.
  func next() async {
    for await _ in signals { return }
  }
}
