internal import DownloadStore
internal import SystemInterface

/// The interceptors of an engine, ordered by priority.
struct InterceptorChain: Sendable {
  let requests: [any RequestInterceptor]
  let responses: [any ResponseInterceptor]
  let deadline: Duration

  init(
    requests: [any RequestInterceptor] = [],
    responses: [any ResponseInterceptor] = [],
    deadline: Duration = .seconds(30)
  ) {
    self.requests = Self.ordered(requests, by: \.priority)
    self.responses = Self.ordered(responses, by: \.priority)
    self.deadline = deadline
  }

  /// Passes a request through all request interceptors, and returns the request to send.
  ///
  /// - Throws: The failure of the attempt, if an interceptor throws or exceeds the deadline.
  func request(
    _ request: TaskRequest,
    for record: DownloadRecord
  ) async throws(DownloadFailure) -> TaskRequest {
    var changed = request
    for interceptor in requests {
      let before = changed
      do {
        let made = try await Deadline.run(within: deadline) {
          try await interceptor.intercept(before, for: record)
        }
        changed = Self.permitted(made, inPlaceOf: before)
      } catch {
        throw Deadline.failure(error, of: "request interceptor \(type(of: interceptor))", deadline)
      }
    }
    return changed
  }

  /// Notifies the response interceptors, and returns the failures of those that throw or exceed the
  /// deadline.
  func notify(_ response: DownloadResponse) async -> [InterceptorFailure] {
    var failures: [InterceptorFailure] = []
    for interceptor in responses {
      do {
        try await Deadline.run(within: deadline) { try await interceptor.intercept(response) }
      } catch {
        let message =
          error is Deadline.Passed ? "did not return within \(deadline)" : "\(error)"
        failures.append(
          InterceptorFailure(interceptor: "\(type(of: interceptor))", message: message)
        )
      }
    }
    return failures
  }

  // MARK: Rules

  /// Sorts values by a number; the sort is stable.
  static func ordered<T>(_ values: [T], by number: (T) -> Int) -> [T] {
    values.enumerated()
      .sorted { (number($0.element), $0.offset) < (number($1.element), $1.offset) }
      .map(\.element)
  }

  /// Returns the original request with the changes that an interceptor is allowed to make: the URL
  /// and the header fields.
  ///
  /// Fields that the interceptor added or changed are sent to the URL that it returned. Unchanged
  /// fields were specified for the previous URL, so `HeaderScope` decides whether the new URL may
  /// receive them.
  static func permitted(_ made: TaskRequest, inPlaceOf request: TaskRequest) -> TaskRequest {
    let given = Set(request.headers)
    let kept = Set(
      HeaderScope.fields(request.headers, givenFor: request.url, sentTo: made.url)
    )
    var permitted = request
    permitted.url = made.url
    permitted.headers = made.headers.filter { !given.contains($0) || kept.contains($0) }
    return permitted
  }
}

/// Limits how long an interceptor may run.
enum Deadline {
  /// The operation did not return within the limit.
  struct Passed: Error {}

  /// Converts an error of what prepares a request to the failure of the attempt.
  ///
  /// - Parameters:
  ///   - error: The error, also of ``run(within:_:)``.
  ///   - name: What has failed, for the message.
  ///   - limit: The time limit.
  /// - Returns: The failure.
  static func failure(_ error: any Error, of name: String, _ limit: Duration) -> DownloadFailure {
    switch error {
    case let failure as DownloadFailure: failure
    case is Passed: DownloadFailure(.timedOut, "the \(name) did not answer in \(limit)")
    default: DownloadFailure(.interceptorFailed, "the \(name) failed: \(error)")
    }
  }

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
