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
/// Redirects are not followed. The rules for TLS and proxies are those of the transport.
package struct HTTPExchange: Sendable {
  /// The answer to a request.
  package struct Answer: Sendable, Hashable {
    package var status: Int
    package var body: [UInt8]
  }

  /// The time until the head of the answer, and again until the end of its body.
  package var timeout = Duration.seconds(30)
  /// The largest body of an answer in bytes.
  package var longestBody = 64 << 20

  #if AsyncHTTPClient
    private let clients: Clients

    /// Creates an exchange.
    ///
    /// - Throws: `DownloadFailure` with `insecure` if a certificate or a key cannot be read.
    package init(_ connection: ConnectionSettings) throws {
      var configuration = HTTPClient.Configuration(
        tlsConfiguration: try .forClient(connection),
        redirectConfiguration: .disallow,
        timeout: HTTPClient.Configuration.Timeout(connect: .seconds(10))
      )
      // A mistyped port is reported at once. Callers decide about retries.
      configuration.connectionPool.retryConnectionEstablishment = false
      clients = Clients(ClientPool(configuration: configuration, connection))
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The URL.
    ///   - headers: The header fields.
    ///   - body: The body; empty for none.
    ///   - readsBody: Whether the body of the answer is read; otherwise the answer has none.
    /// - Returns: The answer, whatever its status is.
    /// - Throws: `DownloadFailure` if there is none.
    package func send(
      _ method: String,
      _ url: String,
      headers: [HeaderField],
      body: [UInt8],
      readsBody: Bool = true
    ) async throws -> Answer {
      let prepared = try PreparedRequest(TaskRequest(url: url, recordID: "", headers: headers))
      let (client, route) = try clients.pool.client(for: prepared)
      let connection = prepared.connection(by: route)
      var request = HTTPClientRequest(url: connection.url)
      request.method = HTTPMethod(rawValue: method)
      for field in connection.fields + prepared.fields {
        request.headers.add(name: field.name, value: field.value)
      }
      if !body.isEmpty { request.body = .bytes(body) }
      do {
        let response = try await client.execute(request, timeout: TimeAmount(timeout))
        let status = Int(response.status.code)
        guard readsBody else { return Answer(status: status, body: []) }
        return Answer(status: status, body: try await bytes(of: response.body))
      } catch let failure as DownloadFailure {
        throw failure
      } catch {
        let peers = TransferPeers(prepared.url, through: route.proxy)
        let limits = clients.pool.limits
        if case .failed(let failure) = TaskOutcome(failedWith: error, peers, limits, by: route) {
          throw failure
        }
        throw DownloadFailure(.unknown, "\(error)")
      }
    }

    /// Reads a body, within ``timeout``.
    private func bytes(of body: HTTPClientResponse.Body) async throws -> [UInt8] {
      try await withThrowingTaskGroup(of: [UInt8].self) { [timeout, longestBody] group in
        group.addTask {
          do {
            return Array(try await body.collect(upTo: longestBody).readableBytesView)
          } catch is NIOTooManyBytesError {
            throw DownloadFailure(.tooLarge, "the answer has more than \(longestBody >> 20) MiB")
          }
        }
        group.addTask {
          try await Task.sleep(for: timeout)
          throw DownloadFailure(.timedOut, "the answer did not end in time")
        }
        defer { group.cancelAll() }
        return try await group.next() ?? []
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
      body: [UInt8],
      readsBody: Bool = true
    ) async throws -> Answer {
      throw DownloadFailure(.unsupportedURL, "requests with bodies are not supported")
    }
  #endif
}
