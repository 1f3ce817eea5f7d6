#if AsyncHTTPClient
  import DownloadAsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
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
  }
#endif
