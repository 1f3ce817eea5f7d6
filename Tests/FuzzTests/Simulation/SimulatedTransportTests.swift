import DownloadSimulation
import DownloadStore
import DownloadSync
import SystemInterface
import Testing

/// The simulated transport, as a sink sees it.
@Suite struct SimulatedTransportTests {
  /// Records the calls that it receives.
  private final class Sink: TaskSink {
    struct Received: Sendable, Equatable {
      var statuses: [Int] = []
      var bytes: [UInt8] = []
      var outcomes: [TaskOutcome] = []
    }

    private let state = Mutex(Received())
    private let limit: Int

    /// - Parameter limit: The number of bytes that it accepts.
    init(limit: Int = .max) {
      self.limit = limit
    }

    var received: Received { state.withLock { $0 } }

    func receive(_ head: ResponseHead) -> BodyDisposition {
      state.withLock { $0.statuses.append(head.status) }
      return .proceed
    }

    func receive(_ bytes: Span<UInt8>) -> BodyDisposition {
      state.withLock { received in
        for index in bytes.indices { received.bytes.append(bytes[index]) }
        return received.bytes.count < limit ? .proceed : .cancel
      }
    }

    func finish(_ outcome: TaskOutcome) {
      state.withLock { $0.outcomes.append(outcome) }
    }
  }

  private let url = "https://example.com/a"
  private let body = SimulatedBody(seed: 5, byteCount: 1_000)
  private let transport = SimulatedTransport(pace: .byHand)

  init() {
    transport.serve(SimulatedResource(body, entityTag: "\"1\""), at: url)
  }

  private func request(_ offset: Int64 = 0, _ validator: String? = nil) -> TaskRequest {
    TaskRequest(url: url, recordID: "r", offset: offset, validator: validator)
  }

  /// Runs a task until it ends, and returns what its sink received.
  private func received(_ request: TaskRequest) -> Sink.Received {
    let sink = Sink()
    let task = transport.start(request, sink: sink)
    while transport.advance(task, atMost: 300) {}
    return sink.received
  }

  @Test func `a body has the same bytes whatever the offset`() {
    let whole = body[0..<1_000]
    #expect(body[13..<777] == Array(whole[13..<777]))
    #expect(body.matches(whole[5..<9], from: 5))
    #expect(!body.matches(whole, from: 1))
    #expect(SimulatedBody(seed: 6, byteCount: 1_000)[0..<1_000] != whole)
  }

  @Test func `whole and partial responses follow RFC 9110`() {
    let whole = received(request())
    #expect(whole == Sink.Received(statuses: [200], bytes: body[0..<1_000], outcomes: [.completed]))
    #expect(received(request(400, "\"1\"")).bytes == body[400..<1_000])
    #expect(received(request(400, "\"1\"")).statuses == [206])
    #expect(received(request(400, "\"2\"")).statuses == [200])
    #expect(received(request(1_000, "\"1\"")).statuses == [416])
    transport.serve(nil, at: url)
    #expect(received(request()).statuses == [404])
  }

  @Test func `a task fails once at the injected interruption`() {
    let lost = DownloadFailure(.connectionLost, "lost")
    transport.interrupt(url, afterBytes: 250, with: lost)
    transport.interrupt(url, afterBytes: -1, with: lost)
    #expect(received(request()).bytes == body[0..<250])
    #expect(received(request()) == Sink.Received(outcomes: [.failed(lost)]))
    #expect(received(request()).outcomes == [.completed])
  }

  @Test func `a cancelled task ends once, optionally after bytes that were in flight`() {
    let sink = Sink()
    let task = transport.start(request(), sink: sink)
    transport.advance(task)
    transport.cancel(task)
    #expect(transport.advance(task, atMost: 10, heedsCancel: false))
    #expect(!transport.advance(task))
    #expect(!transport.advance(task))
    #expect(
      sink.received == Sink.Received(statuses: [200], bytes: body[0..<10], outcomes: [.cancelled])
    )
  }

  @Test func `a sink that cancels receives no more bytes`() {
    let sink = Sink(limit: 20)
    let task = transport.start(request(), sink: sink)
    while transport.advance(task, atMost: 20, heedsCancel: false) {}
    #expect(sink.received.bytes.count == 20)
    #expect(sink.received.outcomes == [.cancelled])
  }

  @Test func `a crash detaches the sink from a task that continues`() async {
    let sink = Sink()
    let task = transport.start(request(), sink: sink)
    transport.crash(keepsTasks: true)
    #expect(await transport.liveTasks().map(\.recordID) == ["r"])
    while transport.advance(task) {}
    #expect(await transport.liveTasks().isEmpty)
    #expect(sink.received == Sink.Received())
  }

  @Test func `a task with the pace atOnce runs to its end by itself`() async throws {
    let transport = SimulatedTransport()
    transport.serve(SimulatedResource(body), at: url)
    let sink = Sink()
    _ = transport.start(request(), sink: sink)
    while sink.received.outcomes.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    #expect(sink.received.bytes == body[0..<1_000])
    #expect(transport.tasks.isEmpty)
  }
}
