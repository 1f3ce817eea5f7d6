public import DownloadStore

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

/// The downloads whose progress ``DownloadEngine/progress(of:every:)`` returns.
///
/// ```swift
/// let active = engine.progress(of: .active)               // of [DownloadProgress]
/// let file = engine.progress(of: .download(handle))       // of DownloadProgress
/// let models = engine.progress(of: .group("models"))      // of GroupProgress
/// ```
public struct ProgressScope<Element: Sendable, Failure: Error>: Sendable {
  let makeSource: @Sendable (DownloadEngine, Duration) -> any ProgressSource<Element, Failure>
}

extension ProgressScope where Element == [DownloadProgress], Failure == Never {
  /// The active downloads at one moment, in the order of their arrival in the queue.
  ///
  /// An element follows each interval, changed or not.
  public static var active: Self {
    Self { engine, interval in ActiveProgress(engine: engine, interval: interval) }
  }
}

extension ProgressScope where Element == DownloadProgress, Failure == Never {
  /// One download.
  ///
  /// An element follows each change. The last one is that of the download's end: the download was
  /// completed, failed permanently, or was released by the engine, for example because the user
  /// paused it (``DownloadEvent/isEnd``). The sequence also ends when the record is deleted and
  /// when the store cannot be read. It is empty if no record has the handle's URL.
  ///
  /// - Parameter handle: The handle of the download, from the same engine.
  /// - Returns: The scope.
  public static func download(_ handle: DownloadHandle) -> Self {
    Self { _, interval in HandleProgress(handle: handle, interval: interval) }
  }
}

extension ProgressScope where Element == GroupProgress, Failure == any Error {
  /// The downloads with a tag, counting every received byte, synced or not.
  ///
  /// Stored values count for downloads at rest, and current values for running ones. An element
  /// follows each change. The last one is the stored progress at the end of the run. To follow a
  /// group without an engine, use `DownloadGroup.changes(every:)`.
  ///
  /// - Parameter tag: The tag; no record need have it yet.
  /// - Returns: The scope.
  /// - Complexity: O(members) for the first element, then O(changes + running downloads) for each.
  public static func group(_ tag: String) -> Self {
    Self { engine, interval in
      LiveGroupProgress(engine: engine, group: engine.store.group(tag), interval: interval)
    }
  }
}

/// The iterator of one scope.
protocol ProgressSource<Element, Failure> {
  associatedtype Element: Sendable
  associatedtype Failure: Error

  /// Returns the current progress at the first call, and then waits for the next element; `nil` at
  /// the end.
  mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element?
}

/// Reads the progress of the active downloads at regular intervals, until the run ends.
struct ActiveProgress: ProgressSource {
  private let engine: DownloadEngine
  private let interval: Duration
  private var next: ContinuousClock.Instant?

  init(engine: DownloadEngine, interval: Duration) {
    self.engine = engine
    self.interval = interval
  }

  /// Waits until the interval has passed, and returns the progress.
  ///
  /// The first call returns immediately. Returns `nil` when the run has ended or the task is
  /// cancelled.
  mutating func next(isolation actor: isolated (any Actor)?) async -> [DownloadProgress]? {
    if let next {
      // A cancelled sleep ends the sequence.
      do { try await Task.sleep(until: next) } catch { return nil }
    }
    next = .now.advanced(by: interval)
    return await engine.hasEnded ? nil : engine.currentProgress()
  }
}

/// Follows one download: the current progress, then each change, until the download's end.
struct HandleProgress: ProgressSource {
  private let handle: DownloadHandle
  private let interval: Duration
  private let ends: EventSubscription
  /// The record to follow; `nil` if there is none.
  private let recordID: String?
  private var last: DownloadProgress?
  private var hasEnded = false

  init(handle: DownloadHandle, interval: Duration) {
    self.handle = handle
    self.interval = interval
    let recordID = handle.currentRecordID
    self.recordID = recordID
    ends = handle.engine.hub.subscribe(to: handle.interest(recordID), capacity: 8)
  }

  /// Returns the current progress at the first call, and then waits for a change; `nil` at the
  /// end.
  mutating func next(
    isolation actor: isolated (any Actor)?
  ) async -> DownloadProgress? {
    while !hasEnded {
      if last != nil {
        // Returns early for an end.
        await ends.consumer.waitForEnd(atMost: interval)
      }
      guard !Task.isCancelled else { return nil }
      // Read before the progress, so that the progress is at least as new as the end.
      hasEnded = ends.consumer.takeEnd()
      guard let recordID,
        let progress = try? await handle.engine.currentProgress(ofRecord: recordID)
      else {
        hasEnded = true
        return nil
      }
      if progress.isEnd { hasEnded = true }
      // The transfer has ended, but its last bytes are not committed yet. The stored progress
      // would appear to go backwards.
      if last?.isLive == true, !progress.isLive, progress.state.isDownloading, !hasEnded {
        continue
      }
      guard progress != last || hasEnded else { continue }
      last = progress
      return progress
    }
    return nil
  }
}
