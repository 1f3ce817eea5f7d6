#if AsyncHTTPClient
  internal import Dispatch
  internal import DownloadStore
  internal import DownloadSync
  internal import SystemInterface

  /// One task from its start to the last call to its sink.
  final class Fetch: Sendable {
    private struct State {
      /// The task that fetches, and the one that checks the idle time.
      var tasks: [Task<Void, Never>] = []
      /// When the transport began to wait for the server; `nil` while it is not waiting.
      var silentSince: ContinuousClock.Instant?
    }

    /// The queue on which sinks receive an end that does not come from the network.
    private static let endings = DispatchQueue(label: "AsyncHTTPClientTransport.endings")

    let gate: SinkGate
    // Held for nanoseconds, never during a call to a sink.
    private let state = Mutex(State())

    init(gate: SinkGate) {
      self.gate = gate
    }

    /// Starts the task, and ends it when the server sends nothing for longer than the time-out.
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
      for task in state.withLock({ $0.tasks }) { task.cancel() }
    }

    // MARK: Idle time

    /// Starts measuring idle time, until ``noteActivity()``.
    func listens() {
      state.withLock { $0.silentSince = .now }
    }

    /// Notes that the server sent something.
    func noteActivity() {
      state.withLock { $0.silentSince = nil }
    }

    private func watch(_ limit: Duration) async {
      while !gate.hasEnded, !Task.isCancelled {
        let silentSince = state.withLock { $0.silentSince }
        let end = (silentSince ?? .now) + limit
        if silentSince != nil, end <= .now {
          let failure = DownloadFailure(.timedOut, "nothing arrived in time")
          return self.end(.failed(failure))
        }
        // A cancelled sleep ends the loop.
        try? await Task.sleep(until: end)
      }
    }
  }
#endif
