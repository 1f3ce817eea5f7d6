import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import SystemInterface
import TestSupport
import Testing

/// Checks of responses before a byte of their bodies is kept.
@Suite(.timeLimit(.minutes(10)))
struct ResponseCheckTests {
  private struct LoginPage: Error, CustomStringConvertible {
    let description = "a login page at /login"
  }

  /// Counts the responses that a check was asked about.
  private final class Asked: Sendable {
    private let heads = Mutex<[ResponseHead]>([])

    /// Adds a response, and returns how many there are.
    func note(_ head: ResponseHead) -> Int {
      heads.withLock { heads in
        heads.append(head)
        return heads.count
      }
    }

    var all: [ResponseHead] { heads.withLock { $0 } }
  }

  private let fixture: EngineFixture
  private let body = Body.generated(byteCount: 3_000_000, seed: 61)

  init() throws {
    fixture = try EngineFixture()
  }

  @Test func `a login page behind a redirect is refused before its first byte`() async throws {
    var page = Resource(.text("<html>please log in</html>"))
    page.fields = [Field("Content-Type", "text/html")]
    fixture.server.route("/login", page)
    fixture.server.route("/Xcode.xip", Resource(redirectTo: fixture.server.url("/login")))
    try fixture.add("/Xcode.xip")
    let summary = try await fixture.run { options in
      options.responseChecks = [
        { head, record in
          #expect(record.filename == "Xcode.xip")
          if head.url?.hasSuffix("/login") ?? false { throw LoginPage() }
        }
      ]
    }
    .summary
    #expect(summary.failed == 1)
    let record = try fixture.record("/Xcode.xip")
    #expect(record.state == .failedPermanent && record.received == 0)
    let failure = record.attempts.last?.failure
    #expect(failure?.code == .interceptorFailed)
    #expect(failure?.message == "a response check refused the answer: a login page at /login")
    #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.file("")) == [])
  }

  @Test func `a refused response keeps the bytes on disk, and a retryable refusal continues them`()
    async throws
  {
    fixture.server.route("/a", Resource(body, faults: .closeAfter(bytes: 1_000_000)))
    try fixture.add("/a")
    let asked = Asked()
    _ = try await fixture.run { options in
      options.split.maximumConnections = 1
      options.responseChecks = [
        { head, _ in
          // The response that continues the bytes of the first one.
          if asked.note(head) == 2 { throw DownloadFailure(.serverBusy, "under maintenance") }
        }
      ]
    }
    #expect(body.matches(file: fixture.file("a")))
    #expect(asked.all.map(\.status) == [200, 206, 206])
    let record = try fixture.record("/a")
    #expect(record.state == .completed)
    #expect(record.attempts.contains { $0.failure.message == "under maintenance" })
    let first = fixture.server.requests.filter { $0.path == "/a" && $0["Range"] == nil }
    #expect(first.count == 1)
  }

  @Test func `each connection of a file is checked, and an error status is not`() async throws {
    var resource = Resource(body)
    resource.faults = [.stallAfter(bytes: 100_000)]
    fixture.server.route("/a", resource)
    for path in ["/a", "/none"] { try fixture.add(path) }
    let asked = Asked()
    let summary = try await fixture.run { options in
      options.limits = ConcurrencyLimits(maximumRunning: 8, maximumPerHost: 8)
      options.split = SplitOptions(maximumConnections: 4, minimumLength: 100_000)
      options.split.measuringTime = .zero
      options.responseChecks = [{ head, _ in _ = asked.note(head) }]
    }
    .summary
    #expect(summary == RunSummary(completed: 1, failed: 1))
    #expect(body.matches(file: fixture.file("a")))
    #expect(asked.all.first?.status == 200)
    // The first connection stalls, so others must have fetched the rest.
    #expect(asked.all.dropFirst().contains { $0.status == 206 })
    #expect(asked.all.allSatisfy { $0.status < 300 })
  }
}
