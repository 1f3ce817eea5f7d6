/// What an engine tells, from the call that made this on, for one consumer.
///
/// It ends with the engine's run, or with the task that reads it. Whoever is slow misses the oldest
/// events, and is told so by ``DownloadEvent/missed(_:)``; the engine waits for nobody. Of a single
/// download the last end (`completed`, `failed`, `released`) is never missed.
///
/// Copies share one place in the line: to read it twice, ask the engine twice.
public struct DownloadEvents: AsyncSequence, Sendable {
  /// What happens.
  public typealias Element = DownloadEvent
  /// Nothing fails.
  public typealias Failure = Never

  let subscription: EventSubscription

  /// Begins to take events.
  public func makeAsyncIterator() -> Iterator {
    Iterator(subscription: subscription)
  }

  /// Takes events one by one.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let subscription: EventSubscription

    /// The next event, once there is one; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async -> DownloadEvent? {
      await subscription.consumer.next()
    }
  }
}
