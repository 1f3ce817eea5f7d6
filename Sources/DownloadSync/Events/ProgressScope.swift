public import DownloadStore

/// The downloads whose progress ``DownloadEngine/progress(of:every:)`` returns.
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
