internal import Dispatch

/// Runs work that waits for a disk on a thread that may wait.
func blocking<R: Sendable>(_ work: @escaping @Sendable () throws -> R) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue.global().async {
      continuation.resume(with: Result(catching: work))
    }
  }
}
