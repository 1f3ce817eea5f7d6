#if AsyncHTTPClient
  import DownloadAsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
  import SystemInterface
  import TestSupport
  import Testing

  /// Short requests with bodies.
  @Suite(.timeLimit(.minutes(10)))
  struct HTTPExchangeTests {
    @Test func `a connection that fails is reported at once`() async throws {
      let server = try FaultServer()
      defer { server.stop() }
      let exchange = try HTTPExchange(ConnectionSettings())
      // The server does not speak TLS.
      let url = server.url("/").replacing("http:", with: "https:")
      await #expect(throws: DownloadFailure.self) {
        try await exchange.send("POST", url, headers: [], body: [])
      }
      try await waitUntil("the connection") { server.connectionCount > 0 }
      #expect(server.connectionCount == 1)
    }

    /// Sends a request, and again while no connection is made in time: that time cannot be changed.
    static func answer(
      _ url: String,
      _ connection: ConnectionSettings
    ) async throws -> HTTPExchange.Answer {
      var exchange = try HTTPExchange(connection)
      exchange.timeout = hangLimit
      while true {
        do {
          return try await exchange.send("POST", url, headers: [], body: [])
        } catch let failure as DownloadFailure where failure.code == .timedOut {
          continue
        }
      }
    }

    @Test func `the file of SSL_CERT_FILE is trusted, unless the settings name another one`()
      async throws
    {
      let folder = try TemporaryFolder()
      let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
      let server = try TLSServer { HTTP1Conversation(reply) }
      let own = try TestCertificate.write(to: folder.path)
      let other = try folder.makeFile("other.pem", TestCertificate.expired)
      let url = server.url("/x")
      await #expect(processExitsWith: .success) {
        [url = url as String, own = own as String, other = other as String] in
        _ = unsafe setenv("SSL_CERT_FILE", own, 1)
        var connection = ConnectionSettings()
        let answer = try await HTTPExchangeTests.answer(url, connection)
        #expect(answer.status == 200 && answer.body == Array("ok".utf8))
        connection.certificateAuthorities = other
        let strict = connection
        let error = await #expect(throws: DownloadFailure.self) {
          try await HTTPExchangeTests.answer(url, strict)
        }
        #expect(error?.code == .insecure)
      }
      #expect(server.peers.count == 1)
      withExtendedLifetime(folder) {}
    }
  }
#endif
