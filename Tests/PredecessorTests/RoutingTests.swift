import DownloadSimulation
import DownloadStore
import DownloadSync
import EngineTestSupport
import ObjectStore
import TestSupport
import TestTraits
import Testing

/// Routing of downloads to a foreground and a background transport.
@Suite(.timeLimit(.minutes(10))) struct RoutingTests {
  private let fixture: BackgroundFixture
  private let foreground = SimulatedTransport(pace: .immediately)

  init() throws {
    fixture = try BackgroundFixture()
  }

  private func engine() throws -> DownloadEngine {
    try DownloadEngine(
      store: fixture.store,
      transport: RoutingTransport(foreground: foreground, background: fixture.session)
    )
  }

  private func add(_ name: String, prefersBackground: Bool) throws {
    try fixture.add(name)
    foreground.serve(SimulatedResource(fixture.body, entityTag: "\"1\""), at: fixture.url(name))
    let url = fixture.url(name)
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.prefersBackground = prefersBackground }
    }
  }

  @Test(.requirements("FK29")) func `each download uses the transport that it prefers`()
    async throws
  {
    try add("front", prefersBackground: false)
    try add("back", prefersBackground: true)
    try await fixture.running(try engine()) {
      fixture.finish(try await fixture.task(1))
      try await fixture.reached(.completed, "front")
      try await fixture.reached(.completed, "back")
    }
    #expect(foreground.requests.map(\.url) == [fixture.url("front")])
    #expect(fixture.session.requests.map(\.url) == [fixture.url("back")])
    #expect(fixture.body.matches(try fixture.file("front")))
    #expect(fixture.body.matches(try fixture.file("back")))
    #expect(fixture.session.keptDeliveries.isEmpty)
  }

  @Test(.requirements("FK29"))
  func `resume data of a background task is resumed in the background`() async throws {
    try add("a", prefersBackground: true)
    try await fixture.running(try engine()) { fixture.receive(400, try await fixture.task(1)) }
    let url = fixture.url("a")
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.prefersBackground = false }
    }
    try await fixture.running(try engine()) {
      fixture.finish(try await fixture.task(2))
      try await fixture.reached(.completed)
    }
    #expect(foreground.requests.isEmpty)
    #expect(fixture.session.network.requests.map(\.offset) == [0, 400])
  }

  @Test(.requirements("FK29"))
  func `a launch adopts background tasks and cancels foreground tasks`() async throws {
    struct DeadSink: TaskSink {
      func receive(_ head: ResponseHead) -> BodyDisposition { .proceed }
      func receive(_ bytes: Span<UInt8>) -> BodyDisposition { .proceed }
      func finish(_ outcome: TaskOutcome) {}
    }
    try add("front", prefersBackground: false)
    try add("back", prefersBackground: true)
    let left = ManualTransport(left: [
      TaskSnapshot(
        id: TaskID(rawValue: 1),
        recordID: try fixture.record("front").id,
        bytesReceived: 0
      )
    ])
    let task = try fixture.leave(400, "back", as: .running)
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: RoutingTransport(foreground: left, background: fixture.session)
    )
    _ = left.start(
      TaskRequest(url: fixture.url("front"), recordID: try fixture.record("front").id),
      sink: DeadSink()
    )
    try await fixture.running(engine) {
      fixture.finish(task)
      try await fixture.reached(.completed, "back")
      try await waitUntil("the next task") { left.started.count == 2 }
      #expect(left.cancelled == [TaskID(rawValue: 1)])
      left.started[1].complete()
      try await fixture.reached(.completed, "front")
    }
    #expect(fixture.session.requests.count == 1)
    #expect(try fixture.record("front").attempts.isEmpty)
  }
}
