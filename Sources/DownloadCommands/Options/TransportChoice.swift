internal import ArgumentParser
internal import CommandLineSupport
internal import DownloadStore
internal import DownloadSync
internal import DownloadURLSession
internal import Foundation

#if os(Linux)
  internal import FoundationNetworking
#endif

#if AsyncHTTPClient
  internal import DownloadAsyncHTTPClient
#endif

/// The values of `--transport`.
enum TransportChoice: String, ExpressibleByArgument, CaseIterable {
  case urlSession = "urlsession"
  case asyncHTTPClient = "async-http-client"

  /// The transports that this program was built with.
  static var available: [Self] {
    #if AsyncHTTPClient
      allCases
    #else
      [.urlSession]
    #endif
  }

  /// The transport of `run` and `get` without `--transport`.
  ///
  /// On Linux a response can crash URLSession (decision 0031).
  static var standard: Self {
    #if os(Linux)
      available.contains(.asyncHTTPClient) ? .asyncHTTPClient : .urlSession
    #else
      .urlSession
    #endif
  }

  /// Throws if this program was built without the transport.
  func validate() throws(ValidationError) {
    guard Self.available.contains(self) else {
      throw ValidationError(
        "this dlstore was built without \(rawValue); build it with "
          + "'swift build --traits AsyncHTTPClient'."
      )
    }
  }

  /// Throws if a file that the connection needs cannot be read or used, or if this machine lacks the
  /// address of `--interface`.
  ///
  /// - Throws: ``CommandFailure``, as ``InputPath/open(_:flags:)``; `ValidationError` for an invalid
  ///   proxy.
  func checkFiles(of client: ClientOptions) throws {
    guard self == .asyncHTTPClient else { return }
    #if AsyncHTTPClient
      for file in client.certificateFiles { try InputPath.requireReadable(file) }
      do {
        try AsyncHTTPClientTransport.checkFiles(of: try client.settings())
      } catch let failure as DownloadFailure {
        throw CommandFailure(.usage, failure.message)
      }
      if let address = client.interface, try !AsyncHTTPClientTransport.hasAddress(address) {
        // The network of the machine may not be up yet.
        throw CommandFailure(
          .unreachable,
          "--interface: no interface of this machine has the address \(address)"
        )
      }
    #endif
  }

  /// Creates the transport; ``validate()`` must have succeeded.
  ///
  /// - Throws: ``CommandFailure`` if a certificate or a key cannot be read.
  func make(
    connectionsPerHost: Int,
    bytesPerSecond: Int64?,
    client: ClientOptions
  ) throws -> any RateLimitedTransport {
    switch self {
    case .urlSession:
      #if os(Linux)
        // A configuration of a session creates the folder of the shared cache, which no session of
        // this program uses. A folder cannot be created below this path.
        URLCache.shared = URLCache(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
      #endif
      return URLSessionTransport(
        idleTimeout: client.timeout.duration,
        connectionsPerHost: connectionsPerHost,
        bytesPerSecond: bytesPerSecond,
        onHang: Worker.endIfSupervised
      )
    case .asyncHTTPClient:
      #if AsyncHTTPClient
        do {
          return try AsyncHTTPClientTransport(
            idleTimeout: client.timeout.duration,
            connectionsPerHost: connectionsPerHost,
            bytesPerSecond: bytesPerSecond,
            connection: try client.settings()
          )
        } catch let failure as DownloadFailure {
          throw CommandFailure(.usage, failure.message)
        }
      #else
        preconditionFailure("the transport was not validated")
      #endif
    }
  }
}
