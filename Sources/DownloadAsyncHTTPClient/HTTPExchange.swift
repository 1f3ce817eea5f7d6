package import DownloadStore
package import DownloadSync

#if AsyncHTTPClient
  internal import AsyncHTTPClient
  internal import NIOCore
  internal import NIOHTTP1
  internal import NIOSSL
#endif

/// Sends short requests with bodies, and returns whole answers: for webhooks, and for the API of another
/// machine.
///
/// Redirects are not followed. The rules for TLS are those of the transport. A proxy is used for `https`
/// URLs, by CONNECT.
package struct HTTPExchange: Sendable {
  /// The answer to a request.
  package struct Answer: Sendable, Hashable {
    package var status: Int
    package var body: [UInt8]
  }

  /// The time that an exchange may take.
  package var timeout = Duration.seconds(30)
  /// The largest body of an answer in bytes.
  package var longestBody = 64 << 20

  #if AsyncHTTPClient
    private let clients: Clients

    /// Creates an exchange.
    ///
    /// - Throws: `DownloadFailure` with `insecure` if a certificate or a key cannot be read.
    package init(_ connection: ConnectionSettings) throws {
      clients = Clients(
        ClientPool(
          configuration: HTTPClient.Configuration(
            tlsConfiguration: try .forClient(connection),
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10))
          ),
          connection
        )
      )
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL.
    ///   - headers: The header fields.
    ///   - body: The body; empty for none.
    /// - Returns: The answer, whatever its status is.
    /// - Throws: `DownloadFailure` if there is none.
    package func send(
      _ method: String,
      _ url: String,
      headers: [HeaderField],
      body: [UInt8]
    ) async throws -> Answer {
      let prepared = try PreparedRequest(TaskRequest(url: url, recordID: "", headers: []))
      let (client, route) = clients.pool.client(for: prepared)
      let connection = prepared.connection(by: route)
      var request = HTTPClientRequest(url: connection.url)
      request.method = HTTPMethod(rawValue: method)
      for field in connection.fields + headers {
        request.headers.add(name: field.name, value: field.value)
      }
      if !body.isEmpty { request.body = .bytes(body) }
      do {
        let response = try await client.execute(request, timeout: TimeAmount(timeout))
        let bytes = try await response.body.collect(upTo: longestBody)
        return Answer(status: Int(response.status.code), body: Array(bytes.readableBytesView))
      } catch {
        let peers = TransferPeers(prepared.url, through: route.proxy)
        if case .failed(let failure) = TaskOutcome(failedWith: error, peers) {
          throw failure
        }
        throw DownloadFailure(.unknown, "\(error)")
      }
    }

    /// Closes the connections with the last copy of the exchange.
    private final class Clients: Sendable {
      let pool: ClientPool

      init(_ pool: ClientPool) { self.pool = pool }

      deinit { pool.shutdown() }
    }
  #else
    /// Throws, because the package was built without an HTTP client for requests with bodies.
    ///
    /// - Throws: `DownloadFailure` with `unsupportedURL`.
    package init(_ connection: ConnectionSettings) throws {
      throw DownloadFailure(
        .unsupportedURL,
        "this program was built without the trait AsyncHTTPClient, which sends such requests"
      )
    }

    /// Throws.
    ///
    /// - Throws: `DownloadFailure` with `unsupportedURL`.
    package func send(
      _ method: String,
      _ url: String,
      headers: [HeaderField],
      body: [UInt8]
    ) async throws -> Answer {
      throw DownloadFailure(.unsupportedURL, "requests with bodies are not supported")
    }
  #endif
}
