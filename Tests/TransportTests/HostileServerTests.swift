import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import TestSupport
import Testing

/// Servers that send malformed or endless responses.
///
/// Serialized: a flood occupies much of the single thread that URLSession has on Linux.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct HostileServerTests {
  private let server: FaultServer

  init() throws {
    server = try FaultServer()
    server.route("/good", Resource(.text("good")))
  }

  /// Returns the outcome of a task whose server has the given fault, and checks that the transport
  /// still works.
  private func outcome(
    _ fault: Fault,
    sink: RecordingSink,
    idleTimeout: Duration = .seconds(300)
  ) async -> TaskOutcome? {
    let transport = TransportUnderTest.make(idleTimeout: idleTimeout)
    server.route("/file", Resource(.text("x"), faults: fault, then: .repeatLast))
    _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
    let outcome = await sink.outcome()
    await expectTransfer(over: transport)
    #expect(sink.record.violationCount == 0 && sink.record.outcomes.count == 1)
    return outcome
  }

  /// Checks that the transport transfers a file.
  ///
  /// Its time limit may be short, and a busy machine slow: one transfer suffices, however many time
  /// out.
  private func expectTransfer(over transport: any LimitedTransport) async {
    var outcomes: [TaskOutcome?] = []
    let deadline = ContinuousClock.now.advanced(by: hangLimit)
    while outcomes.last != .completed, ContinuousClock.now < deadline {
      let sink = RecordingSink(expecting: .text("good"))
      _ = transport.start(TaskRequest(url: server.url("/good"), recordID: "g"), sink: sink)
      outcomes.append(await sink.outcome())
      #expect(outcomes.last != .completed || sink.record.byteCount == 4)
      #expect(sink.record.isIntact)
    }
    #expect(outcomes.last == .completed, "\(outcomes.suffix(10))")
  }

  @Test(arguments: [
    Fault.rawForEver("HTTP/1.1 200 OK\r\n", repeating: "X-Filler: aaaaaaaaaaaaaaaaaaaa\r\n"),
    .rawForEver("HTTP/1.1 200 OK\r\nX-Filler: ", repeating: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
  ])
  func `an endless header is cut off`(_ fault: Fault) async {
    let sink = RecordingSink()
    let outcome = await outcome(fault, sink: sink)
    #expect(outcome?.failureCode == .badResponse, "\(String(describing: outcome))")
    #expect(sink.record.heads.isEmpty)
  }

  @Test(arguments: [
    Fault.rawForEver("HTTP/1.1 200 OK\r\n", repeating: "X-A: b\r\n", everyMilliseconds: 100),
    .rawForEver("HTTP/1.1 200 OK\r\nX-A: ", repeating: "a", everyMilliseconds: 100),
    .rawForEver("", repeating: "HTTP/1.1 102 Processing\r\n\r\n", everyMilliseconds: 100),
    .rawForEver("", repeating: "HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", everyMilliseconds: 100),
  ])
  func `a header sent byte by byte times out`(_ fault: Fault) async {
    let sink = RecordingSink()
    let outcome = await outcome(fault, sink: sink, idleTimeout: .seconds(2))
    #expect(outcome?.failureCode == .timedOut, "\(String(describing: outcome))")
    #expect(sink.record.heads.isEmpty)
  }

  @Test(arguments: [
    "", "hello", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", "HTTP/1.1 abc OK\r\n\r\n",
    "HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nno", "HTTP/1.1 099 OK\r\n\r\nno",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nno",
    "\u{15}\u{3}\u{1}\u{0}\u{2}\u{2}(", "SSH-2.0-OpenSSH_9.2\r\n", "220 ftp ready\r\n",
  ])
  func `a response that is not HTTP fails`(_ text: String) async {
    let sink = RecordingSink()
    let outcome = await outcome(.rawResponse(text), sink: sink)
    #expect(outcome?.failureCode != nil, "\(String(describing: outcome))")
    #expect(sink.record.heads.isEmpty)
  }

  @Test(arguments: [
    "zz\r\nhello\r\n0\r\n\r\n", "ffffffffffffffffff\r\nhello\r\n0\r\n\r\n", "5\r\nhel",
    "5\r\nhello\r\n",
  ])
  func `a malformed chunked body fails`(_ chunks: String) async {
    let sink = RecordingSink()
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let outcome = await outcome(.rawResponse(head + chunks), sink: sink)
    #expect(outcome?.failureCode != nil, "\(String(describing: outcome))")
  }

  @Test(
    .enabled(if: !TransportUnderTest.isURLSession, "URLSession reports a redirect only at its end"),
    arguments: [301, 302, 303, 307, 308]
  )
  func `a transport does not wait for the body of a redirect`(_ status: Int) async {
    let head = "HTTP/1.1 \(status) Moved\r\nLocation: /good\r\n\r\n"
    let sink = RecordingSink(expecting: .text("good"))
    let outcome = await outcome(.rawForEver(head, repeating: "moved "), sink: sink)
    #expect(outcome == .completed)
    #expect(sink.status == 200 && sink.record.byteCount == 4 && sink.record.isIntact)
  }

  @Test(arguments: [404, 500]) func `a sink can end an endless error page`(
    _ status: Int
  ) async {
    let sink = RecordingSink(onHead: { _ in .cancel })
    let head = "HTTP/1.1 \(status) No\r\n\r\n"
    #expect(await outcome(.rawForEver(head, repeating: "no "), sink: sink) == .cancelled)
    #expect(sink.status == status && sink.record.byteCount == 0)
  }
}
