#if AsyncHTTPClient
  import AsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
  import NIOCore
  import Testing

  @testable import DownloadAsyncHTTPClient

  /// The watch of all fetches of a transport.
  @Suite(.timeLimit(.minutes(10)))
  struct IdleWatchTests {
    private let fetches = LiveTaskTable<Fetch>()

    private func fetch(_ sink: RecordingSink) -> Fetch {
      fetches.add(recordID: "1", sink: sink) { Fetch(gate: $0) }
    }

    @Test func `a fetch that waits longer than the limit times out, and no other one`() async {
      let watch = IdleWatch(fetches, limit: .milliseconds(20))
      let (busy, silent) = (RecordingSink(), RecordingSink())
      let busyFetch = fetch(busy)
      fetch(silent).listens()
      watch.wake()
      #expect(await silent.outcome()?.failureCode == .timedOut)
      #expect(busy.record.outcomes.isEmpty)
      // It is watched on.
      busyFetch.listens()
      #expect(await busy.outcome()?.failureCode == .timedOut)
    }

    @Test func `a low rate limit does not make tasks time out`() async throws {
      let server = try FaultServer()
      server.route("/slow", Resource(.generated(byteCount: 30_000)))
      var configuration = HTTPClient.Configuration()
      configuration.timeout.connect = .hours(1)
      let clients = ClientPool(configuration: configuration, ConnectionSettings())
      let executor = SinkExecutor()
      defer { withExtendedLifetime(executor) { clients.shutdown() } }
      // The bytes that have arrived wait for many minutes.
      let limiter = RateLimiter(bytesPerSecond: 1)
      let (slow, silent) = (RecordingSink(), RecordingSink())
      let slowFetch = fetch(slow)
      let request = try PreparedRequest(TaskRequest(url: server.url("/slow"), recordID: "1"))
      slowFetch.begin(on: executor) {
        await slowFetch.run(request, clients: clients, limiter: limiter)
      }
      try await waitUntil("bytes") { limiter.delay > .seconds(300) }
      let watch = IdleWatch(fetches, limit: .milliseconds(1))
      // A watch that ends one fetch has looked at the other, too.
      fetch(silent).listens()
      watch.wake()
      #expect(await silent.outcome()?.failureCode == .timedOut)
      #expect(slow.record.outcomes.isEmpty)
      watch.stop()
      limiter.bytesPerSecond = nil
      #expect(await slow.outcome() == .completed)
      #expect(slow.record.byteCount == 30_000)
    }

    @Test func `a watch begins again after the last fetch has ended`() async {
      let watch = IdleWatch(fetches, limit: .milliseconds(1))
      for _ in 0..<200 {
        let sink = RecordingSink()
        fetch(sink).listens()
        watch.wake()
        #expect(await sink.outcome()?.failureCode == .timedOut)
      }
      #expect(fetches.isEmpty)
    }

    @Test func `a stopped watch ends no fetch`() async {
      let watch = IdleWatch(fetches, limit: .seconds(3_600))
      let sink = RecordingSink()
      let fetch = fetch(sink)
      fetch.listens()
      watch.wake()
      watch.stop()
      #expect(sink.record.outcomes.isEmpty)
      fetch.end(.cancelled)
      #expect(await sink.outcome() == .cancelled)
    }
  }
#endif
