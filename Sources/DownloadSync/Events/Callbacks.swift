extension DownloadEngine {
  /// Calls a closure for each event, until the observation is cancelled or released.
  ///
  /// The calls are made one at a time, on an unspecified thread. A slow closure misses events, as a
  /// slow consumer of ``events(keeping:)`` does; it never slows the engine. The calls end with the
  /// engine's run.
  ///
  /// ```swift
  /// let observation = engine.observe { event in
  ///   if case .completed(let record) = event { print(record.filename) }
  /// }
  /// ```
  ///
  /// - Parameter body: The closure to call.
  /// - Returns: The observation; keep it for as long as the closure is to be called.
  public nonisolated func observe(
    _ body: @escaping @Sendable (DownloadEvent) -> Void
  ) -> EventObservation {
    let events = events()
    return EventObservation { for await event in events { body(event) } }
  }
}

/// Owns the callbacks of an observer, and ends them when it is cancelled or released.
public final class EventObservation: Sendable {
  private let task: Task<Void, Never>

  init(_ body: @escaping @Sendable () async -> Void) {
    task = Task.detached { await body() }
  }

  deinit {
    task.cancel()
  }

  /// Ends the callbacks, without waiting for a call that is in progress.
  public func cancel() {
    task.cancel()
  }
}
