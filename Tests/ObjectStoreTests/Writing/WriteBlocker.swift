import Dispatch
import SystemInterface

@testable import ObjectStoreCore

/// A write that blocks the write queue until it is released.
final class WriteBlocker: Sendable {
  private let isRunning = Atomic(false)
  private let released = DispatchSemaphore(value: 0)

  /// Starts the write, and returns when it is running.
  func hold(_ store: Store, in group: inout ThrowingTaskGroup<Void, any Error>) async {
    group.addTask {
      try await store.write { _ in
        self.isRunning.store(true, ordering: .releasing)
        self.released.wait()
      }
    }
    while !isRunning.load(ordering: .acquiring) { await Task.yield() }
  }

  /// Waits until `count` writes are queued, and then ends the blocking write.
  func release(_ store: Store, waiting count: Int) async {
    while store.writes.count < count { await Task.yield() }
    released.signal()
  }
}
