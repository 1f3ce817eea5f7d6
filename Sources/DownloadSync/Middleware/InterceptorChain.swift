internal import DownloadStore

/// The interceptors of an engine, in their order.
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

  /// The request to send, after every interceptor has seen it.
  ///
  /// - Throws: The failure that the attempt has.
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
        throw Self.failure(error, of: interceptor, deadline)
      }
    }
    return changed
  }

  /// Tells every interceptor of an end; returns those that failed.
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

  /// Sorts by a number, and leaves what is equal in its order.
  static func ordered<T>(_ values: [T], by number: (T) -> Int) -> [T] {
    values.enumerated()
      .sorted { (number($0.element), $0.offset) < (number($1.element), $1.offset) }
      .map(\.element)
  }

  /// The request with what an interceptor may change, and the rest as it was.
  ///
  /// A field that the interceptor has added or changed is meant for the URL that it returns. One that
  /// was there before was given for the URL before.
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

  /// The failure of an attempt whose request was not made.
  static func failure(
    _ error: any Error,
    of interceptor: any RequestInterceptor,
    _ deadline: Duration
  ) -> DownloadFailure {
    let name = "\(type(of: interceptor))"
    return switch error {
    case let failure as DownloadFailure: failure
    case is Deadline.Passed:
      DownloadFailure(.timedOut, "the request interceptor \(name) did not answer in \(deadline)")
    default:
      DownloadFailure(.interceptorFailed, "the request interceptor \(name) failed: \(error)")
    }
  }
}
