public import DownloadStore

/// A change that an engine reports about its downloads.
///
/// A generation of a download ends in at most one of `completed`, `unchanged`, `retrying`, `failed`,
/// `waitingForDiskSpace` and `released`, and in none if the engine is stopped.
///
/// ```swift
/// for await event in engine.events() {
///   switch event {
///   case .completed(let record): print(record.filename, "is complete")
///   case .retrying(let record, let failure, let wait): print(record.url, failure.message, wait)
///   case .failed(let record, let failure): print(record.url, failure.message)
///   default: break
///   }
/// }
/// ```
public enum DownloadEvent: Sendable, Hashable {
  /// A transfer started at the given byte offset.
  case started(DownloadRecord, offset: Int64)
  /// The missing bytes are copied from the finished file at this path, which has the required digest;
  /// see ``EngineOptions/equalFiles``.
  ///
  /// Follows `started`. If the file turns out to be of no use, `rolledBack` follows, and the next
  /// `started` requests the bytes.
  case copying(DownloadRecord, from: String)
  /// The download restarts at the first byte, because the `from` bytes on disk are of no use.
  ///
  /// The failure says why; it does not count as a failed attempt, unless it ended one.
  case rolledBack(url: String, from: Int64, DownloadFailure)
  /// The file is complete, synced, and has its final name.
  case completed(DownloadRecord)
  /// The download was refreshed, and its finished file is the server's current version.
  case unchanged(DownloadRecord)
  /// The attempt failed, and the next one follows after `wait`.
  case retrying(DownloadRecord, DownloadFailure, wait: Duration)
  /// The download failed permanently; one that was refreshed keeps its finished file, and is complete.
  case failed(DownloadRecord, DownloadFailure)
  /// The disk is full: a write of the download failed, or one of another download to the same volume.
  ///
  /// A waiting download continues when there is free space; a paused one stays paused.
  case waitingForDiskSpace(DownloadRecord)
  /// The engine has ended the transfer of the download, or taken the download off its queue.
  ///
  /// The user paused, cancelled, removed or restarted it, replaced its URL, or required other bytes than
  /// those that it compares; or another download preempted it. After a restart, a new URL or a new
  /// requirement the download continues without a command.
  case released(url: String)
  /// A response interceptor failed; the download is not affected.
  case interceptorFailed(url: String, InterceptorFailure)
  /// Events were dropped because this consumer was too slow; the value is their number.
  case missed(Int)

  /// The record's URL; `nil` for ``missed(_:)``, which is about no single download.
  public var url: String? {
    switch self {
    case .started(let record, _), .copying(let record, _), .completed(let record),
      .unchanged(let record), .retrying(let record, _, _),
      .failed(let record, _), .waitingForDiskSpace(let record):
      record.url
    case .rolledBack(let url, _, _), .released(let url), .interceptorFailed(let url, _): url
    case .missed: nil
    }
  }

  /// The record, if the event contains it.
  var record: DownloadRecord? {
    switch self {
    case .started(let record, _), .copying(let record, _), .completed(let record),
      .unchanged(let record), .retrying(let record, _, _), .failed(let record, _),
      .waitingForDiskSpace(let record):
      record
    case .rolledBack, .released, .interceptorFailed, .missed: nil
    }
  }

  /// Whether the download is completed, has failed permanently, or was released.
  public var isEnd: Bool {
    switch self {
    case .completed, .unchanged, .failed, .released: true
    case .started, .copying, .rolledBack, .retrying, .waitingForDiskSpace, .interceptorFailed,
      .missed:
      false
    }
  }
}

/// The events of an engine or of one download, from its creation on, for one consumer.
///
/// The sequence ends with the engine's run, or when the reading task is cancelled. The engine never
/// waits for a consumer: a slow one misses the oldest events, and then gets
/// ``DownloadEvent/missed(_:)``. The events that end a download (`completed`, `failed`, `released`)
/// are dropped last. The events of a single download (``DownloadHandle/events()``) therefore always
/// include its last end.
///
/// Copies and iterators share one buffer, so each event is delivered once. For a second consumer,
/// call ``DownloadEngine/events(keeping:)`` again.
///
/// ```swift
/// let events = engine.events(keeping: 256)
/// async let summary = engine.run(until: .idle)
/// for await event in events where event.isEnd { print("ended:", event.url ?? "") }
/// ```
public struct DownloadEvents: AsyncSequence, Sendable {
  /// An event.
  public typealias Element = DownloadEvent
  /// The sequence does not fail.
  public typealias Failure = Never

  let subscription: EventSubscription

  /// Creates an iterator, which shares the buffer with all others.
  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription: subscription)
  }

  /// Takes events from the buffer.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let subscription: EventSubscription

    /// Waits for the next event; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> DownloadEvent? {
      await subscription.consumer.next()
    }
  }
}
