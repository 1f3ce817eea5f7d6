import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import SystemInterface
import Testing

@testable import DownloadURLSession

/// The watchdog, which ends tasks that the session would keep forever.
@Suite(.timeLimit(.minutes(10)))
struct WatchdogTests {
  @Test func `the watchdog ends a task that the session does not end`() async throws {
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

  /// Queries, during a call, whether its task is idle.
  private final class IdleQueryingSink: TaskSink {
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

  @Test func `time spent in a sink does not count as idle`() {
    let sink = IdleQueryingSink()
    let task = TaskTable().add(recordID: "r", sink: sink)
    sink.attend(task)
    // The task retains the sink.
    defer { sink.attend(nil) }
    #expect(task.receive(ResponseHead(status: 200, fields: [])))
    #expect(sink.wasIdle == false)
    #expect(!task.isIdle(after: .seconds(1), heldUp: false, limit: .seconds(1)))
    #expect(task.isIdle(after: .seconds(1), heldUp: false, limit: .seconds(1)))
    _ = task.gate.settle(.cancelled)
    #expect(!task.isIdle(after: .seconds(60), heldUp: false, limit: .seconds(1)))
  }

  @Test func `idle time counts only while the transport reads`() {
    var counter = IdleCounter()
    #expect(counter.tick(.seconds(1), heldUp: false) == .seconds(1))
    #expect(counter.tick(.seconds(5), heldUp: true) == .seconds(1))
    #expect(counter.tick(.seconds(1), heldUp: false) == .seconds(2))
    counter.sawEvent()
    #expect(counter.tick(.seconds(1), heldUp: false) == .seconds(1))
  }
}
