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

extension DownloadHandle {
  /// Calls closures with the progress and once with the end, until the observation is cancelled or
  /// released.
  ///
  /// The calls are made one at a time, on an unspecified thread. Slow closures never slow the
  /// engine. The end follows the last progress; it is not called after a cancellation.
  ///
  /// - Parameters:
  ///   - interval: The minimum time between two calls with the progress.
  ///   - progress: Receives the elements of ``progress(every:)``.
  ///   - end: Receives the result of ``value()``.
  /// - Returns: The observation; keep it for as long as the closures are to be called.
  public func observe(
    every interval: Duration = .milliseconds(200),
    progress: (@Sendable (DownloadProgress) -> Void)? = nil,
    end: (@Sendable (Result<FinishedDownload, any Error>) -> Void)? = nil
  ) -> EventObservation {
    EventObservation {
      if let progress {
        for await change in self.progress(every: interval) { progress(change) }
      }
      guard let end, !Task.isCancelled else { return }
      do {
        let file = try await value()
        end(.success(file))
      } catch is CancellationError {
        return
      } catch {
        end(.failure(error))
      }
    }
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
