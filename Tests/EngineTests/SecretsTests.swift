import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import Logging
import ObjectStore
import SystemInterface
import Testing

/// The requests that carry credentials, and the contents of failure messages.
@Suite(.timeLimit(.minutes(10)))
struct SecretsTests {
  private let fixture: EngineFixture
  private let other: FaultServer
  private let body = Body.generated(byteCount: 2_000_000, seed: 5)
  private let headers = [
    HeaderField(name: "Authorization", value: "Bearer hush"),
    HeaderField(name: "Private-Token", value: "hush"),
    HeaderField(name: "X-Requested-With", value: "1"),
  ]

  init() throws {
    fixture = try EngineFixture()
    other = try FaultServer()
  }

  private func secrets(_ requests: [Request]) -> [[String]] {
    requests.map { request in
      ["Authorization", "Private-Token", "X-Requested-With"].compactMap { request[$0] }
    }
  }

  @Test func `a mirror of another origin receives no credentials`() async throws {
    fixture.server.route("/a", Resource(body, faults: .status(404), then: .repeatLast))
    fixture.server.route("/near", Resource(body, faults: .resetAfter(bytes: 700_000)))
    other.route("/far", Resource(body, faults: .status(404), then: .repeatLast))
    try fixture.add("/a") { [fixture, other] request in
      request.headers = self.headers
      request.mirrors = [other.url("/far"), fixture.server.url("/near")]
    }
    try await fixture.run()
    #expect(body.matches(file: fixture.file("a")))
    #expect(Set(secrets(other.requests)) == [["1"]])
    #expect(
      secrets(fixture.server.requests.filter { $0.target == "/near" }).allSatisfy {
        $0 == ["Bearer hush", "hush", "1"]
      }
    )
    #expect(secrets(fixture.server.requests)[0] == ["Bearer hush", "hush", "1"])
  }

  @Test func `a URL of another origin receives no credentials; the old origin receives them again`()
    async throws
  {
    fixture.server.route("/a", Resource(body, faults: .status(403)))
    other.route("/b", Resource(body, faults: .status(403), then: .repeatLast))
    let url = try fixture.add("/a") { $0.headers = headers }.url
    try await fixture.run()
    try fixture.store.replaceURLNow(matching: url, with: other.url("/b"))
    try await fixture.run()
    #expect(secrets(other.requests) == [["1"]])
    try fixture.store.replaceURLNow(matching: other.url("/b"), with: url)
    try await fixture.run()
    #expect(secrets(fixture.server.requests).last == ["Bearer hush", "hush", "1"])
    #expect(try fixture.record("/a").state == .completed)
  }

  // MARK: Messages

  /// Records log output.
  private final class Log: Sendable {
    private struct Handler: LogHandler {
      let log: Log
      var metadata = Logger.Metadata()
      var logLevel = Logger.Level.trace

      subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
      }

      func log(event: LogEvent) {
        log.lines.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
      }
    }

    let lines = Mutex<[String]>([])

    var logger: Logger {
      Logger(label: "test") { _ in Handler(log: self) }
    }

    var text: String { lines.withLock { $0.joined(separator: "\n") } }
  }

  @Test func `no secret of a redirect target is stored, reported or logged`() async throws {
    let closed = try ClosedPort()
    let dead = closed.url("/x?X-Amz-Signature=hush").replacing("//", with: "//me:hush@")
    let missing = other.url("/x?X-Amz-Signature=hush").replacing("//", with: "//me:hush@")
    let locations = [
      "ftp://me:hush@127.0.0.1/?sig=hush", dead, "/2?token=hush", "//me:hush@[/?sig=hush", missing,
    ]
    for (index, location) in locations.enumerated() {
      fixture.server.route("/\(index)", Resource(redirectTo: location))
      try fixture.add("/\(index)")
    }
    let log = Log()
    var options = EngineOptions()
    options.retry = RetryPolicy(maximumAttempts: 2, base: .milliseconds(1), cap: .seconds(1))
    let engine = try DownloadEngine(
      store: fixture.store,
      transport: TransportUnderTest.make(),
      options: options,
      logger: log.logger
    )
    let events = engine.events()
    #expect(try await engine.run(until: .idle).failed == locations.count)
    for await event in events { #expect(!"\(event)".contains("hush"), "\(event)") }
    for index in locations.indices {
      let record = try fixture.record("/\(index)")
      #expect(!record.attempts.isEmpty)
      #expect(!"\(record)".contains("hush"), "\(record.attempts)")
    }
    #expect(log.text.contains("badRedirect"))
    #expect(!log.text.contains("hush"), "\(log.text)")
  }
}
