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
