#if AsyncHTTPClient
  import AsyncHTTPClient
  import DownloadStore
  import DownloadSync
  import EngineTestSupport
  import FaultServer
  import Foundation
  import NIOCore
  import NIOHTTP1
  import NIOHTTP2
  import SystemInterface
  import TestSupport
  import Testing

  @testable import DownloadAsyncHTTPClient

  /// Requests that are sent again, because the server sent nothing to them.
  @Suite(.timeLimit(.minutes(10)))
  struct UnansweredRequestTests {
    /// GOAWAY with the last stream 0 and without an error.
    private static let goAway = "frame 7 0 0 %00%00%00%00%00%00%00%00\n"
    private static let hello = "headers 4 s :status=200 content-length=5\ndata 1 s hello\nkeep"

    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
    }

    private func transport(
      idleTimeout: Duration = .seconds(300)
    ) throws -> AsyncHTTPClientTransport {
      var connection = ConnectionSettings()
      connection.certificateAuthorities = try TestCertificate.write(to: folder.path)
      return try AsyncHTTPClientTransport(
        idleTimeout: idleTimeout,
        connectionsPerHost: 1,
        connection: connection
      )
    }

    /// A server whose first connections follow one script, and all others the second one.
    private func server(
      _ count: Int,
      _ first: String,
      then other: String,
      requests: Counter = Counter()
    ) throws -> TLSServer {
      let connections = Counter()
      return try TLSServer(protocols: ["h2"]) {
        let script = connections.next() <= count ? first : other
        return CountingConversation(HTTP2Conversation(HTTP2Script(Array(script.utf8))), requests)
      }
    }

    private func outcome(
      _ url: String,
      _ transport: AsyncHTTPClientTransport,
      sink: RecordingSink = RecordingSink()
    ) async -> TaskOutcome? {
      _ = transport.start(TaskRequest(url: url, recordID: "r"), sink: sink)
      return await sink.outcome()
    }

    // MARK: The decision

    @Test func `each cause permits its number of repetitions, whatever the others have taken`() {
      let limits = UnansweredRequest.allCases.map(\.repetitionLimit)
      #expect(limits == [100, 5, 5, 0])
      for order in [UnansweredRequest.allCases, UnansweredRequest.allCases.reversed()] {
        var budget = RepetitionBudget()
        for cause in order {
          #expect(UnansweredRequest(cause) == cause)
          let limit = cause.repetitionLimit
          let answers = (0..<limit + 3).map { _ in budget.spend(on: cause) }
          #expect(answers == (0..<limit + 3).map { $0 < limit })
        }
      }
    }

    @Test(
      arguments: [
        (HTTPClientError.cancelled, .unprocessed),
        (NIOHTTP2Errors.createdStreamAfterGoaway(), .unprocessed),
        (NIOHTTP2Errors.ioOnClosedConnection(), .unprocessed),
        (
          NIOHTTP2Errors.streamError(
            streamID: 3,
            baseError: NIOHTTP2Errors.createdStreamAfterGoaway()
          ), .unprocessed
        ),
        (ChannelError.ioOnClosedChannel, .reusedConnection),
        (HTTPClientError.remoteConnectionClosed, .newConnection),
        (IOError(errnoCode: ECONNRESET, reason: "read"), .newConnection),
        (IOError(errnoCode: EPIPE, reason: "write"), .newConnection),
        (IOError(errnoCode: ECONNREFUSED, reason: "connect"), nil),
        (IOError(errnoCode: ETIMEDOUT, reason: "read"), nil),
        (HTTPClientError.connectTimeout, nil), (HTTPClientError.readTimeout, nil),
        (HTTPClientError.alreadyShutdown, nil), (HTTPParserError.invalidEOFState, nil),
        (ChannelError.eof, nil), (CancellationError(), nil),
        (NIOHTTP2Errors.streamClosed(streamID: 1, errorCode: .cancel), nil),
        (NIOHTTP2Errors.streamClosed(streamID: 1, errorCode: .internalError), nil),
      ] as [(any Error, UnansweredRequest?)]
    )
    func `an error has a cause if the server sent nothing`(
      _ error: any Error,
      _ cause: UnansweredRequest?
    ) {
      #expect(UnansweredRequest(error) == cause)
    }

    // MARK: HTTP/2

    @Test func `a request that a GOAWAY leaves out is sent over another connection`()
      async throws
    {
      // The client closes the connections.
      let server = try server(3, Self.goAway + "keep", then: Self.hello)
      let sink = RecordingSink(expecting: .text("hello"))
      #expect(await outcome(server.url("/x"), try transport(), sink: sink) == .completed)
      #expect(sink.record.byteCount == 5 && sink.record.isIntact)
      #expect(sink.record.heads.count == 1)
      #expect(server.peers.count == 4)
    }

    @Test func `a server that ends each connection is a lost connection`() async throws {
      let server = try server(.max, Self.goAway, then: "")
      let outcome = await outcome(server.url("/x"), try transport())
      #expect(outcome?.failureCode == .connectionLost, "\(String(describing: outcome))")
      let limit = UnansweredRequest.unprocessed.repetitionLimit
      #expect((2...limit + 1).contains(server.peers.count), "\(server.peers.count)")
    }

    /// RST_STREAM with REFUSED_STREAM, CANCEL and INTERNAL_ERROR.
    @Test(arguments: [("07", 6), ("08", 1), ("02", 1)])
    func `a refused stream is sent again a few times, and another reset is a lost connection`(
      _ code: String,
      _ requestCount: Int
    ) async throws {
      let requests = Counter()
      let script = "frame 3 0 s %00%00%00%\(code)\nkeep"
      let server = try server(.max, script, then: "", requests: requests)
      let outcome = await outcome(server.url("/x"), try transport())
      #expect(outcome?.failureCode == .connectionLost, "\(String(describing: outcome))")
      #expect(requests.count == requestCount)
    }

    @Test func `a connection that ends without GOAWAY on its first request is lost`() async throws {
      let requests = Counter()
      let server = try server(.max, "", then: "", requests: requests)
      let outcome = await outcome(server.url("/x"), try transport())
      #expect(outcome?.failureCode == .connectionLost, "\(String(describing: outcome))")
      #expect(requests.count == 1)
    }

    @Test func `the time without an answer is that of all repetitions`() async throws {
      let server = try server(3, Self.goAway + "keep", then: "keep")
      let outcome = await outcome(server.url("/x"), try transport(idleTimeout: .seconds(1)))
      #expect(outcome?.failureCode == .timedOut, "\(String(describing: outcome))")
    }

    @Test func `a request that is sent again can be cancelled`() async throws {
      let server = try server(3, Self.goAway + "keep", then: "keep")
      let transport = try transport()
      let sink = RecordingSink()
      let task = transport.start(TaskRequest(url: server.url("/x"), recordID: "r"), sink: sink)
      while server.peers.count < 4 { try await Task.sleep(for: .milliseconds(1)) }
      transport.cancel(task)
      #expect(await sink.outcome() == .cancelled)
      #expect(await transport.liveTasks().isEmpty)
    }

    // MARK: HTTP/1.1

    @Test func `a request is sent again if the server closes a connection that it has used`()
      async throws
    {
      let server = try FaultServer()
      // Each connection answers one request.
      let used = Mutex<Set<Int>>([])
      server.route(
        "/x",
        Resource { request in
          let isNew = used.withLock { $0.insert(request.connection).inserted }
          let reply = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
          return isNew ? RawReply(Array(reply.utf8), ending: .keep) : RawReply([])
        }
      )
      let transport = try transport()
      #expect(await outcome(server.url("/x"), transport) == .completed)
      // A connection that was idle for a minute, because this test was paused, is not used again.
      var sent = 1
      repeat {
        sent += 1
        try #require(await outcome(server.url("/x"), transport) == .completed)
      } while server.requests.count == sent
      #expect(server.requests.count == sent + 1)
    }

    @Test func `a request is sent once if the server closes a new connection`() async throws {
      let server = try FaultServer()
      server.route("/x", Resource(.text("hello"), faults: .emptyReply, .emptyReply))
      let transport = try transport()
      for count in 1...2 {
        let outcome = await outcome(server.url("/x"), transport)
        #expect(outcome?.failureCode == .connectionLost, "\(String(describing: outcome))")
        #expect(server.requests.count == count)
      }
    }
  }

  private final class Counter: Sendable {
    // Held for an addition or a copy.
    private let value = Mutex(0)

    var count: Int { value.withLock { $0 } }

    @discardableResult
    func next() -> Int {
      value.withLock { value in
        value += 1
        return value
      }
    }
  }

  /// Counts the requests of a client: its HEADERS frames.
  private struct CountingConversation: TLSConversation {
    private var conversation: HTTP2Conversation
    private let requests: Counter
    private var received: [UInt8] = []
    /// The offset of the next frame; the preface has 24 bytes.
    private var next = 24

    init(_ conversation: HTTP2Conversation, _ requests: Counter) {
      self.conversation = conversation
      self.requests = requests
    }

    mutating func receive(_ bytes: [UInt8]) -> TLSAnswer {
      received += bytes
      while received.count >= next + 9 {
        let length = received[next..<next + 3].reduce(0) { $0 << 8 | Int($1) }
        guard received.count >= next + 9 + length else { break }
        if received[next + 3] == 1 { requests.next() }
        next += 9 + length
      }
      return conversation.receive(bytes)
    }
  }
#endif
