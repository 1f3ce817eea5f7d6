#if AsyncHTTPClient
  import DownloadAsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
  import TestSupport
  import Testing

  /// Proxies that AsyncHTTPClient cannot use.
  @Suite(.timeLimit(.minutes(10)))
  struct UnsupportedProxyTests {
    private let listener: FaultServer

    init() throws {
      listener = try FaultServer()
    }

    private func connection(_ scheme: String) throws -> ConnectionSettings {
      var connection = ConnectionSettings()
      connection.proxies.http = try ProxyServer("\(scheme)://u:s3cret@127.0.0.1:\(listener.port)")
      connection.proxies.https = connection.proxies.http
      return connection
    }

    private func check(_ failure: DownloadFailure?) {
      #expect(failure?.code == .cannotConnect && failure?.detail == .proxy)
      let message = failure?.message ?? ""
      #expect(message.contains("does not support") && !message.contains("s3cret"), "\(message)")
    }

    @Test(arguments: ["https", "socks5", "socks5h"], ["http", "https"])
    func `a proxy that cannot be used fails the task, and receives no connection`(
      _ proxy: String,
      _ scheme: String
    ) async throws {
      let transport = try AsyncHTTPClientTransport(
        idleTimeout: hangLimit,
        connection: try connection(proxy)
      )
      let sink = RecordingSink()
      _ = transport.start(TaskRequest(url: "\(scheme)://h.invalid/x", recordID: "r"), sink: sink)
      guard case .failed(let failure)? = await sink.outcome() else {
        Issue.record("not a failure")
        return
      }
      check(failure)
      #expect(listener.connectionCount == 0)
    }

    @Test(arguments: ["https", "socks5", "socks5h"], ["http", "https"])
    func `a proxy that cannot be used fails a request with a body, and receives no connection`(
      _ proxy: String,
      _ scheme: String
    ) async throws {
      let exchange = try HTTPExchange(try connection(proxy))
      let error = await #expect(throws: DownloadFailure.self) {
        try await exchange.send("POST", "\(scheme)://h.invalid/x", headers: [], body: [1])
      }
      check(error)
      #expect(listener.connectionCount == 0)
    }
  }
#endif
