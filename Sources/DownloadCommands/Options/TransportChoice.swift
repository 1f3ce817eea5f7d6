internal import ArgumentParser
internal import DownloadSync
internal import URLSessionTransport

#if AsyncHTTPClient
  internal import AsyncHTTPClientTransport
#endif

/// The transports by the names that `--transport` takes.
enum TransportChoice: String, ExpressibleByArgument, CaseIterable {
  case urlSession = "urlsession"
  case asyncHTTPClient = "async-http-client"

  /// The ones that this program is built with.
  static var available: [Self] {
    #if AsyncHTTPClient
      allCases
    #else
      [.urlSession]
    #endif
  }

  /// Refuses a transport that this program is built without.
  func validate() throws(ValidationError) {
    guard Self.available.contains(self) else {
      throw ValidationError(
        "this program is built without \(rawValue); build it with "
          + "'swift build --traits AsyncHTTPClient'."
      )
    }
  }

  /// Makes the transport, which must have been validated.
  func make(connectionsPerHost: Int, bytesPerSecond: Int64?) -> any Transport {
    switch self {
    case .urlSession:
      return URLSessionTransport(
        connectionsPerHost: connectionsPerHost,
        bytesPerSecond: bytesPerSecond,
        onHang: Worker.endIfSupervised
      )
    case .asyncHTTPClient:
      #if AsyncHTTPClient
        return AsyncHTTPClientTransport(
          connectionsPerHost: connectionsPerHost,
          bytesPerSecond: bytesPerSecond
        )
      #else
        preconditionFailure("a transport is validated before it is made")
      #endif
    }
  }
}
