#if AsyncHTTPClient
  internal import Dispatch
  internal import DownloadStore
  internal import DownloadSync
  internal import SystemInterface

  /// One task from its start to the last call to its sink.
  final class Fetch: Sendable {
    private struct State {
      /// The task that fetches.
      var work: Task<Void, Never>?
      /// When the transport began to wait for the server; `nil` while it is not waiting.
      var silentSince: ContinuousClock.Instant?
      /// The last request, for messages; `nil` before the first one.
      var request: (url: RequestURL, proxy: ProxyServer?)?
      /// Whether the server has sent something after the last request.
      var isAnswered = false
    }

    /// The queue on which sinks receive an end that does not come from the network.
    private static let endings = DispatchQueue(label: "AsyncHTTPClientTransport.endings")

    let gate: SinkGate
    // Held for nanoseconds, never during a call to a sink.
    private let state = Mutex(State())

    init(gate: SinkGate) {
      self.gate = gate
    }

    /// Starts the task.
    func begin(on executor: SinkExecutor, work: @escaping @Sendable () async -> Void) {
      let task = Task(executorPreference: executor) { await work() }
      state.withLock { $0.work = task }
      // The task may have ended before it could be cancelled.
      if gate.hasEnded { cancelWork() }
    }

    /// Ends the task: immediately for its sink, soon after for the network.
    func end(_ outcome: TaskOutcome) {
      if gate.settle(outcome) {
        Self.endings.async { [gate] in gate.finish() }
      }
      cancelWork()
    }

    private func cancelWork() {
      state.withLock { $0.work }?.cancel()
    }

    /// Notes which server is asked, and through which proxy.
    func noteRequest(to url: RequestURL, through proxy: ProxyServer?) {
      state.withLock { state in
        state.request = (url, proxy)
        state.isAnswered = false
      }
    }

    /// The peers of the last request.
    var peers: TransferPeers {
      state.withLock { $0.request }.map { TransferPeers($0.url, through: $0.proxy) } ?? .unnamed
    }

    // MARK: Idle time

    /// Starts measuring idle time, until ``noteActivity()``.
    func listens() {
      state.withLock { $0.silentSince = .now }
    }

    /// Notes that the server sent something.
    func noteActivity() {
      state.withLock { state in
        state.silentSince = nil
        state.isAnswered = true
      }
    }

    /// Whether the server has sent something after the last request.
    var isAnswered: Bool { state.withLock { $0.isAnswered } }

    /// Leaves a delay of the watch out of the idle time.
    ///
    /// - Parameters:
    ///   - delay: How late a look of the watch is.
    ///   - now: The time of that look.
    /// - Returns: When the transport began to wait for the server, moved by the delay but not past `now`;
    ///   `nil` while it is not waiting.
    func silentSince(
      excluding delay: Duration,
      at now: ContinuousClock.Instant
    ) -> ContinuousClock.Instant? {
      state.withLock { state in
        guard let since = state.silentSince else { return nil }
        // It may have begun to wait after `now`.
        state.silentSince = max(since, min(since + max(delay, .zero), now))
        return state.silentSince
      }
    }
  }
#endif
