import DownloadSync
import FaultServer
import Synchronization
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

  /// Asks its task, while it is called, whether it is idle.
  private final class AskingSink: TaskSink {
    private let answer = Mutex<Bool?>(nil)
    private let task = Mutex<LiveTask?>(nil)
    var wasIdle: Bool? { answer.withLock { $0 } }

    func attend(_ task: LiveTask?) {
      self.task.withLock { $0 = task }
    }

    func receive(_ head: ResponseHead) -> BodyDisposition {
      let task = task.withLock { $0 }
      let isIdle = task?.isIdle(after: .seconds(60), heldUp: false, limit: .seconds(1))
      answer.withLock { $0 = isIdle }
      return .proceed
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDisposition { .proceed }
    func finish(_ outcome: TaskOutcome) {}
  }

  @Test func `the time that a sink takes is not the server's silence`() {
    let sink = AskingSink()
    let task = TaskTable().add(recordID: "r", sink: sink)
    sink.attend(task)
    // The task has the sink.
    defer { sink.attend(nil) }
    #expect(task.receive(ResponseHead(status: 200, fields: [])))
    #expect(sink.wasIdle == false)
    #expect(!task.isIdle(after: .seconds(1), heldUp: false, limit: .seconds(1)))
    #expect(task.isIdle(after: .seconds(1), heldUp: false, limit: .seconds(1)))
    _ = task.gate.settle(.cancelled)
    #expect(!task.isIdle(after: .seconds(60), heldUp: false, limit: .seconds(1)))
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
