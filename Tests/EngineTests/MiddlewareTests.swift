import DownloadStore
import DownloadSync
import EngineTestSupport
import FaultServer
import Foundation
import ObjectStore
import SystemInterface
import TestTraits
import Testing

/// Interceptors of requests and responses.
@Suite(.timeLimit(.minutes(10)))
struct MiddlewareTests {
  private struct Fault: Error {}

  private struct Request: RequestInterceptor {
    var priority = 0
    var change: @Sendable (inout TaskRequest, DownloadRecord) async throws -> Void

    func intercept(_ request: TaskRequest, for record: DownloadRecord) async throws -> TaskRequest {
      var request = request
      try await change(&request, record)
      return request
    }
  }

  private struct Response: ResponseInterceptor {
    var priority = 0
    var act: @Sendable (DownloadResponse) async throws -> Void

    func intercept(_ response: DownloadResponse) async throws { try await act(response) }
  }

  private struct LastResponse: ResponseInterceptor {
    let priority = 2
    var act: @Sendable (DownloadResponse) async throws -> Void

    func intercept(_ response: DownloadResponse) async throws { try await act(response) }
  }

  private final class Seen: Sendable {
    private let state = Mutex<[DownloadResponse]>([])
    var responses: [DownloadResponse] { state.withLock { $0 } }
    func add(_ response: DownloadResponse) { state.withLock { $0.append(response) } }
  }

  @Test func `an added header is sent with each attempt and never stored`() async throws {
    let fixture = try EngineFixture()
    let body = Body.generated(byteCount: 2_000_000, seed: 1)
    let gate = fixture.routeGated("/a", Resource(body, faults: .resetAfter(bytes: 700_000)))
    try fixture.add("/a") { $0.headers = [HeaderField(name: "X-Own", value: "1")] }
    let attempts = Mutex(0)
    try await fixture.run(opening: gate, at: 700_000) {
      $0.requestInterceptors = [
        Request(priority: 2) { request, _ in
          #expect(request.headers.map(\.name) == ["X-Own", "Authorization"])
        },
        Request(priority: 1) { request, record in
          let attempt = attempts.withLock { attempts -> Int in
            attempts += 1
            return attempts
          }
          #expect(record.state == .running)
          request.headers.append(HeaderField(name: "Authorization", value: "Bearer \(attempt)"))
        },
      ]
    }
    #expect(body.matches(file: fixture.file("a")))
    #expect(fixture.server.requests.map { $0["Authorization"] } == ["Bearer 1", "Bearer 2"])
    #expect(fixture.server.requests.map { $0["X-Own"] } == ["1", "1"])
    #expect(fixture.server.requests.last?["Range"] != nil)
    let record = try fixture.record("/a")
    #expect(try fixture.store.headers(of: record).map(\.name) == ["X-Own"])
  }

