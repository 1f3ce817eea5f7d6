import DownloadStore
import RecordTestSupport
import TestSupport
import Testing

@testable import DownloadMetrics
@testable import DownloadServer

@Suite struct MetricsTests {
  private let folder: TemporaryFolder
  private let store: RecordStore

  init() throws {
    folder = try TemporaryFolder()
    store = try RecordStore(at: folder.path("store"))
  }

  @Test func `the text has a line for each value, and none for a metric without values`() {
    let metrics = [
      Metric("a", "One value.", 1), Metric("b", "None.", by: "code", [] as [(String, Int)]),
      Metric("c", kind: .counter, "A count.", UInt64.max),
      Metric("d", "Two values.", by: "code", [("x\"\\\n", 2), ("\"\u{301}\r\n", -3)]),
    ]
    let text = """
      # HELP a One value.
      # TYPE a gauge
      a 1
      # HELP c A count.
      # TYPE c counter
      c 9223372036854775807
      # HELP d Two values.
      # TYPE d gauge
      d{code="x\\"\\\\\\n"} 2
      d{code="\\"\u{301}\r\\n"} -3

      """
    #expect(MetricsText.text(of: metrics) == text)
  }

  @Test func `the metrics have the counts and the bytes of each state`() throws {
    var paused = DownloadRequest(url: "http://h.example/b")
    paused.isPaused = true
    try store.addNow([DownloadRequest(url: "http://h.example/a"), paused])
    let metrics = try StoreMetrics(of: store, engineRuns: false)
      .metrics(engineRuns: false, bytesPerSecond: 1.5e30)
    let downloads = metrics.first { $0.name == "dlstore_downloads" }
    #expect(downloads?.values.map(\.label) == DownloadState.words)
    #expect(downloads?.values.filter { $0.number > 0 }.map(\.label) == ["waiting", "paused"])
    let rate = metrics.first { $0.name == "dlstore_receive_rate_bytes_per_second" }
    #expect(rate?.values.map(\.number) == [1_000_000_000_000_000_000])
    #expect(Set(metrics.map(\.name)).count == metrics.count)
  }
}

#if Metrics
  import CoreMetrics
  import SystemInterface

  @Suite struct MetricsRecordingTests {
    @Test func `gauges take the values, and disappear with them`() {
      let factory = TestMetrics()
      var recording = MetricsRecording(factory)
      recording.record([Metric("a", "", by: "code", [("x", 2), ("y", 3)]), Metric("b", "", 4)])
      #expect(factory.values == ["a code=x": 2, "a code=y": 3, "b": 4])
      recording.record([Metric("a", "", by: "code", [("y", 5)]), Metric("b", "", 0)])
      #expect(factory.values == ["a code=y": 5, "b": 0])
      recording.removeGauges()
      #expect(factory.values.isEmpty)
    }

    @Test func `a counter has the number of the store, and is never lowered`() {
      let factory = TestMetrics()
      var recording = MetricsRecording(factory)
      for number in [7, 9, 9, 2, 3] {
        recording.record([Metric("n", kind: .counter, "", number)])
      }
      #expect(factory.values == ["n": 10])
    }

    @Test func `a recorder follows the store until it is cancelled`() async throws {
      let folder = try TemporaryFolder()
      let store = try RecordStore(at: folder.path("store"))
      let factory = TestMetrics()
      let recorder = StoreMetricsRecorder(of: store, factory: factory)
      let running = Task { try await recorder.run(every: .milliseconds(20)) }
      var changes = factory.changes.makeAsyncIterator()
      func wait(_ isDone: ([String: Int64]) -> Bool) async {
        while !isDone(factory.values), await changes.next(isolation: #isolation) != nil {}
      }
      await wait { $0["dlstore_store_commits_total"] != nil }
      try await store.add([DownloadRequest(url: "http://h.example/a")])
      await wait { $0["dlstore_downloads state=waiting"] == 1 }
      #expect(factory.values["dlstore_engine_running"] == 0)
      let names = Set(factory.values.keys.map { String($0.prefix { $0 != " " }) })
      let metrics = try StoreMetrics(of: store, engineRuns: false)
        .metrics(engineRuns: false, bytesPerSecond: 0)
      #expect(names == Set(metrics.filter { !$0.values.isEmpty }.map(\.name)))
      running.cancel()
      await #expect(throws: CancellationError.self) { try await running.value }
      #expect(factory.values.keys.sorted() == ["dlstore_store_commits_total"])
    }
  }

  /// A backend that keeps the last value of each metric.
  private final class TestMetrics: MetricsFactory {
    /// The values by `NAME` or `NAME LABEL=VALUE`.
    private let state = Mutex<[String: Int64]>([:])
    /// An element after each change.
    let changes: AsyncStream<Void>
    private let change: AsyncStream<Void>.Continuation

    init() { (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1)) }

    var values: [String: Int64] { state.withLock { $0 } }

    fileprivate func set(_ name: String, _ value: (Int64?) -> Int64?) {
      state.withLock { $0[name] = value($0[name]) }
      change.yield()
    }

    private func handler(_ label: String, _ dimensions: [(String, String)]) -> Handler {
      Handler(([label] + dimensions.map { "\($0)=\($1)" }).joined(separator: " "), self)
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
      handler(label, dimensions)
    }

    func makeRecorder(
      label: String,
      dimensions: [(String, String)],
      aggregate: Bool
    ) -> any RecorderHandler {
      #expect(!aggregate)
      return handler(label, dimensions)
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
      NOOPMetricsHandler.instance
    }

    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    func destroyRecorder(_ handler: any RecorderHandler) {
      if let handler = handler as? Handler { set(handler.name) { _ in nil } }
    }

    /// The counter or the gauge of a name.
    private final class Handler: CounterHandler, RecorderHandler {
      let name: String
      private let metrics: TestMetrics

      init(_ name: String, _ metrics: TestMetrics) {
        self.name = name
        self.metrics = metrics
      }

      func increment(by amount: Int64) { metrics.set(name) { ($0 ?? 0) + amount } }
      func reset() {}
      func record(_ value: Int64) { metrics.set(name) { _ in value } }
      func record(_ value: Double) { record(Int64(value)) }
    }
  }
#endif
