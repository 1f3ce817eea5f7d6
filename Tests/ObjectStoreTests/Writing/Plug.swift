import Dispatch
import Synchronization

@testable import ObjectStore

/// A write that keeps others waiting until it is let go.
final class Plug: Sendable {
  private let isIn = Atomic(false)
  private let isOut = DispatchSemaphore(value: 0)

  /// Begins the write, and returns once it runs.
  func hold(_ store: ObjectStore, in group: inout ThrowingTaskGroup<Void, any Error>) async {
    group.addTask {
      try await store.write { _ in
        self.isIn.store(true, ordering: .releasing)
        self.isOut.wait()
      }
    }
    while !isIn.load(ordering: .acquiring) { await Task.yield() }
  }

  /// Lets go once so many writes wait.
  func release(_ store: ObjectStore, waiting count: Int) async {
    while store.writes.count < count { await Task.yield() }
    isOut.signal()
  }
}
