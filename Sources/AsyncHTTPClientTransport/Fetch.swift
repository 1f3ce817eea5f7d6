#if AsyncHTTPClient
  internal import Dispatch
  internal import DownloadSync
  internal import Synchronization

  /// One task from its start to the last call to its sink.
  final class Fetch: Sendable {
    private struct State {
      /// What fetches, and what watches the time.
      var tasks: [Task<Void, Never>] = []
      /// Since when the server has been silent; `nil` while it is not its turn.
      var silentSince: ContinuousClock.Instant?
    }

    /// Where sinks hear of an end that does not come from the network.
    private static let endings = DispatchQueue(label: "AsyncHTTPClientTransport.endings")

    let gate: SinkGate
    // Held for some nanoseconds, and never while a sink is called.
    private let state = Mutex(State())

    init(gate: SinkGate) {
      self.gate = gate
    }

    /// Starts the work, and ends it when its server is silent for longer than the time-out.
    func begin(
      on executor: SinkExecutor,
      idleTimeout: Duration,
      work: @escaping @Sendable () async -> Void
    ) {
      let watching = Task { await watch(idleTimeout) }
      let working = Task(executorPreference: executor) {
        await work()
        watching.cancel()
      }
      state.withLock { $0.tasks = [working, watching] }
      // It may have ended before it could be cancelled.
      if gate.hasEnded { cancelWork() }
    }

    /// Ends the task: at once for its sink, soon for the network.
    func end(_ outcome: TaskOutcome) {
      if gate.settle(outcome) {
        Self.endings.async { [gate] in gate.finish() }
      }
      cancelWork()
    }

    private func cancelWork() {
      for task in state.withLock({ $0.tasks }) { task.cancel() }
    }

    // MARK: Silence

    /// Notes that it is the server's turn: until ``heard()`` this counts as its silence.
    func listens() {
      state.withLock { $0.silentSince = .now }
    }

    /// Notes that the server had something to say.
    func heard() {
      state.withLock { $0.silentSince = nil }
    }

    private func watch(_ limit: Duration) async {
      while !gate.hasEnded, !Task.isCancelled {
        let silentSince = state.withLock { $0.silentSince }
        let end = (silentSince ?? .now) + limit
        if silentSince != nil, end <= .now {
          let failure = TaskFailure(code: .timedOut, message: "nothing arrived in time")
          return self.end(.failed(failure))
        }
        // A cancelled sleep ends the loop.
        try? await Task.sleep(until: end)
      }
    }
  }
#endif
