#if AsyncHTTPClient
  internal import DownloadStore
  internal import DownloadSync
  internal import SystemInterface

  /// Ends the fetches of a transport for which the server has sent nothing in time.
  ///
  /// One task watches all fetches. A task for each of them would leave a timer behind when its
  /// sleep is cancelled, until the sleep would have ended: with thousands of small files per second
  /// and a time-out of a minute, hundreds of megabytes of timers.
  final class IdleWatch: Sendable {
    private let fetches: LiveTaskTable<Fetch>
    private let limit: Duration
    /// The task that watches; `nil` if there was no fetch when it last looked.
    ///
    /// The table is read while this is locked, so that a fetch is either seen or starts the task.
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Creates a watch of the fetches in a table.
    ///
    /// - Parameters:
    ///   - fetches: The fetches.
    ///   - limit: The longest time without data from the server.
    init(_ fetches: LiveTaskTable<Fetch>, limit: Duration) {
      self.fetches = fetches
      self.limit = limit
    }

    /// Watches the fetches, after one was added.
    func wake() {
      task.withLock { task in
        guard task == nil else { return }
        task = Task { await run() }
      }
    }

    /// Ends the watch.
    func stop() {
      task.withLock { $0 }?.cancel()
    }

    private func run() async {
      var now = ContinuousClock.now
      var expected = now
      while !Task.isCancelled, let next = endSilentFetches(at: now, expectedAt: expected) {
        // A cancelled sleep ends the loop.
        try? await Task.sleep(until: next)
        expected = next
        now = .now
      }
    }

    /// Ends the fetches whose time is over.
    ///
    /// If the process or the machine was suspended, no server is to blame: the time by which this look
    /// is late counts for no fetch. A suspension that ends before the next look is due does count, so
    /// that look is at most a quarter of the limit away.
    ///
    /// - Parameters:
    ///   - now: The time of this look.
    ///   - expected: The time that the previous look has returned; `now` for the first one.
    /// - Returns: When to look again; `nil` if there is no fetch.
    func endSilentFetches(
      at now: ContinuousClock.Instant,
      expectedAt expected: ContinuousClock.Instant
    ) -> ContinuousClock.Instant? {
      let live = task.withLock { task in
        let live = fetches.all
        if live.isEmpty { task = nil }
        return live
      }
      guard !live.isEmpty else { return nil }
      var next = now + limit / 4
      for fetch in live {
        guard let since = fetch.silentSince(excluding: now - expected, at: now),
          !fetch.gate.hasEnded
        else { continue }
        guard since + limit > now else {
          let problem = fetch.isAnswered ? TransferProblem.silence(limit) : .noResponse(limit)
          fetch.end(.failed(fetch.peers.failure(.timedOut, problem)))
          continue
        }
        next = min(next, since + limit)
      }
      return next
    }
  }
#endif
