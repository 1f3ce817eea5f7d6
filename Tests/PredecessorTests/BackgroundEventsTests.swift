import DownloadSync
import EngineTestSupport
import TestTraits
import Testing

/// The completion handler that an app receives for the events of its background session.
@Suite struct BackgroundEventsTests {
  @MainActor private final class Calls {
    var names: [String] = []
  }

  @Test(.requirements("FK4")) @MainActor
  func `a completion handler is accepted for its own session and called once on the main actor`()
    async throws
  {
    let calls = Calls()
    let events = BackgroundEvents(identifier: "ours")
    #expect(!events.accept(identifier: "another") { calls.names.append("another") })
    #expect(events.accept(identifier: "ours") { calls.names.append("ours") })
    #expect(calls.names.isEmpty)
    events.finish()
    events.finish()
    try await waitUntil("the call") { calls.names == ["ours"] }
    #expect(events.accept(identifier: "ours") { calls.names.append("next") })
    events.finish()
    try await waitUntil("the next call") { calls.names == ["ours", "next"] }
  }

  @Test(.requirements("FK4")) @MainActor func `accepting a second handler calls the first`()
    async throws
  {
    let calls = Calls()
    let events = BackgroundEvents(identifier: "ours")
    events.accept(identifier: "ours") { calls.names.append("first") }
    events.accept(identifier: "ours") { calls.names.append("second") }
    try await waitUntil("the first call") { calls.names == ["first"] }
    events.finish()
    try await waitUntil("the second call") { calls.names == ["first", "second"] }
  }
}
