extension EngineEnvironment {
  /// Posts a signal for each commit until the task is cancelled.
  ///
  /// An observation that fails or ends is restarted after `retryInterval`. Commits may have been
  /// missed in the meantime, so a signal is posted then as well. Even if every observation fails,
  /// the engine reads the store once per interval.
  ///
  /// - Parameters:
  ///   - retryInterval: The time between the end of an observation and the next one.
  ///   - commits: Starts an observation; each element stands for one or more commits.
  ///   - post: Receives the signals.
  package static func watch<Commits: AsyncSequence>(
    retryInterval: Duration = .seconds(1),
    _ commits: () -> Commits,
    _ post: (Signal) -> Void
  ) async {
    while !Task.isCancelled {
      do {
        for try await _ in commits() { post(.storeChanged) }
      } catch {
        if !Task.isCancelled { post(.observationFailed(error)) }
      }
      // A cancelled sleep ends the loop.
      try? await Task.sleep(for: retryInterval)
      if !Task.isCancelled { post(.storeChanged) }
    }
  }
}