  @Test(.requirements("SC12"))
  func `an interceptor can change the requested URL; the record keeps its own`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/signed", Resource(.text("abc")))
    try fixture.add("/a")
    let signed = fixture.server.url("/signed")
    try await fixture.run {
      $0.requestInterceptors = [Request { request, _ in request.url = signed }]
    }
    #expect(fixture.server.requests.map(\.target) == ["/signed"])
    #expect(try fixture.record("/a").state == .completed)
    #expect(try String(contentsOfFile: fixture.file("a"), encoding: .utf8) == "abc")
  }

  @Test func `an interceptor that throws fails only its own download`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("a")))
    fixture.server.route("/b", Resource(.text("b")))
    let refused = try fixture.add("/a").url
    try fixture.add("/b")
    let (summary, _) = try await fixture.run {
      $0.requestInterceptors = [
        Request { request, record in if record.url == refused { throw Fault() } }
      ]
    }
    #expect(summary == RunSummary(completed: 1, failed: 1))
    let failure = try #require(try fixture.record("/a").attempts.last?.failure)
    #expect(failure.code == .interceptorFailed)
    #expect(failure.message.contains("Request"))
    #expect(fixture.server.requests.map(\.target) == ["/b"])
  }

  @Test func `a temporary failure of an interceptor is retried`() async throws {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let calls = Mutex(0)
    let (summary, _) = try await fixture.run {
      $0.requestInterceptors = [
        Request { _, _ in
          let call = calls.withLock { calls -> Int in
            calls += 1
            return calls
          }
          if call < 3 { throw DownloadFailure(.serverBusy, "no token yet") }
        }
      ]
    }
    #expect(summary.completed == 1)
    #expect(calls.withLock { $0 } == 3)
  }

  @Test func `an interceptor that never returns costs its download a time-out and others nothing`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("a")))
    fixture.server.route("/b", Resource(.text("b")))
    let stuck = try fixture.add("/a").url
    try fixture.add("/b")
    let interceptor = Request { _, record in
      if record.url == stuck { try await Task.sleep(for: .seconds(3600)) }
    }
    // On a slow machine, the deadline may also pass before the interceptor has run for the other one.
    let engine = try fixture.engine {
      $0.interceptorDeadline = .milliseconds(50)
      $0.retry.maximumAttempts = .max
      $0.requestInterceptors = [interceptor]
    }
    let goal = RunGoal.finished(.matching(fixture.server.url("/b")))
    #expect(try await engine.run(until: goal) == RunSummary(completed: 1))
    let (summary, _) = try await fixture.run {
      $0.interceptorDeadline = .milliseconds(50)
      $0.retry.maximumAttempts = 2
      $0.requestInterceptors = [interceptor]
    }
    #expect(summary == RunSummary(failed: 1))
    let codes = try fixture.record("/a").attempts.map(\.failure.code)
    #expect(codes.count >= 2 && codes.allSatisfy { $0 == .timedOut })
  }

  @Test func `stopping the engine does not wait for an interceptor and loses nothing`() async throws
  {
    let fixture = try EngineFixture()
    try fixture.add("/a")
    let (asked, tell) = AsyncStream<Void>.makeStream()
    let engine = try fixture.engine {
      $0.requestInterceptors = [
        Request { _, _ in
          tell.finish()
          try await Task.sleep(for: .seconds(3600))
        }
      ]
    }
    let run = Task { try await engine.run(until: .stopped) }
    for await _ in asked {}
    engine.stop()
    _ = try await run.value
    let record = try fixture.record("/a")
    #expect(record.state == .waiting)
    #expect(record.unresolvedStarts == 0)
    #expect(record.attempts.isEmpty)
  }

  @Test func `a download paused while its request is prepared is not sent`() async throws {
    let fixture = try EngineFixture()
    let url = try fixture.add("/a").url
    let (asked, tell) = AsyncStream<Void>.makeStream()
    let engine = try fixture.engine {
      $0.checkpointInterval = .milliseconds(50)
      $0.requestInterceptors = [
        Request { _, _ in
          tell.finish()
          try await Task.sleep(for: .seconds(3600))
        }
      ]
    }
    let events = engine.events()
    let run = Task { try await engine.run(until: .stopped) }
    for await _ in asked {}
    try fixture.store.objects.writeNow { tx in
      _ = try tx.update(DownloadRecord.self, key: url) { $0.intent = .pause }
    }
    _ = await events.first { if case .released = $0 { true } else { false } }
    engine.stop()
    _ = try await run.value
    #expect(try fixture.record("/a").state == .paused)
    #expect(try fixture.record("/a").attempts.isEmpty)
    #expect(fixture.server.requests.isEmpty)
  }

  @Test(.requirements("FK25"))
  func `response interceptors receive the finished file before the completed event`() async throws {
    let fixture = try EngineFixture()
    var resource = Resource(.text("abc"))
    resource.fields = [Field("X-Mark", "seven")]
    fixture.server.route("/a", resource)
    try fixture.add("/a")
    let seen = Seen()
    let path = fixture.file("a")
    let (_, events) = try await fixture.run {
      $0.responseInterceptors = [
        Response { response in
          #expect(try String(contentsOfFile: response.filePath ?? "", encoding: .utf8) == "abc")
          seen.add(response)
          // The next interceptor sees what this one has written.
          try Data("changed".utf8).write(to: URL(filePath: path + ".note"))
        },
        Response(priority: 1) { _ in
          #expect(FileManager.default.fileExists(atPath: path + ".note"))
        },
      ]
    }
    let response = try #require(seen.responses.first)
    #expect(seen.responses.count == 1)
    #expect(response.record.url == fixture.server.url("/a"))
    #expect(response.filePath == path)
    #expect(response.head?.status == 200)
    #expect(response.head?["X-Mark"] == "seven")
    #expect(response.failure == nil)
    #expect(response.record.state == .completed)
    #expect(events.count == 2)
  }

  @Test func `each failed attempt reaches the response interceptors, the last one marked as final`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("a"), faults: .status(503), .status(404)))
    try fixture.add("/a")
    let seen = Seen()
    try await fixture.run { $0.responseInterceptors = [Response { seen.add($0) }] }
    let responses = seen.responses.sorted { $0.isRetried && !$1.isRetried }
    #expect(responses.map(\.isRetried) == [true, false])
    #expect(responses.map(\.failure?.code) == [.serverBusy, .notFound])
    #expect(responses.map(\.head?.status) == [503, 404])
    #expect(responses.allSatisfy { $0.filePath == nil })
  }

  @Test
  func `a response interceptor that fails or hangs emits an event, and the download completes`()
    async throws
  {
    let fixture = try EngineFixture()
    fixture.server.route("/a", Resource(.text("abc")))
    try fixture.add("/a")
    let seen = Seen()
    let (summary, events) = try await fixture.run {
      $0.interceptorDeadline = .milliseconds(50)
      $0.responseInterceptors = [
        Response { _ in throw Fault() },
        Response(priority: 1) { _ in try await Task.sleep(for: .seconds(3600)) },
        LastResponse { seen.add($0) },
      ]
    }
    #expect(summary.completed == 1)
    // On a slow machine, the deadline may pass before it has run.
    try await waitUntil("the last interceptor") { seen.responses.count == 1 }
    #expect(try fixture.record("/a").state == .completed)
    let failures = events.compactMap { event -> InterceptorFailure? in
      if case .interceptorFailed(_, let failure) = event { failure } else { nil }
    }
    let names = failures.map(\.interceptor).filter { $0 != "LastResponse" }
    #expect(names == ["Response", "Response"])
    if case .completed = events.last {} else { Issue.record("completed is not the last event") }
  }
}
