import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Testing

/// Documents that are requested with the transport of an engine.
@Suite(.timeLimit(.minutes(10)))
struct DocumentBesideEngineTests {
  @Test func `an engine that starts does not cancel a document`() async throws {
    let fixture = try EngineFixture()
    let gate = Gate()
    var resource = Resource(.text("token"), faults: .closeAfter(bytes: 5))
    resource.framing = .closeDelimited
    resource.endGate = gate
    fixture.server.route("/token", resource)
    fixture.server.route("/a", Resource(.text("a")))
    try fixture.add("/a")
    let transport = TransportUnderTest.make()
    let url = fixture.server.url("/token")
    let document = Task { try await transport.document(url) }
    while fixture.server.requests.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    let engine = try DownloadEngine(store: fixture.store, transport: transport)
    #expect(try await engine.run(until: .idle).completed == 1)
    gate.open()
    #expect(try await document.value.body == Data("token".utf8))
  }
}
