import DownloadSync
import FaultServer
import Testing
import TransportTesting

@testable import URLSessionTransport

/// What ends a task that the session itself would keep for ever.
@Suite(.timeLimit(.minutes(2)))
struct WatchdogTests {
  @Test func `the watchdog ends what the session has forgotten`() async throws {
    let server = try FaultServer()
    let body = Body.generated(byteCount: 3_000_000, seed: 12)
    server.route("/file", Resource(body, faults: .stallAfter(bytes: 50_000)))
    let sink = RecordingSink(expecting: body)
    let transport = URLSessionTransport(
      idleTimeout: .seconds(1),
      connectionsPerHost: 4,
      bytesPerSecond: nil,
      sessionTimeout: .seconds(10_000),
      hangLimit: .seconds(10_000),
      onHang: {}
    )
    _ = transport.start(TaskRequest(url: server.url("/file"), recordID: "r"), sink: sink)
    #expect(await sink.outcome()?.failureCode == .timedOut)
    #expect(sink.record.isIntact && sink.record.violationCount == 0)
  }

  @Test func `silence counts only while the transport listens`() {
    var counter = IdleCounter()
    #expect(counter.tick(.seconds(1), heldUp: false) == .seconds(1))
    #expect(counter.tick(.seconds(5), heldUp: true) == .seconds(1))
    #expect(counter.tick(.seconds(1), heldUp: false) == .seconds(2))
    counter.sawEvent()
    #expect(counter.tick(.seconds(1), heldUp: false) == .seconds(1))
  }
}
