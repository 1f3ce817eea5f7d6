internal import DownloadStore
internal import Foundation
internal import SystemInterface

/// Sends the requests of an engine with the credentials of its authorizer, and repeats those that a
/// server refuses.
///
/// The engine sees one task for each of its requests. It learns of a refusal only when the authorizer
/// has no answer to it.
final class AuthorizingTransport: Transport {
  /// The ids of this transport; those of the other one are smaller.
  private static let firstID: UInt64 = 1 << 63

  private struct State {
    var lastID = AuthorizingTransport.firstID
    var tasks: [TaskID: AuthorizedTask] = [:]
  }

  let base: any Transport
  let authorization: Authorization
  // Only held to access the fields; never during a call to a transport or a sink.
  private let state = Mutex(State())

  init(_ base: any Transport, _ authorization: Authorization) {
    self.base = base
    self.authorization = authorization
  }

  func start(_ request: TaskRequest, sink: any TaskSink) -> TaskID {
    let task = AuthorizedTask(request, sink: sink, of: self)
    let id = state.withLock { state in
      state.lastID += 1
      let id = TaskID(rawValue: state.lastID)
      state.tasks[id] = task
      return id
    }
    task.begin { [weak self] in self?.state.withLock { $0.tasks[id] = nil } }
    return id
  }

  func cancel(_ task: TaskID) {
    guard task.rawValue > Self.firstID else { return base.cancel(task) }
    state.withLock { $0.tasks[task] }?.cancel()
  }

  /// The tasks of the other transport, with its ids, as an earlier engine has left them.
  func liveTasks() async -> [TaskSnapshot] { await base.liveTasks() }

  var splitRateLimit: Int64? { base.splitRateLimit }
  var bytesPerSecond: Int64? { base.bytesPerSecond }
  func follow(rateLimit limit: Int64?) { base.follow(rateLimit: limit) }
}

/// A sink that can be told why its task was never started.
protocol RefusableSink: TaskSink {
  /// Notes the failure of the attempt; `finish(_:)` follows.
  func refuse(_ failure: DownloadFailure)
}

extension Transfer: RefusableSink {
  func refuse(_ failure: DownloadFailure) { end(with: .failed(failure, retryAfter: nil)) }
}

/// One request of an engine, which may be sent several times.
final class AuthorizedTask: TaskSink {
  /// How often the authorizer is asked about the refusals of one request.
  private static let maximumAnswers = 3
  /// How often a request is sent at most, whoever was asked about its refusals.
  private static let maximumRequests = 32

  private struct State {
    /// The call of the authorizer; `nil` when it has ended.
    var call: Task<Void, Never>?
    /// The task that sends the request; `nil` when it has ended.
    var task: TaskID?
    var isCancelled = false
    /// The numbers of calls and tasks that have begun and ended.
    ///
    /// One may end before the code that has begun it continues.
    var callCount = 0
    var endedCalls = 0
    var requestCount = 0
    var endedRequests = 0
    /// The refusal that the authorizer is to answer.
    var refusal: ResponseHead?
    var refreshCount = 0
    var answerCount = 0
    var whenFinished: (@Sendable () -> Void)?
  }

  private let request: TaskRequest
  private let sink: any TaskSink
  private let transport: AuthorizingTransport
  // Only held to access the fields; never during a call to a transport or a sink.
  private let state = Mutex(State())

  init(_ request: TaskRequest, sink: any TaskSink, of transport: AuthorizingTransport) {
    self.request = request
    self.sink = sink
    self.transport = transport
  }

  /// Sends the request for the first time.
  func begin(_ whenFinished: @escaping @Sendable () -> Void) {
    state.withLock { $0.whenFinished = whenFinished }
    authorize(after: nil)
  }

  func cancel() {
    let (call, task) = state.withLock { state in
      state.isCancelled = true
      return (state.call, state.task)
    }
    call?.cancel()
    if let task { transport.base.cancel(task) }
  }

  private func authorize(after refusal: ResponseHead?) {
    let (number, refreshCount) = state.withLock { state in
      state.callCount += 1
      return (state.callCount, state.refreshCount)
    }
    let call = Task.detached { [self] in
      do throws(DownloadFailure) {
        let authorized = try await transport.authorization.authorize(
          request,
          after: refusal.map { Authorization.Refusal(head: $0, refreshCount: refreshCount) }
        )
        send(authorized)
      } catch {
        fail(error, after: refusal)
      }
    }
    let isCancelled = state.withLock { state in
      if state.endedCalls < number { state.call = call }
      return state.isCancelled
    }
    if isCancelled { call.cancel() }
  }

  private func send(_ authorized: Authorization.Authorized) {
    let number = state.withLock { state -> Int? in
      noteEndOfCall(&state)
      guard !state.isCancelled else { return nil }
      state.refreshCount = authorized.refreshCount
      if authorized.isAnswer { state.answerCount += 1 }
      state.requestCount += 1
      return state.requestCount
    }
    guard let number else { return end(.cancelled) }
    let task = transport.base.start(authorized.request, sink: self)
    let isCancelled = state.withLock { state in
      guard state.endedRequests < number else { return false }
      state.task = task
      return state.isCancelled
    }
    if isCancelled { transport.base.cancel(task) }
  }

  private func fail(_ failure: DownloadFailure, after refusal: ResponseHead?) {
    let isCancelled = state.withLock { state in
      noteEndOfCall(&state)
      return state.isCancelled
    }
    guard !isCancelled else { return end(.cancelled) }
    if let refusal, failure.code == .interceptorFailed {
      // The sink knows what the status means for the file.
      _ = sink.receive(refusal)
      return end(.cancelled)
    }
    (sink as? any RefusableSink)?.refuse(failure)
    end(.failed(failure))
  }

  private func noteEndOfCall(_ state: inout State) {
    state.endedCalls = state.callCount
    state.call = nil
  }

  private func end(_ outcome: TaskOutcome) {
    let whenFinished = state.withLock { $0.whenFinished.take() }
    sink.finish(outcome)
    whenFinished?()
  }

  // MARK: Calls of the transport

  func receive(_ head: ResponseHead) -> BodyDisposition {
    let isAnswered = state.withLock { state in
      guard head.status == 401 || head.status == 403, !state.isCancelled,
        state.answerCount < Self.maximumAnswers, state.requestCount < Self.maximumRequests
      else { return false }
      state.refusal = head
      return true
    }
    return isAnswered ? .cancel : sink.receive(head)
  }

  func receive(_ bytes: Span<UInt8>) -> BodyDisposition { sink.receive(bytes) }

  func finish(_ outcome: TaskOutcome) {
    let refusal = state.withLock { state in
      state.endedRequests = state.requestCount
      state.task = nil
      return state.isCancelled ? nil : state.refusal.take()
    }
    if let refusal { authorize(after: refusal) } else { end(outcome) }
  }
}

extension Transport {
  /// The transport with the authorizer of an engine, if it has one.
  ///
  /// A task of a background transport runs while no process does, so it cannot be authorized. A
  /// ``RoutingTransport`` is one as a whole.
  func authorized(as options: EngineOptions) -> any Transport {
    guard let authorizer = options.authorizer, !(self is any BackgroundTransport) else {
      return self
    }
    return AuthorizingTransport(
      self,
      Authorization(authorizer, deadline: options.interceptorDeadline)
    )
  }
}
