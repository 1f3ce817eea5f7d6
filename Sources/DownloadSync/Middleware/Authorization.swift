internal import DownloadStore

/// Asks an authorizer, one call at a time for each origin.
///
/// Owns how often each origin was authorized after a refusal.
actor Authorization {
  /// A request that may be sent.
  struct Authorized: Sendable {
    var request: TaskRequest
    /// How often the origin had been authorized after a refusal.
    var refreshCount: Int
    /// Whether the authorizer was asked with the refusal of this request.
    var isAnswer: Bool
  }

  /// A refused request.
  struct Refusal: Sendable {
    var head: ResponseHead
    /// How often the origin had been authorized when the request was made.
    var refreshCount: Int
  }

  /// A call that waits until it may begin.
  private struct Waiter {
    var number: Int
    /// Resumed with whether the call may begin; otherwise it was cancelled.
    var continuation: CheckedContinuation<Bool, Never>
  }

  private struct Origin {
    var refreshCount = 0
    var isBusy = false
    var waiting: [Waiter] = []
  }

  private let authorizer: any RequestAuthorizer
  private let deadline: Duration
  private var origins: [String: Origin] = [:]
  private var waiterCount = 0

  init(_ authorizer: any RequestAuthorizer, deadline: Duration) {
    self.authorizer = authorizer
    self.deadline = deadline
  }

  /// Returns a request with credentials.
  ///
  /// - Parameters:
  ///   - request: The request without credentials.
  ///   - refusal: Its refusal; `nil` the first time.
  /// - Returns: The request to send.
  /// - Throws: The failure of the attempt.
  func authorize(
    _ request: TaskRequest,
    after refusal: Refusal?
  ) async throws(DownloadFailure) -> Authorized {
    let origin = RecordIdentity.origin(of: request.url)
    guard await begin(origin) else { throw failure(CancellationError()) }
    defer { end(origin) }
    let refreshCount = origins[origin]?.refreshCount ?? 0
    // A request that was sent before the last answer has old credentials.
    let isAnswer = refusal?.refreshCount == refreshCount
    do {
      let made = try await Deadline.run(within: deadline) { [authorizer] in
        try await authorizer.authorize(request, after: isAnswer ? refusal?.head : nil)
      }
      if isAnswer { origins[origin]?.refreshCount += 1 }
      return Authorized(
        request: InterceptorChain.permitted(made, inPlaceOf: request),
        refreshCount: origins[origin]?.refreshCount ?? 0,
        isAnswer: isAnswer
      )
    } catch {
      // It is not known whether the credentials were renewed. The next request shows it.
      let isUnknown = error is CancellationError || error is Deadline.Passed
      if isAnswer, isUnknown { origins[origin]?.refreshCount += 1 }
      throw failure(error)
    }
  }

  private func failure(_ error: any Error) -> DownloadFailure {
    Deadline.failure(error, of: "authorizer \(type(of: authorizer))", deadline)
  }

  /// Waits until no call for an origin is in progress.
  ///
  /// - Returns: Whether the call may begin; false if the calling task was cancelled while it waited.
  private func begin(_ origin: String) async -> Bool {
    guard origins[origin, default: Origin()].isBusy else {
      origins[origin, default: Origin()].isBusy = true
      return true
    }
    waiterCount += 1
    let number = waiterCount
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // A task that is cancelled from here on is found among the waiting ones.
        guard !Task.isCancelled else { return continuation.resume(returning: false) }
        origins[origin]?.waiting.append(Waiter(number: number, continuation: continuation))
      }
    } onCancel: {
      Task { await cancel(number, origin) }
    }
  }

  /// Ends the wait of a call, unless it may begin already.
  private func cancel(_ number: Int, _ origin: String) {
    guard let index = origins[origin]?.waiting.firstIndex(where: { $0.number == number }) else {
      return
    }
    origins[origin]?.waiting.remove(at: index).continuation.resume(returning: false)
  }

  /// Lets the next call for an origin begin.
  private func end(_ origin: String) {
    guard origins[origin]?.waiting.isEmpty == false else {
      origins[origin]?.isBusy = false
      return
    }
    origins[origin]?.waiting.removeFirst().continuation.resume(returning: true)
  }
}
