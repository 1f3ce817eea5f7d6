public import DownloadSync

#if AsyncHTTPClient
  public import DownloadAsyncHTTPClient

  private typealias Implementation = AsyncHTTPClientTransport
#else
  public import DownloadURLSession

  private typealias Implementation = URLSessionTransport
#endif

/// A transport with a rate limit.
public protocol LimitedTransport: Transport {
  /// The limit in bytes per second.
  var bytesPerSecond: Int64? { get nonmutating set }
}

#if AsyncHTTPClient
  extension AsyncHTTPClientTransport: LimitedTransport {}
#else
  extension URLSessionTransport: LimitedTransport {}
#endif

/// The transport that this build tests: AsyncHTTPClient with the package trait of that name,
/// otherwise URLSession.
///
/// Every test applies to both.
public enum TransportUnderTest {
  /// Whether the transport is the one over URLSession.
  public static var isURLSession: Bool {
    #if AsyncHTTPClient
      false
    #else
      true
    #endif
  }

  /// Creates a transport, with the parameters that both have.
  public static func make(
    idleTimeout: Duration = .seconds(60),
    connectionsPerHost: Int = 16,
    bytesPerSecond: Int64? = nil
  ) -> any LimitedTransport {
    Implementation(
      idleTimeout: idleTimeout,
      connectionsPerHost: connectionsPerHost,
      bytesPerSecond: bytesPerSecond
    )
  }
}
