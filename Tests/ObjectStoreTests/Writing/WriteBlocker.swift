import Dispatch
import SystemInterface

@testable import ObjectStoreCore

/// A write that blocks the write queue until it is released.
final class WriteBlocker: Sendable {
  private let isRunning = Atomic(false)
  private let released = DispatchSemaphore(value: 0)

  /// Starts the write, and returns when it is running.
  func hold(_ store: Store, in group: inout ThrowingTaskGroup<Void, any Error>) async throws {
    group.addTask {
      try await store.write { _ in
        self.isRunning.store(true, ordering: .releasing)
        self.released.wait()
      }
    }
    while !isRunning.load(ordering: .acquiring) { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// Waits until `count` writes are queued, and then ends the blocking write.
  func release(_ store: Store, waiting count: Int) async throws {
    while store.writes.count < count { try await Task.sleep(for: .milliseconds(1)) }
    released.signal()
  }
}
