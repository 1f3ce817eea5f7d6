import DownloadSync
import EngineTestSupport
import FaultServer
import SystemInterface
import TestSupport
import TestTraits
import Testing

/// Tasks that the caller or the sink cancels.
@Suite(.timeLimit(.minutes(10)))
struct CancelTests {
  private let server: FaultServer
  private let transport = TransportUnderTest.make()
  private let body = Body.generated(byteCount: 20_000_000, seed: 14)

  init() throws {
    server = try FaultServer()
    server.route("/file", Resource(body))
    server.route("/small", Resource(.generated(byteCount: 40_000)))
    server.route("/stall", Resource(body, faults: .stallAfter(bytes: 10_000), then: .repeatLast))
  }

  private func request(_ path: String, _ recordID: String = "r") -> TaskRequest {
    TaskRequest(url: server.url(path), recordID: recordID)
  }

  /// Waits until everything queued in the session before has been delivered.
  private func fence() async {
    let sink = RecordingSink()
    _ = transport.start(request("/small"), sink: sink)
    #expect(await sink.outcome() == .completed)
  }

  @Test func `a sink that cancels at the first chunk receives only the end after it`() async {
    let sink = RecordingSink(expecting: body, onBytes: { _ in .cancel })
    _ = transport.start(request("/file"), sink: sink)
    #expect(await sink.outcome() == .cancelled)
    await fence()
    let record = sink.record
    #expect(record.chunkCount == 1)
    #expect(record.outcomes == [.cancelled])
    #expect(record.violationCount == 0)
  }

  @Test func `a sink that cancels at the response head receives no body`() async {
    let sink = RecordingSink(onHead: { _ in .cancel })
    _ = transport.start(request("/file"), sink: sink)
    #expect(await sink.outcome() == .cancelled)
    await fence()
    #expect(sink.record.chunkCount == 0)
    #expect(sink.record.violationCount == 0)
  }

  @Test func `cancelling ends a task that waits for its server`() async {
    let sink = RecordingSink(expecting: body)
    let id = transport.start(request("/stall", "record 7"), sink: sink)
    await sink.hasBytes()
    let live = await transport.liveTasks()
    #expect(live.map(\.id) == [id])
    #expect(live.map(\.recordID) == ["record 7"])
    #expect(live.allSatisfy { $0.bytesReceived <= 10_000 })
    transport.cancel(id)
    #expect(await sink.outcome() == .cancelled)
    #expect(await transport.liveTasks().isEmpty)
    transport.cancel(id)
    await fence()
    #expect(sink.record.outcomes == [.cancelled])
  }

  @Test func `live tasks are listed in the order of their start`() async {
    let sinks = (0..<5).map { _ in RecordingSink() }
    let ids = sinks.enumerated().map { index, sink in
      transport.start(request("/stall", "\(index)"), sink: sink)
    }
    for sink in sinks { await sink.hasBytes() }
    #expect(await transport.liveTasks().map(\.recordID) == ["0", "1", "2", "3", "4"])
    #expect(Set(ids).count == 5)
    for id in ids { transport.cancel(id) }
    for sink in sinks { #expect(await sink.outcome() == .cancelled) }
  }

  @Test func `two hundred racing starts and cancels each end once`() async {
    await withTaskGroup { group in
      for index in 0..<200 {
        group.addTask {
          let sink = RecordingSink()
          let path = index.isMultiple(of: 2) ? "/small" : "/file"
          let id = transport.start(request(path, "\(index)"), sink: sink)
          if index.isMultiple(of: 5) { await sink.hasBytes() }
          for _ in 0..<(index % 40) { await Task.yield() }
          transport.cancel(id)
          let outcome = await sink.outcome()
          #expect(outcome == .cancelled || outcome == .completed)
          #expect(sink.record.violationCount == 0)
        }
      }
    }
    await fence()
    #expect(await transport.liveTasks().isEmpty)
  }

  @Test func `a sink can start and cancel tasks`() async {
    let (ends, end) = AsyncStream<TaskOutcome>.makeStream()
    let transport = transport
    let server = server
    // A body that does not end before the task is cancelled, however late its id is known. Without a
    // rate, it would occupy the session's thread, which all tests share, until then.
    var endless = Resource(.generated(byteCount: 1 << 50))
    endless.bytesPerSecond = 1_000_000
    server.route("/endless", endless)
    @Sendable func next(_ remaining: Int) {
      let id = Mutex<TaskID?>(nil)
      let sink = RecordingSink(
        onFinish: { outcome in
          if remaining == 0 { end.yield(outcome) } else { next(remaining - 1) }
        },
        onBytes: { _ in
          if let id = id.withLock({ $0 }) { transport.cancel(id) }
          return .proceed
        }
      )
      let started = transport.start(
        TaskRequest(url: server.url("/endless"), recordID: "\(remaining)"),
        sink: sink
      )
      id.withLock { $0 = started }
    }
    next(50)
    #expect(await ends.first { _ in true } == .cancelled)
  }

  @Test(.requirements("ZF18")) func `releasing the transport cancels its tasks`() async {
    let sink = RecordingSink()
    var transport: (any LimitedTransport)? = TransportUnderTest.make()
    _ = transport?.start(request("/stall"), sink: sink)
    await sink.hasBytes()
    transport = nil
    #expect(await sink.outcome() == .cancelled)
    #expect(sink.record.violationCount == 0)
  }

  @Test(.requirements("ZF18"))
  func `all downloads share one session, which is released with its transport`() async throws {
    let server = try FaultServer()
    server.route("/small", Resource(.text("small")))
    var transport: (any LimitedTransport)? = TransportUnderTest.make()
    // Clients close connections that were idle for a minute. None was if less time has passed since
    // the request before.
    let shortest = Duration.seconds(60)
    var (started, pauses) = (ContinuousClock.now, 0)
    for index in 0..<30 {
      let last = started
      started = .now
      let sink = RecordingSink(expecting: .text("small"))
      let request = TaskRequest(url: server.url("/small"), recordID: "\(index)")
      _ = transport?.start(request, sink: sink)
      #expect(await sink.outcome() == .completed)
      if last.duration(to: .now) >= shortest { pauses += 1 }
    }
    // A second session would open a second connection.
    #expect(Set(server.requests.map(\.connection)).count <= 1 + pauses)
    let openCount = server.openConnectionCount
    #expect(openCount == 1 || started.duration(to: .now) >= shortest || pauses > 0)
    transport = nil
    // A session that still exists keeps its idle connection.
    let deadline = ContinuousClock.now.advanced(by: hangLimit)
    while server.openConnectionCount > 0, ContinuousClock.now < deadline {
      try await Task.sleep(for: .milliseconds(5))
    }
    #expect(server.openConnectionCount == 0)
  }
}
