import DownloadStore
import DownloadSync
import EngineTestSupport
import Foundation
import TestSupport
import TestTraits
import Testing

/// The final rename of a download, refused by the file system.
@Suite(.timeLimit(.minutes(10)))
struct FailedRenameTests {
  private let fixture: ManualFixture

  init() throws {
    fixture = try ManualFixture()
  }

  /// Refuses the final rename of a download.
  private final class RenameRefusal: FaultInjector {
    func refusal(of effect: Effect) -> Int32? {
      switch effect {
      case .link, .rename: EACCES
      default: nil
      }
    }

    func didPerform(_ effect: Effect) {}
  }

  @Test(.requirements("ZF11"))
  func `a failed rename fails the download with the file system's error`() async throws {
    try fixture.add("a")
    var environment = EngineEnvironment.live
    environment.faultInjector = RenameRefusal()
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: fixture.transport,
      options: EngineOptions(),
      now: { Date() },
      environment: environment
    )
    let handle = engine.handle(forURL: fixture.url("a"))
    async let summary = engine.run(until: .idle)
    try await fixture.started(1)
    try fixture.task("a").complete()
    #expect(try await summary == RunSummary(failed: 1))
    let failure = await #expect(throws: DownloadFailure.self) { try await handle.value() }
    #expect(failure?.code == .fileSystem)
    #expect(failure?.message.contains("Permission denied") == true, "\(failure?.message ?? "")")
    #expect(FileIdentity(ofFileAt: try fixture.layout("a").finalPath) == nil)
  }
}
