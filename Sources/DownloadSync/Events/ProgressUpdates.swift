/// The progress of downloads as a sequence, until the engine's run ends.
///
/// The first element is available immediately. The elements and the end of the sequence depend on
/// its ``ProgressScope``. Each iterator follows the downloads independently. Progress is read when
/// an element is requested, so a slow consumer never slows a download and always gets the latest
/// progress. The sequence also ends when the reading task is cancelled.
///
/// ```swift
/// for await downloads in engine.progress(of: .active, every: .seconds(1)) {
///   for download in downloads { print(download.filename, download.received) }
/// }
/// ```
public struct ProgressUpdates<Element: Sendable, Failure: Error>: AsyncSequence, Sendable {
  let engine: DownloadEngine
  let scope: ProgressScope<Element, Failure>
  let interval: Duration

  /// Starts following the downloads.
  public func makeAsyncIterator() -> Iterator {
    Iterator(source: scope.makeSource(engine, interval))
  }

  /// Follows the downloads of a scope.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate var source: any ProgressSource<Element, Failure>

    /// Returns the current progress at the first call, and then waits for the next element; `nil`
    /// at the end.
    ///
    /// - Throws: `StoreError` if the scope is a group and the store cannot be read. Other scopes
    ///   never throw.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(Failure) -> Element? {
      try await source.next(isolation: actor)
    }
  }
}

extension DownloadEngine {
  /// Returns the progress of the active downloads, of one download or of a group as a sequence.
  ///
  /// ```swift
  /// for await progress in engine.progress(of: .download(handle)) {
  ///   print(progress.estimate.percentage ?? 0, "%")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - scope: The downloads to follow.
  ///   - interval: The minimum time between two elements. It does not delay the end.
  /// - Returns: A sequence that ends when ``run(until:)`` returns, or earlier; see
  ///   ``ProgressScope``.
  public nonisolated func progress<Element, Failure>(
    of scope: ProgressScope<Element, Failure>,
    every interval: Duration = .milliseconds(200)
  ) -> ProgressUpdates<Element, Failure> {
    ProgressUpdates(engine: self, scope: scope, interval: interval)
  }
}
