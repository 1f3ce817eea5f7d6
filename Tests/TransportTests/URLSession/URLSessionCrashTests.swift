import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import SystemInterface
import TestSupport
import Testing

@testable import DownloadURLSession

/// Responses that URLSession on Linux does not survive or parse.
///
/// These are facts about the platform; a test fails when one of them changes.
@Suite(.timeLimit(.minutes(10)))
struct URLSessionCrashTests {
  #if os(Linux)
    /// Creates a transport that does not time out while the server is slow to answer.
    private static func patientTransport() -> URLSessionTransport {
      URLSessionTransport(idleTimeout: hangLimit)
    }

    /// Requests a file whose server sends these bytes, and returns when the task has ended.
    private static func receive(_ reply: String) async throws {
      let server = try FaultServer()
      server.route("/file", Resource(.text("x"), faults: .rawResponse(reply)))
      let sink = RecordingSink()
      let transport = patientTransport()
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
      _ = await sink.outcome()
    }

    /// The session traps when the connection ends inside a response header
    /// (swift-corelibs-foundation issue 5285).
    @Test func `a truncated header ends the process`() async {
      await #expect(processExitsWith: .failure) {
        let server = try FaultServer()
        server.route("/file", Resource(.text("x"), faults: .closeInsideHeader, then: .repeatLast))
        let sink = RecordingSink()
        let transport = URLSessionCrashTests.patientTransport()
        _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
        _ = await sink.outcome()
        exit(0)
      }
    }

    /// The same happens for a chunked body with a trailer field, which is legal HTTP.
    @Test func `a trailer field ends the process`() async {
      await #expect(processExitsWith: .failure) {
        let reply =
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: 1\r\n\r\n"
        try await URLSessionCrashTests.receive(reply)
        exit(0)
      }
    }

    /// The session computes progress as `Double`, which rounds these lengths to 2^63, and traps
    /// when it converts that to an integer.
    @Test(arguments: ["+9223372036854775807", "9223372036854775807", "9223372036854775296"])
    func `a length near the largest integer ends the process`(_ length: String) async {
      await #expect(processExitsWith: .failure) { [length = length as String] in
        let reply = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello"
        try await URLSessionCrashTests.receive(reply)
        exit(0)
      }
    }

    @Test func `a header line that begins with NUL ends the process`() async {
      await #expect(processExitsWith: .failure) {
        let reply = "HTTP/1.1 200 OK\r\n\0\r\nContent-Length: 5\r\n\r\nhello"
        try await URLSessionCrashTests.receive(reply)
        exit(0)
      }
    }

    /// The session sets the decoded host of a location without a scheme in the URL of the request,
    /// and traps if the result is not a URL, before its delegate knows of the redirect.
    @Test(arguments: ["//a%20b/", "//%2f", "//z%00/", "//127.%\u{6587}01:6"])
    func `a location without a scheme, whose host is not valid, ends the process`(
      _ location: String
    ) async {
      await #expect(processExitsWith: .failure) { [location = location as String] in
        let reply = "HTTP/1.1 302 F\r\nContent-Length: 0\r\nLocation: \(location)\r\n\r\n"
        try await URLSessionCrashTests.receive(reply)
        exit(0)
      }
    }

    @Test func `a slightly smaller length does not end the process`() async throws {
      let server = try FaultServer()
      let reply = "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854774784\r\n\r\nhello"
      server.route("/file", Resource(.text("x"), faults: .rawResponse(reply)))
      let sink = RecordingSink()
      let transport = Self.patientTransport()
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
      #expect(await sink.outcome()?.failureCode == .connectionLost)
    }

    /// Header fields in other forms than FoundationNetworking expects fail, legal or not (issue
    /// 4965).
    @Test(arguments: ["A:b", "A:   ", "A : b"])
    func `a field with unusual white space is not parsed`(_ field: String) async throws {
      let server = try FaultServer()
      let reply = "HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: 0\r\n\r\n"
      server.route("/file", Resource(.text("x"), faults: .rawResponse(reply)))
      let sink = RecordingSink()
      let transport = Self.patientTransport()
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
      #expect(await sink.outcome()?.failureCode == .badResponse)
    }

    /// libcurl reads these forever without reporting anything, on the queue that all sessions of a
    /// process share.
    @Test(arguments: [("5\r\nhello\r\n0\r\n", "X-A: b\r\n"), ("5;", "abcdefgh")])
    func `a flood without a body hangs every session, and the hang is detected`(
      _ body: String,
      _ flood: String
    ) async {
      await #expect(processExitsWith: .exitCode(7)) {
        [body = body as String, flood = flood as String] in
        let server = try FaultServer()
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let fault = Fault.rawForEver(head + body, repeating: flood)
        server.route("/wild", Resource(.text("x"), faults: fault, then: .repeatLast))
        let transport = URLSessionTransport(
          idleTimeout: .seconds(600),
          connectionsPerHost: 4,
          bytesPerSecond: nil,
          sessionTimeout: .seconds(600),
          hangLimit: .seconds(2),
          // Exit handlers wait for the session, too.
          onHang: { _exit(7) }
        )
        let sink = RecordingSink()
        _ = transport.start(TaskRequest(url: server.url("/wild"), recordID: "r"), sink: sink)
        _ = await sink.outcome()
        exit(0)
      }
    }
  #endif

  @Test func `a session that waits for its sinks does not count as hung`() async throws {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 4_000_000, seed: 16)
    server.route("/file", Resource(body))
    // When the sink received bytes last, and how long ago that was when the session was found hung.
    let last = Mutex(ContinuousClock.now)
    let hangs = Mutex<[Duration]>([])
    // 16 seconds for the body, and eight to respond.
    let transport = URLSessionTransport(
      idleTimeout: .seconds(600),
      connectionsPerHost: 4,
      bytesPerSecond: 250_000,
      sessionTimeout: .seconds(600),
      hangLimit: .seconds(8),
      onHang: {
        let time = last.withLock { $0 }.duration(to: .now)
        hangs.withLock { $0.append(time) }
      }
    )
    let sink = RecordingSink(
      expecting: body,
      onBytes: { _ in
        last.withLock { $0 = .now }
        return .proceed
      }
    )
    _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
    #expect(await sink.outcome() == .completed)
    #expect(sink.record.isIntact)
    // The sink receives bytes 15 times per second. If a busy machine stops the thread of the
    // session for longer than the limit, the sink receives what was read before: bytes for four
    // seconds.
    #expect(hangs.withLock { $0.filter { $0 < .seconds(2) } } == [])
  }
}
