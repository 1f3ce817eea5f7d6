#if AsyncHTTPClient
  import AsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
  import Testing

  @testable import DownloadAsyncHTTPClient

  /// The end of a transport while a request begins.
  @Suite(.timeLimit(.minutes(10)))
  struct ClientPoolTests {
    private let server: FaultServer
    private let clients = ClientPool(
      configuration: HTTPClient.Configuration(),
      ConnectionSettings()
    )

    init() throws {
      server = try FaultServer()
    }

    private func request() throws -> PreparedRequest {
      try PreparedRequest(TaskRequest(url: server.url("/x"), recordID: "r"))
    }

    @Test func `a pool that is shut down creates no client, and returns none`() throws {
      let request = try request()
      _ = try clients.client(for: request)
      clients.shutdown()
      let other = try PreparedRequest(TaskRequest(url: "https://h.invalid/", recordID: "r"))
      for request in [request, other] {
        #expect(throws: CancellationError.self) { _ = try clients.client(for: request) }
      }
    }

    @Test func `a fetch that has ended sends no request`() async throws {
      defer { clients.shutdown() }
      server.route("/x", Resource(.text("x")))
      let fetches = LiveTaskTable<Fetch>()
      let sink = RecordingSink()
      let fetch = fetches.add(recordID: "r", sink: sink) { Fetch(gate: $0) }
      fetch.end(.cancelled)
      let limiter = RateLimiter(bytesPerSecond: nil)
      await fetch.run(try request(), clients: clients, limiter: limiter)
      #expect(await sink.outcome() == .cancelled)
      #expect(server.connectionCount == 0)
    }
  }
#endif
