internal import SystemInterface

/// Limits how long an interceptor may run.
enum Deadline {
  /// The operation did not return within the limit.
  struct Passed: Error {}

  /// Runs an operation with a time limit.
  ///
  /// When the limit is exceeded, the operation is cancelled. An operation that ignores the
  /// cancellation keeps running in the background, and its result is dropped.
  ///
  /// - Parameters:
  ///   - limit: The longest time to wait for the operation.
  ///   - operation: The code to run, in a task of its own.
  /// - Returns: The result of the operation.
  /// - Throws: ``Passed`` if the limit is exceeded, `CancellationError` if the calling task is
  ///   cancelled, or the error of the operation.
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

  /// Keeps the first of several results, and delivers it to one waiting task.
  private final class Race<R: Sendable>: Sendable {
    private struct State {
      var result: Result<R, any Error>?
      var waiting: CheckedContinuation<Result<R, any Error>, Never>?
    }

    // Only held to access the fields; the continuation is resumed after the lock is released.
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
  /// Captures the value or the error of an asynchronous closure.
  fileprivate init(_ body: () async throws -> Success) async {
    do {
      self = .success(try await body())
    } catch {
      self = .failure(error)
    }
  }
}
