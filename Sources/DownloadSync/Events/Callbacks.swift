extension DownloadEngine {
  /// Calls back with what happens, until the observation is cancelled or let go.
  ///
  /// The calls come one after the other and on no particular thread. A slow callback misses events,
  /// as a slow consumer of ``events(keeping:)`` does, and holds up nothing.
  public nonisolated func observe(
    _ body: @escaping @Sendable (DownloadEvent) -> Void
  ) -> EventObservation {
    let events = events()
    return EventObservation { for await event in events { body(event) } }
  }
}

extension DownloadHandle {
  /// Calls back with the progress, and once with the end, until the observation is cancelled or let
  /// go.
  ///
  /// The calls come one after the other and on no particular thread. A slow callback holds up
  /// nothing. The end is told after the last progress, and not when the observation is cancelled.
  ///
  /// - Parameters:
  ///   - interval: The least time between two calls with the progress.
  ///   - progress: Hears how far the download is, as ``progress(every:)``.
  ///   - end: Hears what ``value()`` returns or throws.
  /// - Returns: What the callbacks last as long as.
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

/// Callbacks that go on until this is cancelled or let go.
public final class EventObservation: Sendable {
  private let task: Task<Void, Never>

  init(_ body: @escaping @Sendable () async -> Void) {
    task = Task.detached { await body() }
  }

  deinit {
    task.cancel()
  }

  /// Ends the callbacks; one that is being made is not waited for.
  public func cancel() {
    task.cancel()
  }
}
