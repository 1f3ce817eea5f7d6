import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Broken transfers as a sink sees them.
@Suite(.timeLimit(.minutes(10)))
struct FailureTests {
  private let server: FaultServer
  private let body = Body.generated(byteCount: 3_000_000, seed: 12)

  init() throws {
    server = try FaultServer()
  }

  private func fetch(
    _ url: String? = nil,
    sink: RecordingSink,
    transport: any LimitedTransport = TransportUnderTest.make()
  ) async -> TaskOutcome? {
    let request = TaskRequest(url: url ?? server.url("/file"), recordID: "r")
    _ = transport.start(request, sink: sink)
    return await sink.outcome()
  }

  @Test(arguments: [
    (Fault.closeAfter(bytes: 100_000), DownloadFailure.Code.connectionLost, Int64(100_000)),
    (.resetAfter(bytes: 100_000), .connectionLost, 100_000),
    (.closeAfter(bytes: 0), .connectionLost, 0),
    (.emptyReply, .connectionLost, 0),
    (.rawResponse("junk\r\n\r\n"), .badResponse, 0),
  ])
  func `a broken transfer fails and keeps the received bytes`(
    _ fault: Fault,
    _ code: DownloadFailure.Code,
    _ byteCount: Int64
  ) async {
    // A request whose connection closed without a response may be sent again.
    var resource = Resource(body, faults: fault, then: .repeatLast)
    // The server ends the connection when the sink has the bytes: a reset discards those that are
    // not acknowledged, and the client of the second transport drops those that it has buffered.
    let gate = Gate()
    if byteCount == 0 { gate.open() }
    resource.endGate = gate
    server.route("/file", resource)
    let sink = RecordingSink(
      expecting: body,
      onBytes: { record in
        if record.byteCount == byteCount { gate.open() }
        return .proceed
      }
    )
    let outcome = await fetch(sink: sink)
    #expect(outcome?.failureCode == code, "\(String(describing: outcome))")
    #expect(sink.record.byteCount == byteCount)
    #expect(sink.record.isIntact && sink.record.violationCount == 0)
  }

  @Test func `a body is completed after any number of resets`() async {
    server.route("/file", Resource(body, faults: .resetEvery(bytes: 700_000)))
    let transport = TransportUnderTest.make()
    var offset: Int64 = 0
    for _ in 0..<100 where offset < body.byteCount {
      let sink = RecordingSink(expecting: body, from: offset)
      let request = TaskRequest(
        url: server.url("/file"),
        recordID: "r",
        offset: offset,
        validator: "\"1\""
      )
      _ = transport.start(request, sink: sink)
      let outcome = await sink.outcome()
      #expect(outcome == .completed || outcome?.failureCode == .connectionLost)
      #expect(sink.record.isIntact)
      offset += sink.record.byteCount
    }
    #expect(offset == body.byteCount)
    #expect(server.requests.count >= 5)
  }

  @Test func `a connection that the server closed after a response is not used again`() async {
    let reply = Fault.rawResponse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    server.route("/file", Resource(.text(""), faults: reply, then: .repeatLast))
    let transport = TransportUnderTest.make()
    for _ in 0..<50 {
      let sink = RecordingSink(expecting: .text("ok"))
      #expect(await fetch(sink: sink, transport: transport) == .completed)
      #expect(sink.record.byteCount == 2 && sink.record.isIntact)
    }
  }

  @Test func `a truncated chunked body fails`() async {
    var resource = Resource(body, faults: .closeAfter(bytes: 200_000))
    resource.framing = .chunked
    server.route("/file", resource)
    let sink = RecordingSink(expecting: body)
    #expect(await fetch(sink: sink)?.failureCode == .connectionLost)
    // The client of the second transport drops buffered bytes when the connection breaks.
    if TransportUnderTest.isURLSession {
      #expect(sink.record.byteCount == 200_000)
    } else {
      #expect(sink.record.byteCount <= 200_000)
    }
  }

  @Test func `a closed port gives cannotConnect`() async throws {
    let closed = try ClosedPort()
    let outcome = await fetch(closed.url("/file"), sink: RecordingSink())
    #expect(outcome?.failureCode == .cannotConnect)
  }

  @Test func `an unknown host gives cannotFindHost`() async {
    let outcome = await fetch("http://nonexistent.invalid/", sink: RecordingSink())
    #expect(outcome?.failureCode == .cannotFindHost, "\(String(describing: outcome))")
  }

  @Test(arguments: [
    "", "not a url", "/path", "file:///etc/passwd", "ftp://127.0.0.1/x", "http://", "http:///x",
    "http:x", "https://:80/",
  ])
  func `a URL that is not http fails the task through its sink`(_ url: String) async {
    let sink = RecordingSink()
    #expect(await fetch(url, sink: sink)?.failureCode == .unsupportedURL)
    #expect(sink.record.heads.isEmpty && sink.record.violationCount == 0)
  }

  @Test(arguments: [
    HeaderField(name: "X", value: "a\r\nRange: bytes=5-"), HeaderField(name: "X", value: "a\n b"),
    HeaderField(name: "X: a", value: "b"), HeaderField(name: "", value: "b"),
  ])
  func `a header field that contains a line break is not sent`(_ field: HeaderField) async {
    let sink = RecordingSink()
    let request = TaskRequest(url: server.url("/file"), recordID: "r", headers: [field])
    let transport = TransportUnderTest.make()
    _ = transport.start(request, sink: sink)
    #expect(await sink.outcome()?.failureCode == .unknown)
    #expect(server.requests.isEmpty)
  }

  @Test(arguments: [Fault.stallAfter(bytes: 50_000), .stallBeforeHeader])
  func `a server that stops sending causes a time-out`(_ fault: Fault) async {
    server.route("/file", Resource(body, faults: fault))
    let sink = RecordingSink(expecting: body)
    let transport = TransportUnderTest.make(idleTimeout: .seconds(1))
    #expect(await fetch(sink: sink, transport: transport)?.failureCode == .timedOut)
    #expect(sink.record.outcomes.count == 1)
    #expect(await transport.liveTasks().isEmpty)
  }
}
