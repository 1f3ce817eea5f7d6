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

  private struct Origin {
    var refreshCount = 0
    var isBusy = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let authorizer: any RequestAuthorizer
  private let deadline: Duration
  private var origins: [String: Origin] = [:]

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
    await begin(origin)
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
      throw Deadline.failure(error, of: "authorizer \(type(of: authorizer))", deadline)
    }
  }

  /// Waits until no call for an origin is in progress.
  private func begin(_ origin: String) async {
    guard origins[origin, default: Origin()].isBusy else {
      origins[origin, default: Origin()].isBusy = true
      return
    }
    await withCheckedContinuation { origins[origin]?.waiting.append($0) }
  }

  /// Lets the next call for an origin begin.
  private func end(_ origin: String) {
    guard origins[origin]?.waiting.isEmpty == false else {
      origins[origin]?.isBusy = false
      return
    }
    origins[origin]?.waiting.removeFirst().resume()
  }
}
