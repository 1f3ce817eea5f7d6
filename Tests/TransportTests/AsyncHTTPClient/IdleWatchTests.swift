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

    @Test func `a look that comes late ends no fetch, and the next one may`() async throws {
      let limit = Duration.seconds(86_400)
      let watch = IdleWatch(fetches, limit: limit)
      let sink = RecordingSink()
      let fetch = fetch(sink)
      fetch.listens()
      let begin = ContinuousClock.now
      let expected = try #require(watch.endSilentFetches(at: begin, expectedAt: begin))
      #expect(expected > begin && expected <= begin + limit / 4)
      // The machine was suspended.
      let late = expected + limit * 7
      let next = try #require(watch.endSilentFetches(at: late, expectedAt: expected))
      #expect(!fetch.gate.hasEnded && next <= late + limit / 4)
      let last = late + limit
      #expect(watch.endSilentFetches(at: last, expectedAt: last) != nil)
      #expect(await sink.outcome()?.failureCode == .timedOut)
      #expect(watch.endSilentFetches(at: last, expectedAt: last) == nil)
    }

    @Test func `a late look leaves no fetch silent from a time in the future`() {
      let fetch = fetch(RecordingSink())
      let now = ContinuousClock.now
      #expect(fetch.silentSince(excluding: .seconds(5), at: now) == nil)
      fetch.listens()
      let since = fetch.silentSince(excluding: .zero, at: now)
      #expect(fetch.silentSince(excluding: .seconds(-1), at: now + .seconds(3_600)) == since)
      let later = now + .seconds(100_000)
      #expect(fetch.silentSince(excluding: .seconds(200_000), at: later) == later)
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
