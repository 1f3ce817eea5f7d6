import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import Testing

/// The checkpoints of a transport whose tasks leave resume data.
@Suite(.timeLimit(.minutes(10)))
struct BackgroundCheckpointTests {
  @Test func `a checkpoint drops the resume data that the task has used up`() async throws {
    let fixture = try ManualFixture()
    try fixture.add("a")
    var options = EngineOptions()
    options.checkpointBytes = 1
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: ManualBackgroundTransport(tasks: fixture.transport),
      options: options
    )
    try await fixture.running(engine) {
      try await fixture.started(1)
      try fixture.change("a") { $0.resumeData = Data([1]) }
      try await fixture.settle()
      #expect(try fixture.record("a").resumeData == Data([1]))
      fixture.transport.started[0].receive([1, 2, 3], of: 6)
      try await waitUntil("a checkpoint") { try fixture.record("a").received == 3 }
      #expect(try fixture.record("a").resumeData == nil)
    }
  }
}
