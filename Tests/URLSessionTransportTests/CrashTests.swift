import DownloadSync
import FaultServer
import Foundation
import Synchronization
import Testing
import TransportTesting

@testable import URLSessionTransport

/// What URLSession on Linux does not survive, or does not understand: facts about the platform, kept
/// here so that we notice when they are gone.
@Suite(.timeLimit(.minutes(2)))
struct CrashTests {
  #if os(Linux)
    /// A fact about the platform, kept here so that we notice when it is gone: the session traps
    /// when the connection ends inside a response header (swift-corelibs-foundation issue 5285).
    @Test func `a header that is cut short ends the process`() async {
      await #expect(processExitsWith: .failure) {
        let server = try FaultServer()
        server.route("/file", Resource(.text("x"), faults: .closeInsideHeader, then: .repeatLast))
        let sink = RecordingSink()
        let transport = URLSessionTransport()
        _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
        _ = await sink.outcome()
        exit(0)
      }
    }

    /// The same for a chunked body with a trailer field, which is legal HTTP.
    @Test func `a trailer ends the process`() async {
      await #expect(processExitsWith: .failure) {
        let server = try FaultServer()
        let reply =
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: 1\r\n\r\n"
        server.route("/file", Resource(.text("x"), faults: .rawResponse(reply)))
        let sink = RecordingSink()
        let transport = URLSessionTransport()
        _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
        _ = await sink.outcome()
        exit(0)
      }
    }

    /// The session computes progress in `Double`, in which these lengths are 2^63, and traps when it
    /// makes an integer of that.
    @Test(arguments: ["9223372036854775807", "9223372036854775296"])
    func `a length near the largest integer ends the process`(_ length: String) async {
      await #expect(processExitsWith: .failure) { [length = length as String] in
        let server = try FaultServer()
        let reply = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello"
        server.route("/file", Resource(.text("x"), faults: .rawResponse(reply)))
        let sink = RecordingSink()
        let transport = URLSessionTransport()
        _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
        _ = await sink.outcome()
        exit(0)
      }
    }

    @Test func `a line of a header that begins with NUL ends the process`() async {
      await #expect(processExitsWith: .failure) {
        let server = try FaultServer()
        let reply = "HTTP/1.1 200 OK\r\n\0\r\nContent-Length: 5\r\n\r\nhello"
        server.route("/file", Resource(.text("x"), faults: .rawResponse(reply)))
        let sink = RecordingSink()
        let transport = URLSessionTransport()
        _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
        _ = await sink.outcome()
        exit(0)
      }
    }

    @Test func `a length just below those is survived`() async throws {
      let server = try FaultServer()
      let reply = "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854774784\r\n\r\nhello"
      server.route("/file", Resource(.text("x"), faults: .rawResponse(reply)))
      let sink = RecordingSink()
      let transport = URLSessionTransport()
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
      #expect(await sink.outcome()?.failureCode == .connectionLost)
    }

    /// What is not as FoundationNetworking wants it fails, legal or not (issue 4965).
    @Test(arguments: ["A:b", "A:   ", "A : b"])
    func `a field with other blanks than usual is not understood`(_ field: String) async throws {
      let server = try FaultServer()
      let reply = "HTTP/1.1 200 OK\r\n\(field)\r\nContent-Length: 0\r\n\r\n"
      server.route("/file", Resource(.text("x"), faults: .rawResponse(reply)))
      let sink = RecordingSink()
      let transport = URLSessionTransport()
      _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
      #expect(await sink.outcome()?.failureCode == .badResponse)
    }

    /// libcurl reads these without ever reporting something, on the one queue that all sessions of a
    /// process have.
    @Test(arguments: [("5\r\nhello\r\n0\r\n", "X-A: b\r\n"), ("5;", "abcdefgh")])
    func `a flood that is no body hangs every session, and that is noticed`(
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
          // What is to be done at an exit waits for the session too.
          onHang: { _exit(7) }
        )
        let sink = RecordingSink()
        _ = transport.start(TaskRequest(url: server.url("/wild"), recordID: "r"), sink: sink)
        _ = await sink.outcome()
        exit(0)
      }
    }
  #endif

  @Test func `a session that waits for its sinks does not hang`() async throws {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 4_000_000, seed: 16)
    server.route("/file", Resource(body))
    let hangs = Mutex(0)
    // Four seconds for the body, and two to answer in.
    let transport = URLSessionTransport(
      idleTimeout: .seconds(600),
      connectionsPerHost: 4,
      bytesPerSecond: 1_000_000,
      sessionTimeout: .seconds(600),
      hangLimit: .seconds(2),
      onHang: { hangs.withLock { $0 += 1 } }
    )
    let sink = RecordingSink(expecting: body)
    _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
    #expect(await sink.outcome() == .completed)
    #expect(sink.record.isIntact && hangs.withLock { $0 } == 0)
  }
}
