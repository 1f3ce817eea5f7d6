import DownloadStore
import SystemInterface
import Testing

@testable import DownloadSync

@Suite struct SinkGateTests {
  /// Records its calls, and runs a closure during each.
  private final class RecordingSink: TaskSink {
    let calls = Mutex<[String]>([])
    let answer: BodyDisposition
    let during: Mutex<@Sendable () -> Void> = Mutex({})

    init(_ answer: BodyDisposition = .proceed) {
      self.answer = answer
    }

    func receive(_ head: ResponseHead) -> BodyDisposition { record("head") }
    func receive(_ bytes: Span<UInt8>) -> BodyDisposition { record("bytes") }
    func finish(_ outcome: TaskOutcome) { _ = record("\(outcome)") }

    private func record(_ call: String) -> BodyDisposition {
      calls.withLock { $0.append(call) }
      during.withLock { $0 }()
      return answer
    }
  }

  private let head = ResponseHead(status: 200, fields: [])

  private func gate(_ sink: RecordingSink) -> SinkGate {
    SinkGate(id: TaskID(rawValue: 7), recordID: "r", sink: sink, onFinish: { _ in })
  }

  private func give(_ bytes: [UInt8], to gate: SinkGate) -> Bool {
    gate.receive(bytes.span)
  }

  @Test func `a sink receives the end once and nothing after it`() {
    let sink = RecordingSink()
    let gate = gate(sink)
    #expect(gate.receive(head))
    #expect(give([1, 2, 3], to: gate))
    #expect(gate.snapshot == TaskSnapshot(id: TaskID(rawValue: 7), recordID: "r", bytesReceived: 3))
    #expect(gate.settle(.completed))
    gate.finish()
    #expect(!gate.settle(.cancelled))
    #expect(!give([4], to: gate))
    #expect(!gate.receive(head))
    #expect(sink.calls.withLock { $0 } == ["head", "bytes", "completed"])
    #expect(gate.snapshot.bytesReceived == 3)
  }

  @Test func `a sink that cancels ends the task`() {
    let sink = RecordingSink(.cancel)
    let gate = gate(sink)
    #expect(!gate.receive(head))
    #expect(gate.hasHead && gate.hasEnded)
    #expect(!gate.settle(.completed))
    #expect(sink.calls.withLock { $0 } == ["head", "cancelled"])
  }

  @Test func `an end that arrives during a sink call is delivered after the call`() {
    let sink = RecordingSink()
    let gate = gate(sink)
    let failure = DownloadFailure(.timedOut, "late")
    sink.during.withLock {
      $0 = {
        guard gate.isInSink, !gate.hasEnded else { return }
        #expect(!gate.settle(.failed(failure)), "the thread in the sink delivers the end")
        #expect(!gate.settle(.cancelled))
      }
    }
    #expect(!give([1], to: gate))
    #expect(sink.calls.withLock { $0 } == ["bytes", "\(TaskOutcome.failed(failure))"])
    #expect(!gate.isInSink)
  }

  @Test func `a task is removed before its sink receives the end`() {
    let order = Mutex<[String]>([])
    let sink = RecordingSink()
    sink.during.withLock { $0 = { order.withLock { $0.append("sink") } } }
    let gate = SinkGate(id: TaskID(rawValue: 1), recordID: "r", sink: sink) { id in
      order.withLock { $0.append("forgotten \(id.rawValue)") }
    }
    _ = gate.settle(.cancelled)
    gate.finish()
    #expect(order.withLock { $0 } == ["forgotten 1", "sink"])
  }
}
