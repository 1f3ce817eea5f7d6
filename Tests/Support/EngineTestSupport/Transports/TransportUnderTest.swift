public import DownloadSync
public import DownloadURLSession
internal import Foundation

#if AsyncHTTPClient
  public import DownloadAsyncHTTPClient
#endif

/// A transport with a rate limit.
public protocol LimitedTransport: Transport {
  /// The limit in bytes per second.
  var bytesPerSecond: Int64? { get nonmutating set }
}

extension URLSessionTransport: LimitedTransport {}
#if AsyncHTTPClient
  extension AsyncHTTPClientTransport: LimitedTransport {}
#endif

/// The transport that this process tests: URLSession, or the one that `DLSTORE_TRANSPORT` names.
///
/// Every test applies to both.
public enum TransportUnderTest {
  /// Whether the transport is the one over URLSession.
  public static let isURLSession: Bool = {
    let name = ProcessInfo.processInfo.environment["DLSTORE_TRANSPORT"] ?? "urlsession"
    precondition(
      ["urlsession", "async-http-client"].contains(name),
      "DLSTORE_TRANSPORT=\(name) is not a transport"
    )
    return name == "urlsession"
  }()

  /// Creates a transport, with the parameters that both have.
  public static func make(
    idleTimeout: Duration = .seconds(300),
    connectionsPerHost: Int = 16,
    bytesPerSecond: Int64? = nil
  ) -> any LimitedTransport {
    if isURLSession {
      return URLSessionTransport(
        idleTimeout: idleTimeout,
        connectionsPerHost: connectionsPerHost,
        bytesPerSecond: bytesPerSecond
      )
    }
    #if AsyncHTTPClient
      return AsyncHTTPClientTransport(
        idleTimeout: idleTimeout,
        connectionsPerHost: connectionsPerHost,
        bytesPerSecond: bytesPerSecond
      )
    #else
      preconditionFailure("the tests were built without --traits AsyncHTTPClient")
    #endif
  }
}
