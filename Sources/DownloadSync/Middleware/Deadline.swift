internal import Synchronization

/// Bounds the time that somebody else's code may take.
enum Deadline {
  /// The code has not returned in time.
  struct Passed: Error {}

  /// What the operation returns or throws, or ``Passed`` when the time is up.
  ///
  /// The operation is cancelled then; what does not heed that goes on by itself, and its result is
  /// dropped.
  static func run<R: Sendable>(
    within limit: Duration,
    _ operation: @escaping @Sendable () async throws -> R
  ) async throws -> R {
    let race = Race<R>()
    let runner = Task { race.end(await Result { try await operation() }) }
    let timer = Task {
      guard (try? await Task.sleep(for: limit)) != nil else { return }
      race.end(.failure(Passed()))
    }
    defer {
      timer.cancel()
      runner.cancel()
    }
    return try await withTaskCancellationHandler {
      try await race.result().get()
    } onCancel: {
      race.end(.failure(CancellationError()))
    }
  }

  /// Takes the first of several results.
  private final class Race<R: Sendable>: Sendable {
    private struct State {
      var result: Result<R, any Error>?
      var waiting: CheckedContinuation<Result<R, any Error>, Never>?
    }

    // Held for some nanoseconds.
    private let state = Mutex(State())

    func end(_ result: Result<R, any Error>) {
      let waiting = state.withLock { state -> CheckedContinuation<Result<R, any Error>, Never>? in
        guard state.result == nil else { return nil }
        state.result = result
        defer { state.waiting = nil }
        return state.waiting
      }
      waiting?.resume(returning: result)
    }

    func result() async -> Result<R, any Error> {
      await withCheckedContinuation { continuation in
        let result = state.withLock { state -> Result<R, any Error>? in
          if state.result == nil { state.waiting = continuation }
          return state.result
        }
        if let result { continuation.resume(returning: result) }
      }
    }
  }
}

extension Result where Failure == any Error {
  /// What the body returns or throws.
  fileprivate init(_ body: () async throws -> Success) async {
    do {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
