internal import Synchronization

/// One limit on the bytes of all tasks of a transport together.
///
/// A transport charges what has arrived and waits off the debt before it goes on, in its own way.
package final class RateLimiter: Sendable {
  private let bucket: Mutex<TokenBucket?>

  /// A limit in bytes per second; none if `nil`.
  package init(bytesPerSecond: Int64?) {
    bucket = Mutex(Self.bucket(bytesPerSecond))
  }

  /// The limit in bytes per second; takes effect at once.
  package var bytesPerSecond: Int64? {
    get { bucket.withLock { $0?.bytesPerSecond } }
    set { bucket.withLock { $0 = Self.bucket(newValue) } }
  }

  /// Charges bytes that have arrived.
  package func charge(_ byteCount: Int) {
    bucket.withLock { $0?.charge(byteCount, at: .now) }
  }

  /// How long to wait until nothing is owed; to be asked again now and then, since the limit may
  /// change meanwhile.
  package var delay: Duration {
    bucket.withLock { $0?.delay(at: .now) } ?? .zero
  }

  private static func bucket(_ bytesPerSecond: Int64?) -> TokenBucket? {
    bytesPerSecond.map { TokenBucket(bytesPerSecond: $0, at: .now) }
  }
}
