#if AsyncHTTPClient
  import DownloadAsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
  import Foundation
  import SystemInterface
  import Testing

  /// Responses and conditions that crash or confuse URLSession on Linux, and that this transport
  /// handles.
  @Suite(.timeLimit(.minutes(10)))
  struct SurvivalTests {
    private let server: FaultServer
    private let transport = AsyncHTTPClientTransport(idleTimeout: .seconds(300))

    init() throws {
      server = try FaultServer()
    }

    private func outcome(_ fault: Fault, sink: RecordingSink) async -> TaskOutcome? {
      server.route("/file", Resource(.text("x"), faults: fault, then: .repeatLast))
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
      return await sink.outcome()
    }

    @Test(arguments: [
      Fault.closeInsideHeader, .rawResponse("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n"),
      .rawResponse("HTTP/1.1 20"), .rawResponse("HTTP/1.1 103 Early\r\nLink: x\r\n\r\n"),
    ])
    func `a truncated header is a lost connection`(_ fault: Fault) async {
      let sink = RecordingSink()
      let outcome = await outcome(fault, sink: sink)
      #expect(outcome?.failureCode == .connectionLost, "\(String(describing: outcome))")
      #expect(sink.record.heads.isEmpty)
    }

    @Test(arguments: [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: 1\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length:5\r\n\r\nhello",
      "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nX-A:   \r\nContent-Length: 5\r\n\r\nhello",
    ])
    func `unusual but legal headers are parsed`(_ reply: String) async {
      let sink = RecordingSink(expecting: .text("hello"))
      #expect(await outcome(.rawResponse(reply), sink: sink) == .completed)
      #expect(sink.status == 200 && sink.record.byteCount == 5 && sink.record.isIntact)
    }

    @Test func `a Latin-1 byte in a header is accepted`() async {
      let reply = Array("HTTP/1.1 200 OK\r\nX-A: na".utf8) + [0xEF] + Array("ve\r\n".utf8)
      let rest = Array("Content-Length: 5\r\n\r\nhello".utf8)
      let sink = RecordingSink(expecting: .text("hello"))
      #expect(await outcome(.rawResponse(reply + rest), sink: sink) == .completed)
      #expect(sink.record.byteCount == 5)
    }

    @Test func `a sink that blocks does not delay other tasks`() async {
      server.route("/file", Resource(.generated(byteCount: 1_000_000)))
      let gate = Mutex(false)
      let blocked = RecordingSink(onBytes: { _ in
        while !gate.withLock({ $0 }) { Thread.sleep(forTimeInterval: 0.001) }
        return .proceed
      })
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "1"), sink: blocked)
      await blocked.hasBytes()
      let other = RecordingSink()
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "2"), sink: other)
      #expect(await other.outcome() == .completed)
      #expect(blocked.record.outcomes.isEmpty)
      gate.withLock { $0 = true }
      #expect(await blocked.outcome() == .completed)
    }
  }
#endif
