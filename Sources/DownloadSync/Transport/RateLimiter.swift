internal import SystemInterface

/// A rate limit for the bodies of all tasks of a transport together.
///
/// A transport charges the bytes that have arrived, and waits for ``delay`` before it continues.
package final class RateLimiter: Sendable {
  private let bucket: Mutex<TokenBucket?>

  /// Creates a limiter.
  ///
  /// - Parameter bytesPerSecond: The limit in bytes per second, above zero; `nil` for none.
  package init(bytesPerSecond: Int64?) {
    bucket = Mutex(Self.bucket(bytesPerSecond))
  }

  /// The limit in bytes per second, above zero; `nil` for none.
  ///
  /// A new limit takes effect immediately and cancels the debt.
  package var bytesPerSecond: Int64? {
    get { bucket.withLock { $0?.bytesPerSecond } }
    set { bucket.withLock { $0 = Self.bucket(newValue) } }
  }

  /// Charges bytes that have arrived.
  package func charge(_ byteCount: Int) {
    bucket.withLock { $0?.charge(byteCount, at: .now) }
  }

  /// The time until the charged bytes are within the limit.
  ///
  /// Read it again after a short sleep: the limit may have changed.
  package var delay: Duration {
    bucket.withLock { $0?.delay(at: .now) } ?? .zero
  }

  private static func bucket(_ bytesPerSecond: Int64?) -> TokenBucket? {
    bytesPerSecond.map { TokenBucket(bytesPerSecond: $0, at: .now) }
  }
}
